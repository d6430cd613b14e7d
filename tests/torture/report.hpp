// What came of a run, for people and for programs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "checker/checker.hpp"
#include "torture/conductor.hpp"
#include "torture/options.hpp"

namespace holdfast::torture {

struct FaultLine {
  std::string name;
  std::string text;
  std::uint64_t struck = 0;
  std::uint64_t inside = 0;  // while an acquire of its victim was under way
};

struct RunReport {
  Options options;
  std::string store;  // without secrets
  check::Report judged;
  std::vector<FaultLine> faults;
  std::vector<std::string> troubles;
  std::uint64_t ops = 0;
  std::array<std::uint64_t, 8> outcomes{};  // by check::Outcome
  check::Time wait_p50 = 0;                 // of acquires that were granted
  check::Time wait_p99 = 0;
  check::Time wait_max = 0;
  std::chrono::milliseconds took{};

  // A short run need not have met everything, a long one must: each of the rules C1 to C7 had something to
  // examine, and what happened would have cost updates without fences.
  bool too_tame() const;
  // No rule was broken, nothing else went wrong.
  bool ok() const { return judged.ok() && troubles.empty() && !too_tame(); }
};

RunReport report_on(const Options&, const std::string& url, const Gathered&);

std::string to_text(const RunReport&);
std::string to_json(const RunReport&);

// The part of the history that is worth drawing: around the first violation, or the beginning.
std::string timeline_of(const RunReport&, const Gathered&);

}  // namespace holdfast::torture
