#pragma once

#include <cstdint>
#include <memory>

#include "holdfast/result.hpp"
#include "holdfast/store/loop.hpp"

namespace holdfast::runtime {

// The loop thread of a client: epoll for descriptors, an eventfd for posted tasks, and one
// timerfd(CLOCK_BOOTTIME), armed for the earliest timer, so that timers count the time a machine
// sleeps.
//
// Guarantees   Posted tasks run in order. Timers run in order of (time, id), never early. None of
//              the three can starve the others: a round runs at most what was there when it began.
// On error     start() says why there can be no loop (descriptors, threads). A task or on_ready()
//              that throws is counted and the loop goes on. A descriptor that the kernel refuses to
//              watch is told on_ready(POLLNVAL) once. What throws std::bad_alloc was not done; a watch
//              that was to be changed may have ended.
// Ending       stop() lets the tasks run that were posted before it; timers and watches end at
//              once, unrun. What comes later is destroyed unrun, and call_at() answers 0. On the
//              loop thread it does not wait: the thread finishes alone, also after this object is
//              gone.
// Watches      When watch_fd(fd, 0, …) returns on the loop thread, on_ready() will not be called
//              again. Elsewhere a call under way may still be running: post() the end of a Ready to
//              the loop. End a watch before its descriptor is closed: a forked child may keep the
//              file open.
// After fork   In a child stop() and the destructor do nothing; the thread exists in the parent
//              only.
// Threads      All members from any thread.
class EpollLoop final : public store::Loop {
 public:
  static Result<std::unique_ptr<EpollLoop>> start();
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;
  ~EpollLoop() override;  // stop()

  void post(Task) override;
  store::TimerId call_at(TimePoint, Task) override;
  void cancel(store::TimerId) override;
  void watch_fd(int fd, std::uint32_t events, Ready*) override;

  void stop();
  bool on_loop_thread() const;
  std::uint64_t failures() const;  // tasks that threw

 private:
  class State;
  explicit EpollLoop(std::shared_ptr<State>);
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::runtime
