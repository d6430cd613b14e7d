// Many schedules, one after the other and beside each other.
#pragma once

#include <chrono>
#include <limits>
#include <optional>

#include "progress.hpp"
#include "summary.hpp"

namespace holdfast::sim {

struct ManySeeds {
  std::uint64_t first = 1;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  unsigned jobs = 1;
  std::optional<std::chrono::seconds> no_longer_than{};
};

// A violation does not end it. `progress` (may be null) is told of each schedule.
Summary run_seeds(const ManySeeds&, Progress*);

// The first seed from `first` on that shows a violation, of at most `count`.
std::optional<std::pair<std::uint64_t, check::Violation>> first_failure(std::uint64_t first,
                                                                        std::uint64_t count);

}  // namespace holdfast::sim
