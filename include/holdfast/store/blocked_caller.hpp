#pragma once

#include "holdfast/time.hpp"

namespace holdfast::store {

// A thread that waits for the answer of its own question and could read the socket meanwhile.
//
// Threads      From any thread.
class BlockedCaller {
 public:
  virtual ~BlockedCaller() = default;
  virtual bool done() const = 0;        // its answer is there: stop driving
  virtual TimePoint until() const = 0;  // do not drive longer than this
  virtual void nudge() = 0;             // wakes it, so that it comes to drive() again
};

}  // namespace holdfast::store
