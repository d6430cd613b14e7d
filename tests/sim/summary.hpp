// Many schedules, put together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "schedule.hpp"

namespace holdfast::sim {

// The schedules of one family of stores and one kind of locks.
struct Share {
  std::uint64_t schedules = 0;
  std::uint64_t calm = 0;
  std::uint64_t any = 0;   // all callers in any order
  std::uint64_t fifo = 0;  // all in strict order; the rest has both
  std::uint64_t hand_off = 0;
  check::Figures figures;
};

struct Summary {
  std::uint64_t schedules = 0;
  std::uint64_t events = 0;
  std::map<std::pair<Plan::Family, Plan::Locks>, Share> shares;
  FaultCounts faults;
  check::Figures figures;
  std::array<check::Tally, check::kRules> tallies{};
  std::map<std::uint64_t, std::string> failures;  // seed → the first violation, the first few

  void add(std::uint64_t seed, const Verdict&);
  void add(const Summary&);
  bool ok() const { return failures.empty(); }
  // Every family with every kind, in both orders, and with and without hand-offs where there are some;
  // every fault in at least 1 % of the schedules and 100 times inside an open operation.
  bool thorough() const;
  std::string text() const;
};

}  // namespace holdfast::sim
