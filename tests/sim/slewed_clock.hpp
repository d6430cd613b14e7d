// A machine's clock. It starts where it likes and runs a little fast or slow; its rate may change, at
// times that are known beforehand, so that both directions can be asked about the future.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/history.hpp"
#include "holdfast/time.hpp"

namespace holdfast::sim {

using check::Time;

class SlewedClock {
 public:
  SlewedClock(Time offset, std::int64_t ppm) : parts_{{0, offset, ppm}} {}

  // From then on it runs at that rate. Later than what was said before.
  void slew(Time from, std::int64_t ppm);

  Time local(Time at) const;
  Time true_time(Time local) const;  // the first at which it says at least that

 private:
  struct Part {
    Time from = 0;
    Time local = 0;  // what it says then
    std::int64_t ppm = 0;

    Time at(Time) const;
    Time when(Time local) const;
  };
  std::vector<Part> parts_;
};

}  // namespace holdfast::sim
