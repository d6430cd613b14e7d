#include "api/nap.hpp"

#include <utility>

namespace holdfast::detail {

void wake(runtime::Driver& driver, Nap& nap) {
  nap.end();
  if (nap.driving()) driver.store().interrupt(nap);
}

void sleep(runtime::Driver& driver, const std::shared_ptr<Nap>& nap, TimePoint until) {
  if (until == kNever) return driver.block(nap);
  const store::TimerId timer = driver.call_at(until, [&driver, nap] { wake(driver, *nap); });
  driver.block(nap);
  driver.forget_timer(timer);
}

std::shared_ptr<Nap> Bell::note() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  return sleeper_;
}

void Bell::ring() {
  if (const auto sleeper = note()) sleeper->end();
}

void Bell::ring(runtime::Driver& driver) {
  if (const auto sleeper = note()) wake(driver, *sleeper);
}

void Bell::wait(runtime::Driver& driver, TimePoint until) {
  const auto nap = std::make_shared<Nap>();
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(rung_, false)) return;
    sleeper_ = nap;
  }
  sleep(driver, nap, until);
  const std::lock_guard lock(mutex_);
  sleeper_.reset();
  rung_ = false;
}

}  // namespace holdfast::detail
