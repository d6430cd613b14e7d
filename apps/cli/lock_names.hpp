#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"

namespace holdfast::cli {

// The one NAME among the words of a command. Throws: 64 if there is none or there are several, 65 if
// it cannot be a lock's.
std::string the_name(const Arguments&, std::string_view command);

// The same for a list: the word, and the names in it. Throws: 65 if one cannot be a lock's.
std::string the_word(const Arguments&, std::string_view command);
std::vector<std::string> split_names(std::string_view list);  // "a,b"
std::string joined_names(const std::vector<std::string>&);

// A pattern for Client::inspect() that matches that name only.
std::string pattern_of(std::string_view name);

}  // namespace holdfast::cli
