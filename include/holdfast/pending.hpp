#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "holdfast/result.hpp"
#include "holdfast/task.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

namespace detail {

// The library's side of a Pending.
template <class T>
class PendingState {
 public:
  virtual ~PendingState() = default;
  virtual bool ready() const = 0;
  virtual Result<T> take() = 0;              // once, when ready
  virtual void wait() = 0;                   // until ready
  virtual void continue_with(Task) = 0;      // runs it as a callback once ready
  virtual void forget_continuation() = 0;    // it will not run any more
  virtual void give_up(Errc) = 0;            // asks to end soon
  virtual void give_up_after(Duration) = 0;  // asks to end then, as timed_out
};

}  // namespace detail

// A result that is on its way. get, get_for, then and co_await consume it; there is exactly one result.
//
// Guarantees   Dropping it cancels; if the lock was granted meanwhile, it is released.
// On error     Errc::cancelled means that nothing stays behind. If the client goes first, that is the
//              result.
// Blocking     get() and get_for() wait; on the callbacks thread too, they do not deadlock. Nothing
//              else blocks.
// Threads      Callbacks and resumptions run on the client's callbacks thread or its executor. One
//              Pending is used by one thread at a time; cancel() may come from any.
template <class T>
class [[nodiscard]] Pending {
 public:
  explicit Pending(std::shared_ptr<detail::PendingState<T>> state) : state_(std::move(state)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept {
    if (this != &other) {
      drop();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Pending() { drop(); }

  bool ready() const { return state_ && state_->ready(); }

  // Asks to end soon. The result is Errc::cancelled, or the value if it was faster. Once then() or
  // co_await has consumed it, nothing happens: use AcquireOptions::stop.
  void cancel() {
    if (state_) state_->give_up(Errc::cancelled);
  }

  Result<T> get() && {
    state_->wait();  // state_ stays, for a cancel() from another thread
    return state_->take();
  }

  // As get(), but asks to end after `limit`: then the result is Errc::timed_out, or the value if it
  // was faster. Returns little later than `limit`.
  Result<T> get_for(Duration limit) && {
    state_->give_up_after(limit);
    return std::move(*this).get();
  }

  // Calls f(Result<T>) as a callback.
  template <class F>
  void then(F f) && {
    const auto state = std::move(state_);
    // Weakly, since the state keeps the continuation; whoever runs it keeps the state.
    state->continue_with([weak = std::weak_ptr(state), call = std::move(f)]() mutable {
      if (const auto held = weak.lock()) std::invoke(call, held->take());
    });
  }

  // co_await std::move(pending) gives the Result<T>. Destroying the suspended coroutine cancels.
  class Awaiter {
   public:
    explicit Awaiter(Pending pending) : pending_(std::move(pending)) {}
    bool await_ready() const { return pending_.ready(); }
    template <class Handle>
    void await_suspend(Handle handle) {
      pending_.state_->continue_with([handle]() mutable { handle.resume(); });
    }
    Result<T> await_resume() { return std::exchange(pending_.state_, nullptr)->take(); }

   private:
    Pending pending_;
  };
  Awaiter operator co_await() && { return Awaiter(std::move(*this)); }

 private:
  void drop() {
    if (const auto state = std::exchange(state_, nullptr)) {
      state->forget_continuation();
      state->give_up(Errc::cancelled);
    }
  }

  std::shared_ptr<detail::PendingState<T>> state_;
};

}  // namespace holdfast
