#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

// A text of somebody else's (a lock name, a reason, a host, an argument) as it may reach a terminal:
// control characters, quotes, backslashes, whatever turns the direction of writing and bytes that are
// not UTF-8 appear as \xNN. The same form as in the library's error texts.
std::string shown(std::string_view);

}  // namespace holdfast::cli
