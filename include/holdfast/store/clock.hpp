#pragma once

#include "holdfast/time.hpp"

namespace holdfast::store {

// Where the time comes from. Injected everywhere, so that a test can be the one who turns it.
//
// Threads      From any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;      // CLOCK_BOOTTIME
  virtual WallTime wall_now() const = 0;  // for people only
};

}  // namespace holdfast::store
