#pragma once

#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/option.hpp"

namespace holdfast::cli {

// One command of the program: `holdfast NAME …`. How to add one: see commands.list.
struct Command {
  std::string_view name;
  std::string_view synopsis;  // what follows "holdfast "
  std::string_view summary;   // one line
  std::vector<Option> options;
  int (*run)(const Arguments&) = nullptr;  // returns the exit code; may throw Refusal
  AfterDashes after_dashes = AfterDashes::words;
  std::string_view notes = {};  // below the options in its help
};

}  // namespace holdfast::cli
