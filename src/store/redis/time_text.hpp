// Times as the scripts count them: whole microseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "holdfast/time.hpp"

namespace holdfast::store::redis {

// Longer than any lease, and far from where a script could not count exactly any more.
inline constexpr std::chrono::microseconds kLongest = std::chrono::hours(24 * 365);

// Rounded down: a lease is never longer than what was asked for.
inline std::string us_text(Duration time) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time);
  return std::to_string(std::clamp(us, std::chrono::microseconds(0), kLongest).count());
}

inline Duration from_us(std::uint64_t us) {
  const auto longest = static_cast<std::uint64_t>(kLongest.count());
  return std::chrono::microseconds(std::min(us, longest));
}

}  // namespace holdfast::store::redis
