#include "runtime/boot_clock.hpp"

#include <ctime>

namespace holdfast::runtime {
namespace {

// Cannot fail: Linux has had both clocks since 2.6.39.
Duration read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

TimePoint BootClock::now() const { return TimePoint(read(CLOCK_BOOTTIME)); }

WallTime BootClock::wall_now() const {
  return WallTime(std::chrono::floor<std::chrono::microseconds>(read(CLOCK_REALTIME)));
}

}  // namespace holdfast::runtime
