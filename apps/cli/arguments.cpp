#include "cli/arguments.hpp"

#include <algorithm>

#include "cli/refusal.hpp"
#include "cli/text/nearest.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

std::string with_dashes(const Option& option) { return "--" + std::string(option.name); }

// Reads words one after the other; values may be the rest of a word or the next one.
class Reader {
 public:
  Reader(std::span<const Option> options, std::span<const std::string> words)
      : options_(options), words_(words) {}

  bool done() const { return at_ == words_.size(); }
  const std::string& next() { return words_[at_++]; }
  std::span<const std::string> rest() const { return words_.subspan(at_); }

  const Option& by_name(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Option& one) { return one.name == name; });
    if (found != options_.end()) return *found;
    std::vector<std::string> names;
    for (const Option& option : options_) names.emplace_back(option.name);
    const auto near = nearest(name, names);
    throw UsageError("unknown option --" + shown(name) + (near ? "; did you mean --" + *near : "") +
                     hint());
  }

  const Option& by_letter(char letter) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Option& one) { return one.letter == letter; });
    if (found != options_.end()) return *found;
    throw UsageError("unknown option -" + shown(std::string(1, letter)) + hint());
  }

  std::string value_of(const Option& option) {
    if (done() || words_[at_] == "--") {
      throw UsageError(with_dashes(option) + " needs a value: " + std::string(option.value));
    }
    return next();
  }

  void saw_words(std::size_t count) { words_seen_ = count; }

 private:
  // `run NAME rm -rf x` is a forgotten `--`, not a wish to set -r.
  std::string hint() const {
    return words_seen_ > 1 ? "; a command goes behind --" : std::string();
  }

  std::span<const Option> options_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  std::size_t words_seen_ = 0;
};

}  // namespace

Arguments Arguments::parse(std::span<const Option> options, std::span<const std::string> words,
                           AfterDashes after) {
  Arguments arguments;
  Reader reader(options, words);
  const auto set = [&](const Option& option, std::string value) {
    arguments.values_.insert_or_assign(std::string(option.name), std::move(value));
  };

  while (!reader.done()) {
    const std::string& word = reader.next();
    if (word == "--") {
      const auto rest = reader.rest();
      auto& target = after == AfterDashes::command ? arguments.command_ : arguments.words_;
      target.insert(target.end(), rest.begin(), rest.end());
      arguments.has_command_ = after == AfterDashes::command;
      break;
    }
    if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      const Option& option = reader.by_name(std::string_view(word).substr(2, equals - 2));
      if (option.value.empty()) {
        if (equals != word.npos) throw UsageError(with_dashes(option) + " takes no value");
        set(option, {});
      } else {
        set(option, equals != word.npos ? word.substr(equals + 1) : reader.value_of(option));
      }
    } else if (word.size() > 1 && word[0] == '-') {
      for (std::size_t i = 1; i < word.size(); ++i) {
        const Option& option = reader.by_letter(word[i]);
        if (option.value.empty()) {
          set(option, {});
          continue;
        }
        set(option, i + 1 < word.size() ? word.substr(i + 1) : reader.value_of(option));
        break;
      }
    } else {
      arguments.words_.push_back(word);
      reader.saw_words(arguments.words_.size());
    }
  }
  return arguments;
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace holdfast::cli
