#include "checker/checker.hpp"

#include <algorithm>
#include <ostream>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

constexpr std::uint64_t kShown = 10;  // violations of one rule that to_text shows

void count_figures(const History& history, Findings& found) {
  for (const Acquire& acquire : history.acquires) {
    if (acquire.outcome != Outcome::granted) continue;
    ++(is_store_grant(acquire) ? found.figures().grants : found.figures().hand_offs);
  }
  found.figures().renewals = history.renewals.size();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, At at) {
  return at.time == kNever ? out << "never" : out << at.time;
}

std::ostream& operator<<(std::ostream& out, const Acquire& acquire) {
  out << "client " << acquire.client << " op " << acquire.op << " lock "
      << encode_name(acquire.name);
  if (acquire.outcome == Outcome::granted) out << " fence " << acquire.fence;
  return out;
}

std::string_view name_of(Rule rule) {
  constexpr std::array<std::string_view, kRules> kNames{
      "C0 form",           "C1 exclusion",       "C2 fence order", "C3 fence once",
      "C4 no lost update", "C5 invalid in time", "C6 served",      "C7 no ghosts",
      "C8 fifo",           "C9 renewals",        "C10 verified"};
  return kNames.at(static_cast<std::size_t>(rule));
}

bool counts_under(const Assumptions& assumptions, Rule rule) {
  switch (rule) {
    case Rule::form:
    case Rule::fence_once:
    case Rule::renewals:
    case Rule::verified:
      return true;
    case Rule::fence_order:
    case Rule::no_lost_update:
      return assumptions.store_keeps_data || !assumptions.plain_counter;
    case Rule::exclusion:
    case Rule::invalid_in_time:
    case Rule::served:
    case Rule::no_ghosts:
    case Rule::fifo:
      return assumptions.timing && assumptions.store_keeps_data;
  }
  return true;
}

bool Report::ok() const {
  return std::all_of(tallies.begin(), tallies.end(),
                     [](const Tally& t) { return t.violated == 0; });
}

Report check(const History& history) {
  Findings found(history.terms.assumptions);
  check_form(history, found);
  if (found.any()) return found.take();

  count_figures(history, found);
  const auto locks = locks_of(history);
  for (const Lock& lock : locks) {
    check_exclusion(lock, found);
    check_fence_order(lock, found);
    check_fence_once(lock, found);
    check_invalid_in_time(lock, found);
    check_served(lock, history.terms, found);
    check_fifo(lock, found);
  }
  check_no_lost_update(history, found);
  check_no_ghosts(history, locks, found);
  check_renewals(history, found);
  check_verified(history, locks, found);
  return found.take();
}

std::string to_text(const Report& report) {
  std::ostringstream text;
  std::array<std::ostringstream, kRules> shown;
  std::array<std::uint64_t, kRules> number{};
  for (const Violation& violation : report.violations) {
    const auto rule = static_cast<std::size_t>(violation.rule);
    if (++number.at(rule) > kShown) continue;
    shown.at(rule) << "  " << (violation.counts ? "" : "(does not count) ") << violation.text
                   << '\n';
  }
  for (std::size_t rule = 0; rule < kRules; ++rule) {
    const Tally& tally = report.tallies.at(rule);
    const std::uint64_t all = tally.violated + tally.excused;
    text << name_of(static_cast<Rule>(rule)) << ": examined " << tally.examined << ", violated "
         << tally.violated << ", excused " << tally.excused << '\n'
         << shown.at(rule).str();
    if (all > kShown) text << "  and " << all - kShown << " more\n";
  }
  const Figures& f = report.figures;
  text << "grants " << f.grants << ", hand-offs " << f.hand_offs << ", renewals " << f.renewals
       << ", refused stale writes " << f.refused_stale_writes
       << ", updates lost in the unfenced twin " << f.unfenced_lost_updates << '\n';
  return text.str();
}

}  // namespace holdfast::check
