#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "holdfast/fence.hpp"
#include "holdfast/options.hpp"
#include "holdfast/result.hpp"
#include "holdfast/shared_mutex.hpp"
#include "holdfast/std_waits.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

// A SharedMutex that is used like std::shared_timed_mutex, so by std::unique_lock, std::scoped_lock and
// std::shared_lock. One object serves all threads of the program, as a std mutex does.
//
// Guarantees   Those of SharedMutex. What a thread locked belongs to that thread: it unlocks it.
// On loss      Nobody is told by unlock(): ask valid(), or listen to lost(), before each write.
// On error     lock() and lock_shared() throw std::system_error with an Errc, and then nothing is locked;
//              would_deadlock if this thread has it already, in either way. try_lock and its kin give
//              false for every reason. unlock() and unlock_shared() never throw; by a thread that has
//              not locked they do nothing.
// Blocking     As SharedMutex. Unlocking waits for the store's confirmation, in bounded time.
// Threads      From any thread. A thread that ends without unlocking leaves it locked until this object
//              goes.
class SharedLockable {
 public:
  // options.wait counts for lock() and lock_shared() only; options.owner is not used.
  explicit SharedLockable(SharedMutex mutex, AcquireOptions options = {});
  ~SharedLockable();
  SharedLockable(const SharedLockable&) = delete;
  SharedLockable& operator=(const SharedLockable&) = delete;

  void lock();
  bool try_lock() { return lock_within(Way::alone, Duration::zero()).has_value(); }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& length) {
    return lock_within(Way::alone, detail::wait_of(length)).has_value();
  }
  template <class Clock, class Length>
  bool try_lock_until(const std::chrono::time_point<Clock, Length>& end) {
    return detail::lock_until(end, [this](Duration wait) { return lock_within(Way::alone, wait); });
  }
  void unlock() noexcept { unlock(Way::alone); }

  void lock_shared();
  bool try_lock_shared() { return lock_within(Way::shared, Duration::zero()).has_value(); }
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& length) {
    return lock_within(Way::shared, detail::wait_of(length)).has_value();
  }
  template <class Clock, class Length>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Length>& end) {
    return detail::lock_until(end,
                              [this](Duration wait) { return lock_within(Way::shared, wait); });
  }
  void unlock_shared() noexcept { unlock(Way::shared); }

  std::string_view name() const;

  // --- what the calling thread has ---
  bool valid() const;                         // locked, and not lost
  std::optional<FencingToken> fence() const;  // none: it is not locked
  std::stop_token lost() const;               // never fires if it is not locked

 private:
  enum class Way : bool { alone, shared };
  struct State;

  Result<void> lock_within(Way, Duration wait);
  void unlock(Way) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace holdfast
