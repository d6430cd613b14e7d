#include "support/turned_time.hpp"

namespace holdfast::test {

// The other loop wakes us when it is due if nobody turns the clock, perhaps for nothing.
store::TimerId TurnedLoop::call_at(TimePoint when, Task task) {
  store::TimerId id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_;
    timers_.emplace(std::pair(when, id), std::move(task));
  }
  if (when != kNever) real_.call_at(when - clock_.turned(), [this] { run_due(); });
  return id;
}

void TurnedLoop::cancel(store::TimerId id) {
  Task dropped;  // destroyed outside the mutex
  const std::lock_guard lock(mutex_);
  for (auto at = timers_.begin(); at != timers_.end(); ++at) {
    if (at->first.second != id) continue;
    dropped = std::move(at->second);
    timers_.erase(at);
    return;
  }
}

TimePoint TurnedLoop::next() const {
  const std::lock_guard lock(mutex_);
  return timers_.empty() ? kNever : timers_.begin()->first.first;
}

void TurnedLoop::turn(Duration by) {
  clock_.turn(by);
  real_.post([this] { run_due(); });
}

void TurnedLoop::run_due() {
  while (true) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (timers_.empty() || timers_.begin()->first.first > clock_.now()) return;
      task = std::move(timers_.extract(timers_.begin()).mapped());
    }
    task();
  }
}

}  // namespace holdfast::test
