// A library that is loaded before all others (LD_PRELOAD) and shows a process the clocks that a test
// wants: clock_gettime(), gettimeofday() and time() answer what the kernel says and what the control
// file adds to it. Without a control file nothing changes.
//
// It asks the kernel directly and allocates nothing, since it is called from everywhere: before main(),
// in signal handlers, while others hold locks.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "support/clock_shim/clock_control.hpp"

namespace {

using namespace holdfast::test;

constexpr std::int64_t kSecond = 1'000'000'000;

const ClockControl* control = nullptr;  // set once, before main()

__attribute__((constructor)) void map_control() {
  const char* const path = std::getenv(kClockControlVariable);
  if (path == nullptr) return;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* const page = ::mmap(nullptr, sizeof(ClockControl), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (page != MAP_FAILED) control = static_cast<const ClockControl*>(page);
}

int kernel_time(clockid_t id, timespec* time) {
  return static_cast<int>(::syscall(SYS_clock_gettime, id, time));
}

std::int64_t kernel_mono() {
  timespec time{};
  kernel_time(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

bool is_wall(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE; }

bool is_steady(clockid_t id) {
  return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE ||
         id == CLOCK_BOOTTIME;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t id, timespec* time) noexcept {
  const int error = kernel_time(id, time);
  if (error != 0 || control == nullptr || (!is_wall(id) && !is_steady(id))) return error;
  const ClockChange change = control->get(is_wall(id) ? ShimClock::wall : ShimClock::steady);
  const std::int64_t now = time->tv_sec * kSecond + time->tv_nsec + change.ahead_at(kernel_mono());
  time->tv_sec = now / kSecond;
  time->tv_nsec = now % kSecond;
  return 0;
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* seconds) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
