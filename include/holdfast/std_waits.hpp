// How the waits of the standard's lock types become ours.
#pragma once

#include <chrono>

#include "holdfast/error.hpp"
#include "holdfast/result.hpp"
#include "holdfast/time.hpp"

namespace holdfast::detail {

// In nanoseconds, rounded up; what does not fit is for ever.
template <class Rep, class Period>
Duration wait_of(const std::chrono::duration<Rep, Period>& length) {
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kFits = std::chrono::hours(24 * 365 * 250);
  if (Seconds(length) >= kFits) return kForever;
  if (!(length > length.zero())) return Duration::zero();
  return std::chrono::ceil<Duration>(length);
}

// lock_within(Duration) -> Result<void>, until that time of any clock.
template <class Clock, class Length, class LockWithin>
bool lock_until(const std::chrono::time_point<Clock, Length>& end, LockWithin lock_within) {
  while (true) {
    const auto now = Clock::now();
    const Result<void> locked = lock_within(end > now ? wait_of(end - now) : Duration::zero());
    if (locked) return true;
    // A clock that was set back, or runs at another rate than ours, has time left.
    if (locked.error() != Errc::timed_out || Clock::now() >= end) return false;
  }
}

}  // namespace holdfast::detail
