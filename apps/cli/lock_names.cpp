#include "cli/lock_names.hpp"

#include "cli/refusal.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {

namespace {

std::string checked(std::string name) {
  constexpr std::size_t kMaxName = 512;
  if (name.empty() || name.size() > kMaxName) {
    throw Refusal(exit_code::kBadData, "invalid_name: a lock name has 1 to 512 bytes, not " +
                                           std::to_string(name.size()));
  }
  return name;
}

}  // namespace

std::string the_word(const Arguments& arguments, std::string_view command) {
  const auto& words = arguments.words();
  if (words.empty()) {
    throw UsageError("which lock? See: holdfast help " + std::string(command));
  }
  if (words.size() > 1) {
    throw UsageError("one NAME, please: \"" + shown(words[1]) + "\" is one too many" +
                     (command == "run" ? "; a command goes behind --" : ""));
  }
  return words[0];
}

std::string the_name(const Arguments& arguments, std::string_view command) {
  return checked(the_word(arguments, command));
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    more = comma != list.npos;
    names.push_back(checked(std::string(list.substr(0, comma))));
    if (more) list.remove_prefix(comma + 1);
  }
  return names;
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

std::string pattern_of(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (c == '*' || c == '?' || c == '\\' || c == '[') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace holdfast::cli
