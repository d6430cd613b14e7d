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
  bool done() const override { return done_.load(std::memory_order_acquire); }
  TimePoint until() const override { return kNever; }
  void nudge() override { spot_.unpark(); }

  void park() { spot_.park(); }

 protected:
  void finish() {
    done_.store(true, std::memory_order_release);
    nudge();
  }

 private:
  std::atomic<bool> done_{false};
  ParkingSpot spot_;
};

}  // namespace holdfast::runtime
