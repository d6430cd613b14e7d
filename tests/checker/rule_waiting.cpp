// C6 and C8: waits end, and fifo is kept.
#include <algorithm>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

struct Span {
  Time from, to;
};

// When, after healing, nobody had the lock for longer than served_within. Disjoint and in order.
//
// This is how "served, once those ahead were served" is judged without asking who was ahead: a
// queue of any length moves as long as the lock is never idle for long.
std::vector<Span> long_gaps(const Lock& lock, const Terms& terms) {
  std::vector<Span> uses;
  for (const Acquire* a : lock.granted) {
    uses.push_back({std::min(a->store_granted, a->returned), std::max(a->returned, a->valid_end)});
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const Span& a, const Span& b) { return a.from < b.from; });
  uses.push_back({terms.ended, terms.ended});

  std::vector<Span> gaps;
  Time idle_since = terms.last_fault;
  for (const auto& [from, to] : uses) {
    if (from > later(idle_since, terms.served_within)) gaps.push_back({idle_since, from});
    idle_since = std::max(idle_since, to);
  }
  return gaps;
}

// The part of a wait that was spent before an idle lock for longer than allowed, if there is one.
// Only the first gap of the wait can be cut short by its beginning and only the last by its end, so
// the first two decide.
const Span* idle_wait(const std::vector<Span>& gaps, Time from, Time to, Time served_within) {
  auto gap =
      std::partition_point(gaps.begin(), gaps.end(), [&](const Span& g) { return g.to <= from; });
  for (int i = 0; i < 2 && gap != gaps.end(); ++i, ++gap) {
    if (std::min(gap->to, to) > later(std::max(gap->from, from), served_within)) return &*gap;
  }
  return nullptr;
}

// A wait without limit ends with the lock, unless it is cancelled or a fault is to blame.
void check_unlimited(const Acquire& a, const Terms& terms, Findings& found) {
  const Time healed = later(terms.last_fault, terms.served_within);
  switch (a.outcome) {
    case Outcome::cancelled:
      return;
    case Outcome::pending:
      return found.violated(Rule::served, a, " invoked at ", At{a.invoked},
                            " without a limit still waits at the end, ", At{terms.ended});
    case Outcome::busy:
    case Outcome::timed_out:
      return found.violated(Rule::served, a, " invoked at ", At{a.invoked},
                            " without a limit gave up at ", At{a.returned}, ": ",
                            to_word(a.outcome));
    case Outcome::unknown:
    case Outcome::unavailable:
    case Outcome::other:
      if (a.returned <= healed) return;
      return found.violated(Rule::served, a, " invoked at ", At{a.invoked},
                            " without a limit failed at ", At{a.returned}, ", after healing by ",
                            At{healed}, ": ", to_word(a.outcome));
    case Outcome::granted:
      if (a.returned <= terms.served_by) return;
      return found.violated(Rule::served, a, " invoked at ", At{a.invoked}, " was served at ",
                            At{a.returned}, ", later than ", At{terms.served_by});
  }
}

// The claim's time of grant as far as the order of grants needs it. An unknown time is bounded by
// the return; for a hold that was valid that is exact enough, since no later grant was made before
// it ended.
Time granted_at(const Acquire& a) { return std::min(a.store_granted, a.returned); }
bool grant_is_placed(const Acquire& a) { return a.store_granted != kNever || was_valid(a); }

}  // namespace

void check_served(const Lock& lock, const Terms& terms, Findings& found) {
  const auto gaps = long_gaps(lock, terms);
  for (const Acquire* a : lock.acquires) {
    if (a->crashed) continue;
    found.examined(Rule::served);
    const Time end = std::min(a->returned, std::max(terms.ended, a->invoked));
    if (a->wait_limit == kNever) {
      check_unlimited(*a, terms, found);
    } else if (end > later(a->wait_limit, terms.slack)) {
      found.violated(Rule::served, *a, " waited until ", At{end}, ", its limit was ",
                     At{a->wait_limit});
    }
    // An exchange whose old hold has ended waits for nothing.
    if (a->outcome == Outcome::cancelled || a->replaces != 0) continue;
    if (const Span* gap = idle_wait(gaps, a->invoked, end, terms.served_within)) {
      found.violated(Rule::served, *a, " waited from ", At{a->invoked}, " to ", At{end},
                     " although nobody had it from ", At{gap->from}, " to ", At{gap->to});
    }
  }
}

void check_fifo(const Lock& lock, Findings& found) {
  std::vector<const Acquire*> by_invocation, by_line;
  for (const Acquire* a : lock.granted) {
    if (a->order != Order::fifo) continue;
    by_invocation.push_back(a);
    if (a->lined_up != kNever && !a->lost_place && grant_is_placed(*a)) by_line.push_back(a);
  }
  std::stable_sort(by_invocation.begin(), by_invocation.end(),
                   [](auto* a, auto* b) { return a->invoked < b->invoked; });
  std::stable_sort(by_line.begin(), by_line.end(),
                   [](auto* a, auto* b) { return a->lined_up < b->lined_up; });

  const Acquire* last_served = nullptr;  // of those in line before
  auto next = by_line.begin();
  for (const Acquire* a : by_invocation) {
    for (; next != by_line.end() && (*next)->lined_up < a->invoked; ++next) {
      if (!last_served || granted_at(**next) > granted_at(*last_served)) last_served = *next;
    }
    if (!last_served) continue;
    found.examined(Rule::fifo);
    if (granted_at(*a) < granted_at(*last_served)) {
      found.violated(Rule::fifo, *a, " invoked at ", At{a->invoked}, " and granted at ",
                     At{granted_at(*a)}, " overtook ", *last_served, " in line since ",
                     At{last_served->lined_up}, " and granted at ", At{granted_at(*last_served)});
    }
  }
}

}  // namespace holdfast::check
