#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "holdfast/task.hpp"
#include "holdfast/time.hpp"
#include "transport/futex.hpp"

namespace holdfast::transport {

// A thread of a store's own, for a store whose transport is not a socket: it does the work that must
// not be done where it was asked for, in order, and listens for whoever bumps a futex word.
//
// Guarantees   The thread starts with the first job or when it is to listen. on_bump is called after a
//              bump that did not come from post(), perhaps once for several, perhaps once too often.
// On error     A job that lacks memory is dropped, and so is one for which there can be no thread.
// Threads      All members from any thread, stop() not from the worker itself.
class Worker {
 public:
  Worker(const char* thread_name, std::function<void()> on_bump)
      : thread_name_(thread_name), on_bump_(std::move(on_bump)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { stop(); }

  bool post(Task);  // false: it was dropped
  // From now on this word is listened to. It must live until stop() has returned.
  void listen_to(FutexWord&);
  // Starts listening; on_bump is called at least this often.
  void listen(Duration at_least_every);

  bool on_this_thread() const;
  // Jobs that have not begun are dropped.
  void stop();

 private:
  bool start();  // under mutex_; false: there can be no more threads
  void bump();   // under mutex_
  void run();

  const char* thread_name_;
  std::function<void()> on_bump_;
  FutexWord own_word_{0};

  mutable std::mutex mutex_;
  FutexWord* word_ = &own_word_;
  std::uint32_t own_bumps_ = 0;  // how much of the word's change is ours
  std::deque<Task> jobs_;
  std::deque<Task> running_;  // the thread's. Kept, since even an empty deque needs memory
  Duration every_ = kForever;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace holdfast::transport
