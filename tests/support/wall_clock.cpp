#include "support/wall_clock.hpp"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<time_t> g_ahead{0};

timespec wall_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

}  // namespace

// A program's own functions come before those of its libraries.
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long failed = ::syscall(SYS_clock_gettime, clock, time);
  if (failed == 0 && clock == CLOCK_REALTIME) time->tv_sec += g_ahead;
  return static_cast<int>(failed);
}

int gettimeofday(timeval* time, void*) noexcept {
  const timespec now = wall_now();
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* also) noexcept {
  const time_t now = wall_now().tv_sec;
  if (also != nullptr) *also = now;
  return now;
}

}  // extern "C"

void holdfast::test::set_wall_clock(std::chrono::seconds by) { g_ahead += by.count(); }
