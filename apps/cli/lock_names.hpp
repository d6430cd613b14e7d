#pragma once

#include <string>
#include <string_view>

#include "cli/arguments.hpp"

namespace holdfast::cli {

// The one NAME among the words of a command. Throws: 64 if there is none or there are several, 65 if
// it cannot be a lock's.
std::string the_name(const Arguments&, std::string_view command);

// A pattern for Client::inspect() that matches that name only.
std::string pattern_of(std::string_view name);

}  // namespace holdfast::cli
