// The sweeps against the plain definition of their rules, which looks at every pair; and their
// speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "checker/checker.hpp"

namespace holdfast::check {
namespace {

using Ops = std::set<std::uint64_t>;  // the acquires that broke a rule; op numbers are unique here
using Pair = std::function<bool(const Acquire& a, const Acquire& b)>;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  Time upto(Time most) {
    return static_cast<Time>(engine_() % static_cast<std::uint32_t>(most + 1));
  }
  bool once_in(Time n) { return upto(n - 1) == 0; }

 private:
  std::mt19937 engine_;
};

Acquire random_acquire(Dice& dice, std::uint64_t op) {
  Acquire a{.client = static_cast<std::uint32_t>(dice.upto(2)),
            .op = op,
            .name = dice.once_in(4) ? "b" : "a"};
  a.owner = op;
  a.order = dice.once_in(3) ? Order::any : Order::fifo;
  a.invoked = dice.upto(40);
  if (!dice.once_in(3)) a.lined_up = a.invoked + dice.upto(5);
  a.lost_place = dice.once_in(5);
  if (dice.once_in(6)) return a;
  a.returned = a.invoked + dice.upto(12);
  if (!dice.once_in(3)) a.store_granted = a.invoked + dice.upto(a.returned - a.invoked);
  a.outcome = dice.once_in(6) ? Outcome::cancelled : Outcome::granted;
  a.valid_end = dice.once_in(12) ? kNever : a.invoked + dice.upto(20);
  a.crashed = a.valid_end != kNever && dice.once_in(10);
  a.fence = a.grant_fence =
      op * 3 - static_cast<std::uint64_t>(dice.upto(2));  // unique, mostly in order
  if (dice.once_in(4)) a.fence = a.grant_fence = 3 * static_cast<std::uint64_t>(dice.upto(12)) + 40;
  return a;
}

// Times are small numbers, so that ties and overlaps abound.
History random_history(Dice& dice) {
  History history;
  const auto size = static_cast<std::uint64_t>(dice.upto(12));
  for (std::uint64_t op = 1; op <= size; ++op) {
    Acquire a = random_acquire(dice, op);
    // Some become hand-offs of an earlier store grant.
    if (!history.acquires.empty() && dice.once_in(3)) {
      const Acquire& other = history.acquires[static_cast<std::size_t>(
          dice.upto(static_cast<Time>(history.acquires.size()) - 1))];
      a.client = other.client;
      a.name = other.name;
      a.grant_fence = other.grant_fence;
      a.fence = a.grant_fence + 1 + static_cast<std::uint64_t>(dice.upto(3));
      a.store_granted = kNever;
    }
    a.spare = 4;
    // One client does not get one store grant twice: which of the two a hand-off came from would be
    // anybody's guess.
    const bool again =
        std::any_of(history.acquires.begin(), history.acquires.end(), [&](const Acquire& b) {
          return a.fence == a.grant_fence && b.name == a.name && b.client == a.client &&
                 b.grant_fence == a.grant_fence;
        });
    if (!again) history.acquires.push_back(a);
  }
  history.terms = {.ended = 60, .last_fault = dice.upto(20), .served_within = dice.upto(8)};
  return history;
}

Ops found(const Report& report, Rule rule, const std::string& saying) {
  Ops ops;
  for (const Violation& v : report.violations) {
    if (v.rule == rule && v.text.find(saying) != std::string::npos) ops.insert(v.op);
  }
  return ops;
}

// The second of every pair of granted acquires of one name that is as it must not be.
Ops by_pairs(const History& history, const Pair& forbidden) {
  Ops ops;
  for (const Acquire& a : history.acquires) {
    for (const Acquire& b : history.acquires) {
      const bool granted = a.outcome == Outcome::granted && b.outcome == Outcome::granted;
      if (a.op != b.op && granted && a.name == b.name && forbidden(a, b)) ops.insert(b.op);
    }
  }
  return ops;
}

bool same_grant(const Acquire& a, const Acquire& b) {
  return a.client == b.client && a.name == b.name && a.grant_fence == b.grant_fence;
}

Time first_return(const History& history, const Acquire& of) {
  Time first = kNever;
  for (const Acquire& a : history.acquires) {
    if (a.outcome == Outcome::granted && same_grant(a, of)) first = std::min(first, a.returned);
  }
  return first;
}

template <class Compare>
void for_random_histories(Compare compare) {
  std::size_t broken = 0;
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    Dice dice(seed);
    const History history = random_history(dice);
    const Report report = check(history);
    ASSERT_EQ(report.tally(Rule::form).violated, 0u) << to_text(report);
    const auto [swept, paired] = compare(history, report);
    ASSERT_EQ(swept, paired) << "seed " << seed << "\n" << to_text(report);
    broken += swept.size();
  }
  EXPECT_GT(broken, 100u) << "the histories are too tame to tell anything";
}

