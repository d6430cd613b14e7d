#include "minimise.hpp"

#include <sstream>
#include <vector>

namespace holdfast::sim {

namespace {

// What was really run: a caller that never came to its later rounds, a fault that never came up.
Selection all_of(const Verdict& verdict, std::uint64_t throw_of_dice = 0) {
  Selection all{std::set<OpName>(verdict.ops.begin(), verdict.ops.end()),
                std::set<std::uint64_t>{}};
  for (const Strike& each : verdict.strikes) all.faults->insert(each.number);
  all.throw_of_dice = throw_of_dice;
  return all;
}

class Search {
 public:
  Search(std::uint64_t seed, const StillShows& still_shows, Minimum& best)
      : seed_(seed), still_shows_(still_shows), best_(best) {}

  bool accept(const Selection& only) {
    auto verdict = shown_by(only);
    if (!verdict) return false;
    best_.only = only;
    best_.verdict = *std::move(verdict);
    return true;
  }

  void reduce() {
    for (bool smaller = true; smaller;) {
      const bool fewer_faults = reduce(&Selection::faults);
      const bool fewer_ops = reduce(&Selection::ops);
      smaller = fewer_faults || fewer_ops;
    }
  }

  // What is left may hang together by chance alone: a caller without its first round does the others
  // at other moments. So the dice are thrown again for one operation fewer, with faults as they come.
  void throw_again() {
    std::uint64_t dice = 0;
    while (best_.only.ops->size() > kFew && dice < kThrows && events_ < kEvents) {
      const std::vector<OpName> ops(best_.only.ops->begin(), best_.only.ops->end());
      Selection fewer{best_.only.ops, std::nullopt, ++dice};
      fewer.ops->erase(ops[dice % ops.size()]);
      auto verdict = shown_by(fewer);
      if (!verdict) continue;
      const Selection all = all_of(*verdict, dice);
      if (accept(all)) reduce();
    }
  }

  // Leaves out as many as it can of one kind of things. True if it was any.
  template <class Item>
  bool reduce(std::optional<std::set<Item>> Selection::*kind) {
    const std::size_t before = (best_.only.*kind)->size();
    for (std::size_t length = before; length > 0; length /= 2) {
      // From the end: what came after the violation goes first.
      for (std::size_t end = (best_.only.*kind)->size(); end > 0;) {
        const std::size_t begin = end > length ? end - length : 0;
        const std::vector<Item> items((best_.only.*kind)->begin(), (best_.only.*kind)->end());
        Selection fewer = best_.only;
        for (std::size_t i = begin; i < end; ++i) (fewer.*kind)->erase(items[i]);
        accept(fewer);
        end = begin;
      }
    }
    return (best_.only.*kind)->size() < before;
  }

 private:
  static constexpr std::size_t kFew = 2;
  static constexpr std::uint64_t kThrows = 4000;
  static constexpr std::uint64_t kEvents = 50'000'000;  // half a minute

  std::optional<Verdict> shown_by(const Selection& only) {
    ++best_.tried;
    Verdict verdict = run_schedule(seed_, nullptr, only);
    events_ += verdict.events;
    return still_shows_(verdict) ? std::optional(std::move(verdict)) : std::nullopt;
  }

  std::uint64_t seed_;
  const StillShows& still_shows_;
  Minimum& best_;
  std::uint64_t events_ = 0;
};

}  // namespace

std::optional<Minimum> minimise(std::uint64_t seed, const StillShows& still_shows) {
  Minimum best;
  Search search(seed, still_shows, best);
  if (!search.accept({})) return std::nullopt;
  const Selection all = all_of(best.verdict);
  best.ops_before = all.ops->size();
  best.faults_before = all.faults->size();
  // Leaving out may change what the rest does, and so lose it: then there is nothing smaller.
  if (!search.accept(all)) return best;
  search.reduce();
  search.throw_again();
  return best;
}

StillShows violates(check::Rule rule) {
  return [rule](const Verdict& verdict) { return verdict.report.tally(rule).violated > 0; };
}

std::string to_text(const Minimum& minimum, const std::string& program) {
  std::ostringstream out;
  const Verdict& verdict = minimum.verdict;
  out << "seed " << verdict.plan.seed << ": " << verdict.ops.size() << " of " << minimum.ops_before
      << " operations and " << verdict.strikes.size() << " of " << minimum.faults_before
      << " faults are left, after " << minimum.tried << " schedules\n\noperations\n";
  for (const OpName& each : verdict.ops) out << "  " << to_text(each) << "\n";
  out << "faults\n";
  for (const Strike& each : verdict.strikes) {
    out << "  " << each.number << "  " << name_of(each.fault);
    if (each.client != check::kStoreLane) out << " of client " << each.client;
    out << " at " << check::axis_text(each.at) << "\n";
  }
  out << "\n" << program << " --seed " << verdict.plan.seed;
  if (minimum.only.throw_of_dice != 0) out << " --dice " << minimum.only.throw_of_dice;
  if (minimum.only.ops) out << " --ops " << to_text(*minimum.only.ops);
  if (minimum.only.faults) out << " --faults " << to_text(*minimum.only.faults);
  out << " --trace\n";
  return out.str();
}

}  // namespace holdfast::sim
