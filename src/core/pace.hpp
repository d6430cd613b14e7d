#pragma once

#include <algorithm>
#include <cstdint>

#include "core/drift.hpp"
#include "holdfast/store/random.hpp"
#include "holdfast/time.hpp"

namespace holdfast::core {

// The tempo of a client: what ClientOptions says, plus what follows from a lease.
struct Pace {
  Duration answer_within = std::chrono::seconds(2);
  Duration patience = std::chrono::seconds(10);
  Duration look_every = std::chrono::seconds(5);  // a sleeping claim looks at least this often
  Drift drift{};

  // A place in line is kept this long without being refreshed, an offer this long without being
  // confirmed. Together at most one lease: nothing a dead waiter left behind outlives that.
  static Duration confirm_within(Duration lease) {
    return std::min<Duration>(std::chrono::seconds(1), lease / 3);
  }
  static Duration line_for(Duration lease) { return lease - confirm_within(lease); }

  // A hold shorter than this ends before a sleeping thread is awake: the next in the queue had better
  // be awake already.
  static constexpr Duration kQuickHold = std::chrono::microseconds(100);

  // A renewal that is not answered by then is sent again.
  Duration renewal_within(Duration lease) const { return std::min(answer_within, lease / 6); }
  static Duration renewal_slack(Duration lease) { return lease / 30; }
};

// Full jitter: anything from nothing to twice as much with each failure, so that a thousand clients
// which lost the store together do not come back together.
inline Duration backoff(std::uint32_t failures, store::Random& random) {
  constexpr Duration kFirst = std::chrono::milliseconds(10);
  constexpr Duration kMost = std::chrono::seconds(1);
  const Duration bound = failures >= 7 ? kMost : std::min(kMost, kFirst * (1 << failures));
  return Duration(
      static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(bound.count()))));
}

}  // namespace holdfast::core