struct Both {
  Ops swept, paired;
};

TEST(CheckerSweeps, FindTheSameOverlapsAsAllPairs) {
  for_random_histories([](const History& history, const Report& report) {
    return Both{found(report, Rule::exclusion, ""),
                by_pairs(history, [](const Acquire& a, const Acquire& b) {
                  const bool a_first =
                      std::tie(a.returned, a.fence, a.op) < std::tie(b.returned, b.fence, b.op);
                  return a_first && a.valid_end > a.returned && b.valid_end > b.returned &&
                         b.returned < a.valid_end;
                })};
  });
}

TEST(CheckerSweeps, FindTheSameFencesOutOfOrderAsAllPairs) {
  for_random_histories([](const History& history, const Report& report) {
    return Both{found(report, Rule::fence_order, " invoked at "),
                by_pairs(history, [&](const Acquire& a, const Acquire& b) {
                  return b.fence == b.grant_fence && first_return(history, a) < b.invoked &&
                         a.fence >= b.fence;
                })};
  });
}

TEST(CheckerSweeps, FindTheSameHandOffsOutOfOrderAsAllPairs) {
  for_random_histories([](const History& history, const Report& report) {
    return Both{found(report, Rule::fence_order, "handed out before"),
                by_pairs(history, [](const Acquire& a, const Acquire& b) {
                  const bool tie = a.returned == b.returned && a.fence == b.fence && a.op < b.op;
                  return same_grant(a, b) && a.fence >= b.fence && (a.returned < b.returned || tie);
                })};
  });
}

TEST(CheckerSweeps, FindTheSameHoldsValidTooLongAsAllPairs) {
  // One hold per grant here, so that each pair of acquires is a pair of grants.
  const auto by = [](const Acquire& a) { return std::min(a.store_granted, a.returned); };
  for_random_histories([&](History history, const Report&) {
    std::erase_if(history.acquires, [](const Acquire& a) { return a.fence != a.grant_fence; });
    return Both{found(check(history), Rule::invalid_in_time, ""),
                by_pairs(history, [&](const Acquire& a, const Acquire& b) {
                  const bool b_tells = b.store_granted != kNever || b.valid_end > b.returned;
                  const bool a_first =
                      std::tuple(by(a), a.fence, a.client) < std::tuple(by(b), b.fence, b.client);
                  return b_tells && a_first && a.valid_end > a.returned && a.valid_end > by(b);
                })};
  });
}

TEST(CheckerSweeps, FindTheSameOvertakingAsAllPairs) {
  const auto by = [](const Acquire& a) { return std::min(a.store_granted, a.returned); };
  for_random_histories([&](const History& history, const Report& report) {
    return Both{found(report, Rule::fifo, ""),
                by_pairs(history, [&](const Acquire& a, const Acquire& b) {
                  const bool a_tells = a.store_granted != kNever || a.valid_end > a.returned;
                  return a.order == Order::fifo && b.order == Order::fifo && a_tells &&
                         !a.lost_place && a.lined_up < b.invoked && by(a) > by(b);
                })};
  });
}

