#pragma once

#include <string>

namespace holdfast::transport {

// The first line of a small file, as those in /proc are; nothing if it is empty or cannot be read, and then
// errno says why (0: it is empty). Not by a std::ifstream, whose descriptor a program that is started in the
// same moment inherits.
std::string first_line_of(const char* path);

}  // namespace holdfast::transport
