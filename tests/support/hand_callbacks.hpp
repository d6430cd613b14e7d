#pragma once

#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/callbacks.hpp"

namespace holdfast::test {

// Callbacks without a thread: the test runs them.
//
// Threads      post() from any thread.
class HandCallbacks final : public runtime::Callbacks {
 public:
  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  bool on_this_thread() const override {
    const std::lock_guard lock(mutex_);
    return running_on_ == std::this_thread::get_id();
  }

  // Runs the oldest; false if there is none. One that throws is dropped, as on the real thread.
  bool run_one() {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty()) return false;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      running_on_ = std::this_thread::get_id();
    }
    try {
      task();
    } catch (...) {
    }
    const std::lock_guard lock(mutex_);
    running_on_ = {};
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Task> tasks_;
  std::thread::id running_on_{};
};

}  // namespace holdfast::test
