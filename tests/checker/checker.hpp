// Judges a history against the promises of the library. One judge for simulated and real runs.
//
// Every rule is a sort and a sweep, O(n log n). A history that contradicts itself (Rule::form) is
// not judged further.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history.hpp"

namespace holdfast::check {

// Two events with the same time count as happening in whichever order is allowed.
enum class Rule : std::uint8_t {
  form,             // C0  the history does not contradict itself
  exclusion,        // C1  the spans in which valid() is true never overlap
  fence_order,      // C2  fences grow from grant to grant, hand-offs stay in their grant's range
  fence_once,       // C3  no fence is given twice for one name
  no_lost_update,   // C4  a resource that checks the fence loses no update
  invalid_in_time,  // C5  valid() is false before the store grants to another
  served,           // C6  after healing everybody is served, and limited waits end in time
  no_ghosts,        // C7  at rest the store shows nothing of claims that have ended
  fifo,             // C8  under Order::fifo nobody overtakes a waiter that kept its place
  renewals,         // C9  one renewal per period and hold, none for what nobody holds
  verified,         // C10 verify() says yes only if nobody else was granted it before the question
};
inline constexpr std::size_t kRules = 11;

std::string_view name_of(Rule rule);  // "C1 exclusion"

// Whether a violation of this rule counts under these assumptions.
//
//   form, fence_once, renewals, verified   always
//   fence_order, no_lost_update            unless the store lost its data and its fences restart
//   all others                             only with timing and a store that keeps its data
//
// Timing plays no part for a fenced resource: to bear a paused holder is what fences are for.
bool counts_under(const Assumptions& assumptions, Rule rule);

struct Violation {
  Rule rule = Rule::form;
  std::uint32_t client = 0;  // of the event that broke the rule: the later of two
  std::uint64_t op = 0;      // 0 where that event is not an acquire
  std::string text{};
  bool counts = true;
};

// A rule that is broken everywhere is counted in full, but only so many violations get a text.
inline constexpr std::uint64_t kKept = 1000;

struct Tally {
  std::uint64_t examined = 0;  // 0: this history said nothing about the rule
  std::uint64_t violated = 0;
  std::uint64_t excused = 0;  // violations that do not count
};

struct Figures {
  std::uint64_t grants = 0;  // by the store
  std::uint64_t hand_offs = 0;
  std::uint64_t renewals = 0;  // confirming ones included
  std::uint64_t refused_stale_writes = 0;
  std::uint64_t unfenced_lost_updates = 0;  // what the stale writes did to the unfenced twin
};

struct Report {
  std::array<Tally, kRules> tallies{};
  std::vector<Violation> violations;  // the first kKept of each rule
  Figures figures;

  const Tally& tally(Rule rule) const { return tallies.at(static_cast<std::size_t>(rule)); }
  bool ok() const;  // no violation that counts
};

Report check(const History& history);

// A line per rule, the figures, and the first few violations of each rule.
std::string to_text(const Report& report);

}  // namespace holdfast::check
