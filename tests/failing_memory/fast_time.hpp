// Seconds that a test need not wait for.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "runtime/boot_clock.hpp"

namespace holdfast::test {

// Time runs so many times as fast.
inline constexpr int kFaster = 100;

class FastClock final : public store::Clock {
 public:
  TimePoint now() const override { return TimePoint(clock_.now().time_since_epoch() * kFaster); }
  WallTime wall_now() const override { return clock_.wall_now(); }

 private:
  const runtime::BootClock clock_{};
};

class FastLoop final : public store::Loop {
 public:
  explicit FastLoop(store::Loop& loop) : loop_(loop) {}
  void post(Task task) override { loop_.post(std::move(task)); }
  store::TimerId call_at(TimePoint when, Task task) override {
    // Never too early.
    const Duration since_boot = when.time_since_epoch() / kFaster + std::chrono::nanoseconds(1);
    return loop_.call_at(TimePoint(since_boot), std::move(task));
  }
  void cancel(store::TimerId id) override { loop_.cancel(id); }
  void watch_fd(int fd, std::uint32_t events, Ready* ready) override {
    loop_.watch_fd(fd, events, ready);
  }

 private:
  store::Loop& loop_;
};

}  // namespace holdfast::test
