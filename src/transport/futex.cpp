#include "transport/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace holdfast::transport {
namespace {

timespec to_timespec(Duration length) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(length);
  return {.tv_sec = static_cast<time_t>(whole.count()),
          .tv_nsec = static_cast<long>((length - whole).count())};
}

}  // namespace

void futex_wait(FutexWord& word, std::uint32_t seen, Duration at_most) noexcept {
  timespec limit{};
  const timespec* timeout = nullptr;
  if (at_most != kForever) {
    limit = to_timespec(at_most);
    timeout = &limit;
  }
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, timeout, nullptr, 0);
}

void futex_bump(FutexWord& word) noexcept {
  word.fetch_add(1);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void brief_pause(Duration length) noexcept {
  const timespec time = to_timespec(length);
  ::nanosleep(&time, nullptr);
}

}  // namespace holdfast::transport
