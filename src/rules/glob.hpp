#pragma once

#include <string_view>

namespace holdfast::rules {

// Whether the whole of `name` matches `pattern`: * stands for any bytes, ? for one byte, a
// backslash takes the next byte as it is. Takes at most |name| * |pattern| steps, whatever the pattern.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace holdfast::rules
