#include "cli/boot_now.hpp"

#include <ctime>

namespace holdfast::cli {

TimePoint boot_now() {
  std::timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace holdfast::cli
