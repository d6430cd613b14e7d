#include "runtime/parking.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::runtime {
namespace {

constexpr std::uint32_t kEmpty = 0;
constexpr std::uint32_t kNoted = 1;
constexpr std::uint32_t kParked = 2;

// std::atomic::wait would do the same through a table that all waiting threads share, and its
// notify_one asks that table instead of our own state whether there is anybody to wake.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  static_assert(sizeof word == sizeof(std::uint32_t));
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void ParkingSpot::park() noexcept {
  std::uint32_t seen = kEmpty;
  if (!state_.compare_exchange_strong(seen, kParked, std::memory_order_acquire)) {
    state_.exchange(kEmpty, std::memory_order_acquire);  // it was noted
    return;
  }
  do {
    futex(state_, FUTEX_WAIT, kParked);  // returns early on signals and for no reason at all
    seen = kNoted;
  } while (!state_.compare_exchange_strong(seen, kEmpty, std::memory_order_acquire));
}

void ParkingSpot::unpark() noexcept {
  if (state_.exchange(kNoted, std::memory_order_release) == kParked) futex(state_, FUTEX_WAKE, 1);
}

}  // namespace holdfast::runtime
