#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option.hpp"

namespace holdfast::cli {

// What follows `--`: words of ours, or a command of the user's that is none of our business.
enum class AfterDashes { words, command };

// The arguments of one command, taken apart.
//
// A parser of our own, because a wrapper must never take an option of its child for its own (no
// permutation past `--`, no abbreviations), and must tell a wrong option (64) from a wrong value (65).
class Arguments {
 public:
  // Throws UsageError.
  static Arguments parse(std::span<const Option>, std::span<const std::string> words, AfterDashes);

  bool has(std::string_view option) const { return values_.contains(option); }
  // The last one given.
  std::optional<std::string> value(std::string_view option) const;
  const std::vector<std::string>& words() const { return words_; }
  bool has_command() const { return has_command_; }
  const std::vector<std::string>& command() const { return command_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
  bool has_command_ = false;
  std::vector<std::string> command_;
};

}  // namespace holdfast::cli
