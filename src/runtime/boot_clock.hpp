#pragma once

#include "holdfast/store/clock.hpp"

namespace holdfast::runtime {

// The clock of a real machine: CLOCK_BOOTTIME for deadlines, CLOCK_REALTIME for people.
//
// Threads      From any thread; it has no state.
class BootClock final : public store::Clock {
 public:
  TimePoint now() const override;
  WallTime wall_now() const override;
};

}  // namespace holdfast::runtime
