#pragma once

#include <functional>
#include <memory>

#include "holdfast/task.hpp"
#include "holdfast/time.hpp"

namespace holdfast::runtime {

// What a process waits for when it exits: clients that nobody has any more and that have not come to their end yet.
// Else what is on its way out of the store would stay there until its lease ends, and their threads would go on among
// static objects that are being destroyed.
//
// Guarantees   exit(), and so the return from main(), waits for each as long as it was given, and no longer. Not for an
//              ending that was begun on the thread that exits, which it may itself be waiting for.
// After fork   A child waits for nothing of its parent's.
// Threads      From any thread.
class Endings {
 public:
  // A thread on which a client ends whose last reference went where its end cannot be waited for.
  //
  // On error   Throws std::system_error if there can be no more threads, std::bad_alloc without memory; nothing was
  //            begun then.
  static void begin(Task end, Duration at_most);

  // A client, and whether a thread of its own, other than the one that asks, may have its last reference just now.
  //
  // On error   Making one throws std::bad_alloc.
  // Lifetime   Whatever begins an ending is counted until that has begun. What is asked lives as long as this.
  class Visited {
   public:
    using Asked = std::function<bool()>;  // under a mutex, while the process exits
    Visited(Asked, Duration at_most);
    Visited(const Visited&) = delete;
    Visited& operator=(const Visited&) = delete;
    ~Visited();

   private:
    struct Place;
    const std::unique_ptr<Place> place_;
  };

 private:
  struct State;
  static State& here();
  static void wait_at_exit();
};

}  // namespace holdfast::runtime
