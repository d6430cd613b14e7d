#pragma once

#include <atomic>

#include "holdfast/store/blocked_caller.hpp"
#include "runtime/parking.hpp"

namespace holdfast::runtime {

// An operation that a thread may wait for, parked or driving the store's transport.
//
// Lifetime     Shared by the waiting thread and whoever finishes it.
class BlockedOp : public store::BlockedCaller {
 public:
  bool done() const override { return done_.load(); }
  TimePoint until() const override { return kNever; }
  void nudge() override { spot_.unpark(); }

  void wait() {
    if (soon_.exchange(false) && look_for_a_while()) return;
    spot_.park();
  }
  // It will probably be done within moments: its thread looks for a while before it sleeps.
  void stay_awake() { soon_.store(true); }

  // The waiting thread says when it is in Store::drive(); whoever finishes the operation looks. Both
  // write first and read then, in one total order: one of them sees the other.
  void set_driving(bool driving) { driving_.store(driving); }
  bool driving() const { return driving_.load(); }

 protected:
  void finish() {
    done_.store(true);
    nudge();
  }

 private:
  bool look_for_a_while() const;  // true: it is done

  std::atomic<bool> done_{false};
  std::atomic<bool> soon_{false};
  std::atomic<bool> driving_{false};
  ParkingSpot spot_;
};

}  // namespace holdfast::runtime
