#pragma once

#include "holdfast/task.hpp"

namespace holdfast::runtime {

// Where a client runs what is not its own: then(), resumed coroutines, lost(), observers. A thread
// in production, the schedule itself in a simulation.
//
// Guarantees   Tasks run one at a time, in the order in which they were posted.
// Threads      All members from any thread.
class Callbacks {
 public:
  virtual ~Callbacks() = default;
  virtual void post(Task) = 0;
  virtual bool on_this_thread() const = 0;
  // Tells them from others, also from what comes where they were.
  virtual const void* id() const { return this; }
};

}  // namespace holdfast::runtime
