#include "runtime/blocked_op.hpp"

#include <sched.h>

#include <chrono>

#include "runtime/relax.hpp"

namespace holdfast::runtime {
namespace {

using Steady = std::chrono::steady_clock;  // measures effort, not time that counts

// Longer than it takes to wake a thread; what is not done by then is worth sleeping for.
constexpr std::chrono::microseconds kLongestLook{100};
constexpr int kLooksBetweenYields = 8;

}  // namespace

// Gives way between the looks: whoever finishes the operation may need this very processor.
bool BlockedOp::look_for_a_while() const {
  const auto end = Steady::now() + kLongestLook;
  do {
    for (int i = 0; i < kLooksBetweenYields; ++i) {
      if (done()) return true;
      relax();
    }
    sched_yield();
  } while (Steady::now() < end);
  return false;
}

}  // namespace holdfast::runtime
