#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <utility>

#include "holdfast/store/loop.hpp"

namespace holdfast::transport {

// What an object does on the loop: nothing of it runs once end() has returned, so that the object can go.
//
// Threads      From any thread; end() not on the loop.
class LoopTasks {
 public:
  explicit LoopTasks(store::Loop& loop) : loop_(loop) {}
  LoopTasks(const LoopTasks&) = delete;
  LoopTasks& operator=(const LoopTasks&) = delete;

  template <class Work>
  void post(Work work) const {
    loop_.post(guarded(std::move(work)));
  }
  template <class Work>
  store::TimerId call_at(TimePoint at, Work work) const {
    return loop_.call_at(at, guarded(std::move(work)));
  }
  // For functions that somebody else will call on the loop.
  template <class Work>
  auto guarded(Work work) const {
    return [alive = alive_, work = std::move(work)](auto&&... args) mutable {
      if (*alive) work(std::forward<decltype(args)>(args)...);
    };
  }

  // Waits for what is running, and for the last work. A loop that has stopped drops that, and with it the
  // promise.
  template <class Work>
  void end(Work last) const {
    *alive_ = false;
    std::promise<void> passed;
    const auto done = passed.get_future();
    loop_.post([last = std::move(last), promise = std::move(passed)]() mutable {
      last();
      promise.set_value();
    });
    done.wait();
  }
  void end() const {
    end([] {});
  }

 private:
  store::Loop& loop_;
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace holdfast::transport
