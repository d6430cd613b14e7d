// A time that goes on by itself and that a test can also turn: for stores that have sockets, and leases that lapse
// by their own timers.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"

namespace holdfast::test {

// Another clock, and as much as it was turned.
//
// Threads      From any thread.
class TurnedClock final : public store::Clock {
 public:
  explicit TurnedClock(const store::Clock& real) : real_(real) {}

  TimePoint now() const override { return real_.now() + turned(); }
  WallTime wall_now() const override {
    return real_.wall_now() + std::chrono::duration_cast<std::chrono::microseconds>(turned());
  }

  Duration turned() const { return Duration(turned_.load()); }
  void turn(Duration by) { turned_ += by.count(); }

 private:
  const store::Clock& real_;
  std::atomic<Duration::rep> turned_ = 0;
};

// Another loop, whose timers are due by such a clock.
//
// Lifetime     The other loop runs nothing of this one once this one is gone.
// Threads      All members from any thread.
class TurnedLoop final : public store::Loop {
 public:
  TurnedLoop(store::Loop& real, TurnedClock& clock) : real_(real), clock_(clock) {}

  void post(Task task) override { real_.post(std::move(task)); }
  store::TimerId call_at(TimePoint, Task) override;
  void cancel(store::TimerId) override;
  void watch_fd(int fd, std::uint32_t events, Ready* ready) override {
    real_.watch_fd(fd, events, ready);
  }

  TimePoint next() const;  // when a timer is due; kNever if there is none
  // Turns the clock. The timers that are due now run on the loop, soon.
  void turn(Duration);

 private:
  void run_due();

  store::Loop& real_;
  TurnedClock& clock_;
  mutable std::mutex mutex_;
  std::map<std::pair<TimePoint, store::TimerId>, Task> timers_;
  store::TimerId last_ = 0;
};

}  // namespace holdfast::test
