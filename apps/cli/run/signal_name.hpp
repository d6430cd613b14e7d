#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

// "TERM", "SIGTERM", "term" or "15".
std::optional<int> signal_number(std::string_view);

// "SIGTERM"
std::string signal_name(int);

}  // namespace holdfast::cli
