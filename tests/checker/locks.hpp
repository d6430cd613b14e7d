// A history sorted by lock and by store grant, the way the rules look at it.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "checker/history.hpp"

namespace holdfast::check {

// Sums that would pass the maximum stay there.
constexpr Time later(Time time, Time by) { return time > kNever - by ? kNever : time + by; }
constexpr std::uint64_t above(std::uint64_t fence, std::uint64_t by) {
  return fence + by < fence ? std::numeric_limits<std::uint64_t>::max() : fence + by;
}

inline bool is_store_grant(const Acquire& acquire) { return acquire.fence == acquire.grant_fence; }

// Whether anybody ever saw valid() true: a hold may be dead on arrival.
inline bool was_valid(const Acquire& acquire) { return acquire.valid_end > acquire.returned; }

// What came of one store grant: the hold it was made for and the hand-offs after it. The former is
// missing if its caller gave up just then and the grant went straight to the next.
struct Grant {
  const Acquire* from_store = nullptr;
  std::vector<const Acquire*> holds;  // all of them by return, never empty
  std::uint64_t spare = 0;

  const Acquire& first() const { return *holds.front(); }
  std::uint64_t fence() const { return first().grant_fence; }
  std::uint64_t last_reserved() const { return above(fence(), spare); }
  std::uint64_t last_used() const;
  const Acquire* longest_valid() const;  // nullptr if none was ever valid
  // The time that it is known to have been made by. A grant of unknown time that nobody saw valid
  // tells nothing: kNever.
  Time made_by() const;
};

struct Lock {
  std::string_view name;
  std::vector<const Acquire*> acquires;  // in the order of the history
  std::vector<const Acquire*> granted;   // by return
  std::vector<Grant> grants;             // by grant fence
};

// Points into the history, which must outlive it. Sorted by name.
std::vector<Lock> locks_of(const History& history);

}  // namespace holdfast::check
