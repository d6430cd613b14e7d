#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast {

using Duration = std::chrono::nanoseconds;

// The time line of every deadline in Holdfast: CLOCK_BOOTTIME of this machine. It goes on while the
// machine sleeps and does not jump when somebody sets the wall clock. There is no now() here on
// purpose: only the runtime reads clocks, everything else is told the time.
struct BootTime {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootTime, Duration>;
  static constexpr bool is_steady = true;
};

using TimePoint = BootTime::time_point;

// "However long it takes", and the point in time that never comes.
inline constexpr Duration kForever = Duration::max();
inline constexpr TimePoint kNever = TimePoint::max();

// Microseconds since 1970 by the wall clock: shown to people, never compared with a deadline.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// `start + length` that stops at kNever instead of wrapping. A negative length counts as zero.
constexpr TimePoint later(TimePoint start, Duration length) {
  if (length <= Duration::zero()) return start;
  if (start > TimePoint::min() && start > kNever - length) return kNever;
  return start + length;
}

// The time left until `end`, never negative.
constexpr Duration left_until(TimePoint end, TimePoint now) {
  if (end == kNever) return kForever;
  return end > now ? end - now : Duration::zero();
}

}  // namespace holdfast
