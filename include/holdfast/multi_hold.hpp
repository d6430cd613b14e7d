#pragma once

#include <memory>
#include <span>
#include <stop_token>

#include "holdfast/hold.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/options.hpp"
#include "holdfast/result.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

namespace detail {
class AllOrNothing;
class MultiHoldState;
}  // namespace detail

// Proof that this process holds several locks at once.
//
// Guarantees   While valid() every member is: see Hold.
// On loss      If one member is lost, the whole is: valid() turns false by itself at valid_until(), the
//              earliest of the members', and lost() fires as soon after as it can. The others stay
//              held until this is released.
// On error     Nothing throws. release() releases every member, in the reverse of the order in which
//              they were taken, and tells the first error.
// Blocking     release() makes one round trip for each member. The destructor posts the releases and
//              does not wait for them, but for a callback of lost() that is running on another thread.
// Threads      const members from any thread. Belongs to no thread.
// After fork   As Hold.
class [[nodiscard]] MultiHold {
 public:
  MultiHold(MultiHold&&) noexcept;
  MultiHold& operator=(MultiHold&&) noexcept;
  ~MultiHold();

  // The members, in the order in which acquire_all() was given their Mutexes: each has its own fence.
  std::span<const Hold> holds() const;

  bool valid() const;
  TimePoint valid_until() const;
  Duration remaining() const;
  std::stop_token lost() const;

  Result<void> release();

 private:
  friend class detail::AllOrNothing;
  explicit MultiHold(std::unique_ptr<detail::MultiHoldState>);
  std::unique_ptr<detail::MultiHoldState> state_;
};

// Acquires all of several locks or none, of any clients and stores.
//
// Guarantees   They are taken one after the other, in the order of their stores and then of their
//              names, whatever the order given: callers that want the same locks do not wait for each
//              other in a circle. A store's place in that order is its URL without user, password and
//              options; URLs that differ in nothing else count as one store. Two ways to write one
//              store (a symbolic link, `embedded:` and its path, two addresses of one server) are two
//              places: a circle, or one lock asked for in both ways, then ends only at the deadline.
//              So write the URL of a store alike everywhere, or limit options.wait.
// On error     Nothing is kept: what had been taken is released before the error returns. It is the
//              error of the lock that could not be had, and names it; Errc::lost or forced if one was
//              lost while the next was waited for; invalid_argument if there are no locks, or one is
//              given twice. If a release on the way back was not answered, the code is that of the
//              release (Outcome::maybe_held).
// Blocking     Waits up to options.wait, for all of them together; 0 = one attempt at each. lease and
//              max_hold count for each member from its own grant.
// Threads      From any thread.
Result<MultiHold> acquire_all(std::span<const Mutex> mutexes, AcquireOptions options = {});

}  // namespace holdfast
