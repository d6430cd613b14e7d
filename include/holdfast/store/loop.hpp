#pragma once

#include <cstdint>

#include "holdfast/task.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store {

using TimerId = std::uint64_t;

// A client's one loop thread: timers, and the sockets of stores that have some.
//
// Blocking     Tasks run one at a time and must not block: renewals of every lock wait behind them.
// Threads      All members from any thread. After cancel() returns, a task that had not begun will
//              not run; one that is running may still be.
class Loop {
 public:
  virtual ~Loop() = default;

  virtual void post(Task) = 0;
  virtual TimerId call_at(TimePoint, Task) = 0;
  virtual void cancel(TimerId) = 0;

  // Calls `ready(events)` on the loop thread whenever poll(2) would report one of `events` for fd.
  // One watch per fd; `events` replaces the former set, 0 ends it.
  class Ready {
   public:
    virtual ~Ready() = default;
    virtual void on_ready(std::uint32_t events) = 0;
  };
  virtual void watch_fd(int fd, std::uint32_t events, Ready*) = 0;
};

}  // namespace holdfast::store