TEST(CheckerSweeps, FindTheSameIdleLocksAsCountingEveryMoment) {
  for_random_histories([](const History& history, const Report& report) {
    const Terms& terms = history.terms;
    Ops idle;
    for (const Acquire& waiter : history.acquires) {
      if (waiter.crashed || waiter.outcome == Outcome::cancelled) continue;
      Time run = 0;
      for (Time t = std::max(waiter.invoked, terms.last_fault);
           t < std::min(waiter.returned, terms.ended); ++t) {
        // Is the lock anybody's in [t, t + 1), or did somebody just pass through at t?
        bool passed = false, used = false;
        for (const Acquire& a : history.acquires) {
          if (a.outcome != Outcome::granted || a.name != waiter.name) continue;
          const Time from = std::min(a.store_granted, a.returned),
                     to = std::max(a.returned, a.valid_end);
          used |= from <= t && t < to;
          passed |= from == t;
        }
        if (passed) run = 0;
        run = used ? 0 : run + 1;
        if (run > terms.served_within) idle.insert(waiter.op);
      }
    }
    return Both{found(report, Rule::served, "nobody had it"), idle};
  });
}

// Two hundred thousand acquires of one lock, each with a renewal, a release and an update. Every
// fourth is a hand-off.
History long_history() {
  History history;
  constexpr std::uint64_t kSize = 200'000;
  for (std::uint64_t i = 0; i < kSize; ++i) {
    const Time start = static_cast<Time>(i) * 100;
    const std::uint64_t fence = i + 1, grant_fence = fence - i % 4 / 3;
    const auto client = static_cast<std::uint32_t>(grant_fence % 50);
    history.acquires.push_back({.client = client,
                                .op = i,
                                .name = "jobs",
                                .owner = i,
                                .order = Order::fifo,
                                .invoked = std::max<Time>(start - 5000, 0),
                                .returned = start + 10,
                                .outcome = Outcome::granted,
                                .lined_up = std::max<Time>(start - 4990, 0),
                                .fence = fence,
                                .grant_fence = grant_fence,
                                .spare = i % 4 >= 2 ? 1u : 0u,
                                .sent = start,
                                .store_granted = fence == grant_fence ? start + 5 : kNever,
                                .valid_end = start + 90,
                                .released = start + 90});
    history.renewals.push_back({.client = client,
                                .owner = i,
                                .name = "jobs",
                                .grant_fence = fence,
                                .sent = start + 50,
                                .answered = start + 60,
                                .outcome = Renewed::renewed,
                                .lease_ns = 150});
    history.releases.push_back(
        {.client = client, .owner = i, .name = "jobs", .grant_fence = fence, .sent = start + 90});
    history.resource_ops.push_back({.client = client,
                                    .name = "jobs",
                                    .fence = fence,
                                    .at = start + 20,
                                    .write = true,
                                    .accepted = true,
                                    .fenced_value = i + 1,
                                    .twin_value = i + 1});
  }
  history.final_values = {{.name = "jobs", .fenced = kSize, .twin = kSize}};
  history.terms.served_within = 100;
  return history;
}

/// A sweep that compared every pair would take minutes even on a fast machine; n log n stays far
/// below this on a slow one, under a sanitizer, with every core taken.
constexpr std::chrono::seconds kGenerous{120};

TEST(CheckerSweeps, JudgeTwoHundredThousandAcquiresInSeconds) {
  const History history = long_history();
  const auto start = std::chrono::steady_clock::now();
  const Report report = check(history);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kGenerous);
  EXPECT_TRUE(report.violations.empty()) << to_text(report);
  EXPECT_EQ(report.figures.grants, 150'000u);
  EXPECT_EQ(report.figures.hand_offs, 50'000u);
}

TEST(CheckerSweeps, JudgeAHistoryInWhichEverythingIsWrongInSeconds) {
  History history = long_history();
  for (Acquire& a : history.acquires) {
    a.valid_end = kNever;
    a.released = kNever;
    a.grant_fence = a.fence = 7;
    a.store_granted = kNever;
  }
  const auto start = std::chrono::steady_clock::now();
  const Report report = check(history);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kGenerous);
  EXPECT_EQ(report.tally(Rule::exclusion).violated, 199'999u);
  EXPECT_EQ(report.tally(Rule::fence_once).violated, 199'999u);
  EXPECT_LE(report.violations.size(), kKept * kRules);
}

}  // namespace
}  // namespace holdfast::check
