// One seed, from its plan to its verdict.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "checker/checker.hpp"
#include "checker/timeline.hpp"
#include "fault_log.hpp"
#include "plan.hpp"
#include "selection.hpp"

namespace holdfast::sim {

struct Verdict {
  Plan plan;
  check::Report report;
  FaultCounts faults;
  std::uint64_t events = 0;
  check::History history;
  std::vector<OpName> ops;      // that were due
  std::vector<Strike> strikes;  // that took place
  std::vector<check::Befell> befell;
};

// The first violation that counts; nullptr if all is well.
const check::Violation* first_violation(const check::Report&);

// The same seed gives the same schedule, event by event; `trace` (may be null) is told each of them.
Verdict run_schedule(std::uint64_t seed, std::ostream* trace, const Selection& only = {});

}  // namespace holdfast::sim
