#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "holdfast/fence.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/options.hpp"
#include "holdfast/reentrant_hold.hpp"
#include "holdfast/result.hpp"
#include "holdfast/std_waits.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

namespace detail {
struct ReentrantCell;
class ReentrantHolds;
}  // namespace detail

// A Mutex that its owner may lock again while it has it, and unlocks as often. To be used like
// std::recursive_timed_mutex (it is Cpp17TimedLockable), or by acquire(), which does not throw.
//
// The owner is the calling thread, or the Owner in the options, which must outlive this object: a
// task that moves between threads has one.
//
//                 nobody has it    this owner has it    this owner lost it      another has it
//   lock          asks the store   one more             throws Errc::lost       waits in line
//   try_lock*     asks the store   one more             false                   false after its time
//   acquire       asks the store   one more             Errc::lost              waits in line
//   unlock        nothing          one less; 0: free    one less; 0: over       nothing
//
// Guarantees   Stateless: copies of it, and others of the same client and name, agree on the count.
//              It is the same lock as the Mutex of that name, for all clients of the store. Another
//              owner, in this process or elsewhere, cannot enter before the count is 0. The fence does
//              not change on re-entry; neither do lease, max_hold, order and reason, which are those
//              of the first entry.
// On loss      A loss ends all entries at once: valid() turns false, lost() fires. Nobody re-enters
//              what is lost; unlock it as often as it was locked, then lock it anew.
// On error     lock() throws std::system_error with an Errc, and then nothing is locked; besides those
//              of Mutex::acquire it is lost as above, and timed_out if options.wait is limited.
//              try_lock and its kin give false for every reason; acquire() tells which. unlock() never
//              throws; by an owner that does not have the lock it does nothing.
// Blocking     Re-entry and unlocking what is still counted do not ask the store. The last unlock()
//              waits for the store's confirmation, in bounded time.
// Threads      From any thread. An explicit Owner should ask from one thread at a time: of two that
//              ask at once for a lock which it does not have yet, the second waits for the first to
//              unlock, or is told Errc::would_deadlock.
//              A thread that ends without unlocking leaves the lock held, until the last of the
//              client, its Mutexes and ReentrantHolds goes; max_hold limits that.
// After fork   In the child lock() throws and acquire() answers Errc::forked; nothing is held there,
//              and unlock() does nothing.
class ReentrantMutex {
 public:
  void lock() const;
  bool try_lock() const;
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& length) const {
    return lock_within(detail::wait_of(length)).has_value();
  }
  template <class Clock, class Length>
  bool try_lock_until(const std::chrono::time_point<Clock, Length>& end) const {
    return detail::lock_until(end, [this](Duration wait) { return lock_within(wait); });
  }
  void unlock() const noexcept;

  // As lock(), as an object that unlocks. If options.owner is not set, the owner is as for lock().
  Result<ReentrantHold> acquire(AcquireOptions options) const;
  Result<ReentrantHold> acquire() const;  // with the options of this ReentrantMutex

  std::string_view name() const { return mutex_.name(); }

  // --- what the owner has, as for lock() ---
  std::uint64_t count() const;                // 0: it is not locked by this owner
  std::optional<FencingToken> fence() const;  // none: it is not locked by this owner
  bool valid() const;                         // locked by this owner, and not lost
  std::stop_token lost() const;               // never fires if it is not locked by this owner

 private:
  friend class Client;
  using CellPtr = std::shared_ptr<detail::ReentrantCell>;

  ReentrantMutex(Mutex mutex, std::shared_ptr<detail::ReentrantHolds> holds, AcquireOptions options)
      : mutex_(std::move(mutex)), holds_(std::move(holds)), options_(std::move(options)) {}

  Result<void> lock_within(Duration wait) const;

  Owner& owner_of(const AcquireOptions&) const;
  Result<CellPtr> enter(AcquireOptions) const;
  CellPtr mine() const;

  Mutex mutex_;
  std::shared_ptr<detail::ReentrantHolds> holds_;
  AcquireOptions options_;
};

}  // namespace holdfast
