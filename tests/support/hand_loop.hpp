#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "holdfast/store/loop.hpp"

namespace holdfast::test {

// A loop without a thread: the test runs what is due, at the time that it says it is.
//
// Threads      From any thread; tasks run on the one that calls run_one().
class HandLoop final : public store::Loop {
 public:
  void post(Task task) override { call_at(TimePoint::min(), std::move(task)); }
  store::TimerId call_at(TimePoint when, Task task) override {
    const std::lock_guard lock(mutex_);
    if (stopped_) return 0;
    tasks_.emplace(std::pair(when, ++last_), std::move(task));
    return last_;
  }
  void cancel(store::TimerId id) override {
    Task dropped;  // destroyed outside the mutex
    const std::lock_guard lock(mutex_);
    for (auto at = tasks_.begin(); at != tasks_.end(); ++at) {
      if (at->first.second != id) continue;
      dropped = std::move(at->second);
      tasks_.erase(at);
      return;
    }
  }
  void watch_fd(int, std::uint32_t, Ready*) override {}  // stores on this loop have no sockets

  // When the next task is due; kNever if there is none.
  TimePoint next() const {
    const std::lock_guard lock(mutex_);
    return tasks_.empty() ? kNever : tasks_.begin()->first.first;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }

  // Runs the earliest task if it is due; false if none is.
  bool run_one(TimePoint now) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty() || tasks_.begin()->first.first > now) return false;
      task = std::move(tasks_.extract(tasks_.begin()).mapped());
    }
    task();
    return true;
  }

  // Drops what is there and what still comes.
  void stop() {
    Tasks dropped;
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(tasks_);
  }

 private:
  using Tasks = std::map<std::pair<TimePoint, store::TimerId>, Task>;

  mutable std::mutex mutex_;
  Tasks tasks_;
  store::TimerId last_ = 0;
  bool stopped_ = false;
};

}  // namespace holdfast::test
