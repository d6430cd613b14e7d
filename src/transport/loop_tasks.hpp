#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "holdfast/store/loop.hpp"
#include "transport/insist.hpp"

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

  // Waits for what is running, and for the last work. A loop that has stopped drops that. Also without memory, when
  // it takes longer.
  template <class Work>
  void end(Work last) const {
    *alive_ = false;
    insist([&] {
      Passage passage;
      loop_.post([&last, ticket = passage.ticket()] { last(); });
      passage.wait();
    });
  }
  void end() const {
    end([] {});
  }

 private:
  // Waits until its ticket is gone: a task was run, or dropped. A promise would need memory to be broken.
  class Passage {
   public:
    struct Passes {
      void operator()(Passage* passage) const {
        const std::lock_guard lock(passage->mutex_);
        passage->passed_ = true;
        passage->changed_.notify_all();  // under the mutex: whoever waits ends it after this
      }
    };
    std::unique_ptr<Passage, Passes> ticket() { return std::unique_ptr<Passage, Passes>(this); }
    void wait() {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return passed_; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool passed_ = false;
  };

  store::Loop& loop_;
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace holdfast::transport
