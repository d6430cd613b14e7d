#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

// The candidate that `word` was probably meant to be, if one is near enough to suggest.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace holdfast::cli
