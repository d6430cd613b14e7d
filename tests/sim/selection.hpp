// A part of a schedule: only some of its operations and faults. What the minimiser looks for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::sim {

// One operation of a schedule: what a caller does in one of its rounds. "2.1.3" is the third round of
// the first caller of client 2.
struct OpName {
  std::uint32_t client = 0;
  std::uint32_t caller = 0;
  std::uint32_t round = 0;
  friend auto operator<=>(const OpName&, const OpName&) = default;
};

struct Selection {
  std::optional<std::set<OpName>> ops{};            // none: all of them
  std::optional<std::set<std::uint64_t>> faults{};  // by their numbers in the trace
  // Another throw of the dice over the same plan: other moments, other faults.
  std::uint64_t throw_of_dice = 0;

  bool has(const OpName& op) const { return !ops || ops->contains(op); }
  bool has_fault(std::uint64_t number) const { return !faults || faults->contains(number); }
};

std::string to_text(const OpName&);
// "1.1.1,2.1.3" and "4,17", as the program takes them; "none" for an empty set.
std::string to_text(const std::set<OpName>&);
std::string to_text(const std::set<std::uint64_t>&);
std::optional<std::set<OpName>> parse_ops(std::string_view);
std::optional<std::set<std::uint64_t>> parse_faults(std::string_view);

}  // namespace holdfast::sim
