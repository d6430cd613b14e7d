// Makes a schedule small: leaves out operations and faults, as long as what is wrong with it stays
// wrong. (Delta debugging: first large parts, then smaller ones, at last one by one.) When nothing more
// can go, the dice are thrown again for one operation fewer.
#pragma once

#include <functional>
#include <optional>

#include "schedule.hpp"

namespace holdfast::sim {

// Whether a schedule still shows what is looked for.
using StillShows = std::function<bool(const Verdict&)>;

struct Minimum {
  Selection only;
  Verdict verdict;
  std::size_t tried = 0;  // schedules
  std::size_t ops_before = 0;
  std::size_t faults_before = 0;
};

// None if the whole schedule does not show it.
std::optional<Minimum> minimise(std::uint64_t seed, const StillShows&);

// A violation of that rule which counts.
StillShows violates(check::Rule);

// What is left, and how to run it again with `program`.
std::string to_text(const Minimum&, const std::string& program);

}  // namespace holdfast::sim
