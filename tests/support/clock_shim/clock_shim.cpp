#include "support/clock_shim/clock_shim.hpp"

#include <time.h>

#include <string>

namespace holdfast::test {
namespace {

std::int64_t kernel_mono() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

}  // namespace

Words ClockShim::environment() const {
  std::string control = kClockControlVariable;
  control.append("=").append(folder_ / "clocks");
  return {"LD_PRELOAD=" HOLDFAST_CLOCK_SHIM, control};
}

void ClockShim::step(ShimClock clock, std::chrono::nanoseconds by) {
  change(clock, by, control_->get(clock).faster_ppm);
}

void ClockShim::step_all(std::chrono::nanoseconds by) {
  step(ShimClock::wall, by);
  step(ShimClock::steady, by);
}

void ClockShim::set_rate(ShimClock clock, std::int64_t faster_ppm) {
  change(clock, {}, faster_ppm);
}

// From now on; what the clock has gained until now stays.
void ClockShim::change(ShimClock clock, std::chrono::nanoseconds step, std::int64_t faster_ppm) {
  const std::int64_t now = kernel_mono();
  const std::int64_t ahead = control_->get(clock).ahead_at(now) + step.count();
  control_->set(clock, {.ahead_ns = ahead, .faster_ppm = faster_ppm, .anchor_ns = now});
}

}  // namespace holdfast::test
