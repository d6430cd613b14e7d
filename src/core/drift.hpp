#pragma once

#include <cstdint>

#include "holdfast/time.hpp"

namespace holdfast::core {

// What is taken off a lease because the holder's clock and the store's may run at different rates.
struct Drift {
  std::uint32_t ppm = 10'000;
  Duration constant = std::chrono::milliseconds(2);

  Duration allowance(Duration lease) const;

  // Until when a lease may be relied upon: it counts from before the question left, so whatever the
  // network did since is on the safe side.
  TimePoint valid_until(TimePoint sent, Duration asked, Duration given) const;
};

}  // namespace holdfast::core
