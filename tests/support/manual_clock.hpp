#pragma once

#include <atomic>
#include <chrono>

#include "holdfast/store/clock.hpp"

namespace holdfast::test {

// A clock that stands still until a test turns it. Starts at an hour after boot, so that a test may
// also look back.
//
// Threads      From any thread.
class ManualClock final : public store::Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(since_boot_.load())); }
  WallTime wall_now() const override {
    return WallTime(std::chrono::seconds(1'700'000'000)) +
           std::chrono::duration_cast<std::chrono::microseconds>(now().time_since_epoch() +
                                                                 Duration(wall_set_by_.load()));
  }

  void advance(Duration by) { since_boot_ += by.count(); }
  // Somebody sets the wall clock.
  void set_wall(Duration by) { wall_set_by_ += by.count(); }

 private:
  std::atomic<Duration::rep> since_boot_ = Duration(std::chrono::hours(1)).count();
  std::atomic<Duration::rep> wall_set_by_ = 0;
};

}  // namespace holdfast::test
