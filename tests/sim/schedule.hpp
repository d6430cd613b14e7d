// One seed, from its plan to its verdict.
#pragma once

#include <cstdint>
#include <ostream>

#include "checker/checker.hpp"
#include "faults.hpp"
#include "plan.hpp"

namespace holdfast::sim {

struct Verdict {
  Plan plan;
  check::Report report;
  FaultCounts faults;
  std::uint64_t events = 0;
};

// The same seed gives the same schedule, event by event; `trace` (may be null) is told each of them.
Verdict run_schedule(std::uint64_t seed, std::ostream* trace);

}  // namespace holdfast::sim
