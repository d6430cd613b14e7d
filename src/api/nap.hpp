#pragma once

#include <memory>
#include <mutex>

#include "runtime/blocked_op.hpp"
#include "runtime/driver.hpp"

namespace holdfast::detail {

// A thread's sleep that others can end, once.
//
// Threads      end() from any thread.
class Nap final : public runtime::BlockedOp {
 public:
  void end() { finish(); }
};

// Ends it, also if its thread is reading the store's transport, where it would not notice by itself.
void wake(runtime::Driver&, Nap&);

// Sleeps until the nap is ended, or until then: by a timer of the loop, since nothing else counts the
// time that a machine sleeps.
void sleep(runtime::Driver&, const std::shared_ptr<Nap>&, TimePoint until);

// Wakes one thread, also if it was rung before that went to sleep.
//
// Lifetime     Share it: it may be rung by a store after its sleeper has gone.
// Threads      ring() from any thread, wait() from one.
class Bell {
 public:
  // By a store, which knows by itself who reads its transport, and may outlive the driver.
  void ring();
  void ring(runtime::Driver&);
  // Until it is rung, or until then.
  void wait(runtime::Driver&, TimePoint until);

 private:
  std::shared_ptr<Nap> note();

  std::mutex mutex_;
  bool rung_ = false;
  std::shared_ptr<Nap> sleeper_;
};

}  // namespace holdfast::detail
