#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/holder_record.hpp"

namespace holdfast::rules {

// A holder record as it is stored, all but its owner, which stands beside it:
// "<pid> <since> <length of host> <length of program>\n" and then host, program and reason.
std::string text_of(const HolderRecord&);
std::optional<HolderRecord> record_in(std::string_view text);

}  // namespace holdfast::rules
