// What targets have in common.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/input.hpp"
#include "holdfast/holder_record.hpp"
#include "holdfast/inspect.hpp"

namespace holdfast::fuzz {

// That a text can go to a terminal: UTF-8 without control characters, line breaks or anything that
// turns the direction of writing. Written from the bytes that are forbidden, not from how the library
// decodes them.
void require_safe(std::string_view text);
void require_safe_lines(std::string_view text);  // the same, but it may have several lines

// What \xNN stand for, as printable() and shown() write them.
std::string unescaped(std::string_view shown);

HolderRecord record_from(Input&);
LockInfo lock_from(Input&);

}  // namespace holdfast::fuzz
