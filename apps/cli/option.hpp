#pragma once

#include <string_view>

namespace holdfast::cli {

// One option of a command, as its help shows it.
struct Option {
  char letter = '\0';      // '\0': it has a long name only
  std::string_view name;   // without the dashes
  std::string_view value;  // what its value is called in the help; empty: it takes none
  std::string_view help;
};

}  // namespace holdfast::cli
