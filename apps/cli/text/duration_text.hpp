#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/time.hpp"

namespace holdfast::cli {

// "500ms", "5s", "2m", "1h30m", "1.5s", and "5" for seconds. Nothing for anything else: negative,
// empty, out of order, or longer than a Duration can say.
std::optional<Duration> parse_duration(std::string_view);

// As short as it is readable: "250ms", "12.4s", "3m20s", "1h05m".
std::string duration_text(Duration);

// For counting up: "00:08", "1:02:03".
std::string clock_text(Duration);

// For JSON: 0.25.
double seconds_of(Duration);

}  // namespace holdfast::cli
