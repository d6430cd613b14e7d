#include "cli/lock_names.hpp"

#include "cli/refusal.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {

std::string the_name(const Arguments& arguments, std::string_view command) {
  const auto& words = arguments.words();
  if (words.empty()) {
    throw UsageError("which lock? See: holdfast help " + std::string(command));
  }
  if (words.size() > 1) {
    throw UsageError("one NAME, please: \"" + shown(words[1]) + "\" is one too many" +
                     (command == "run" ? "; a command goes behind --" : ""));
  }
  const std::string& name = words[0];
  constexpr std::size_t kMaxName = 512;
  if (name.empty() || name.size() > kMaxName) {
    throw Refusal(exit_code::kBadData, "invalid_name: a lock name has 1 to 512 bytes, not " +
                                           std::to_string(name.size()));
  }
  return name;
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
