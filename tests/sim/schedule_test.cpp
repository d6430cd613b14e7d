#include "schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "many_seeds.hpp"
#include "plan.hpp"

namespace holdfast::sim {
namespace {

std::string trace_of(std::uint64_t seed) {
  std::ostringstream out;
  run_schedule(seed, &out);
  return out.str();
}

TEST(Schedule, TheSameSeedPrintsTheSameTraceTwice) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::string first = trace_of(seed);
    EXPECT_GT(first.size(), 200U) << "seed " << seed;
    EXPECT_EQ(first, trace_of(seed)) << "seed " << seed;
  }
}

TEST(Schedule, AnotherSeedPrintsAnotherTrace) { EXPECT_NE(trace_of(1), trace_of(2)); }

TEST(Schedule, LookingOnDoesNotChangeTheVerdict) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::ostringstream out;
    const Verdict watched = run_schedule(seed, &out);
    const Verdict alone = run_schedule(seed, nullptr);
    EXPECT_EQ(watched.events, alone.events) << "seed " << seed;
    EXPECT_EQ(check::to_text(watched.report), check::to_text(alone.report)) << "seed " << seed;
  }
}

TEST(Schedule, TheOrderOfSeedsAndTheNumberOfThreadsDoNotMatter) {
  const Summary one = run_seeds({.count = 60, .jobs = 1}, nullptr);
  const Summary many = run_seeds({.count = 60, .jobs = 4}, nullptr);
  EXPECT_EQ(one.text(), many.text());
  EXPECT_EQ(one.events, many.events);
}

TEST(Plan, ASmallShareOfSchedulesIsCalm) {
  int calm = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) calm += Plan::from_seed(seed).calm() ? 1 : 0;
  EXPECT_GT(calm, 50);
  EXPECT_LT(calm, 300);
}

TEST(Plan, EveryKindOfLockIsTriedOnBothFamiliesOfStores) {
  std::map<std::pair<Plan::Family, Plan::Locks>, int> plans;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Plan plan = Plan::from_seed(seed);
    ++plans[{plan.family, plan.locks}];
  }
  ASSERT_EQ(plans.size(), 6U);
  for (const auto& [sort, count] : plans) EXPECT_GE(count, 10);
}

TEST(Plan, APremiseIsBrokenInAFewSchedulesOnly) {
  std::map<std::optional<Fault>, int> plans;
  for (std::uint64_t seed = 1; seed <= 480; ++seed) {
    const Plan plan = Plan::from_seed(seed);
    for (const Fault fault : {Fault::store_step, Fault::amnesia, Fault::bad_rate}) {
      const bool may = fault == plan.broken_premise();
      EXPECT_EQ(plan.likelihood(fault) != 0, may && !plan.calm()) << "seed " << seed;
    }
    ++plans[plan.broken_premise()];
  }
  EXPECT_EQ(plans[std::nullopt], 390);
  for (const auto& [fault, count] : plans) EXPECT_GE(count, 20);
}

// What each broken premise costs, and what it does not.
TEST(Schedule, ABrokenPremiseBreaksExclusionButNotFences) {
  std::map<Fault, std::uint64_t> broken{
      {Fault::store_step, 0}, {Fault::amnesia, 0}, {Fault::bad_rate, 0}};
  const auto all_did_harm = [&] {
    return std::ranges::all_of(broken, [](const auto& each) { return each.second > 0; });
  };
  for (std::uint64_t seed = 1; seed <= 3000 && !all_did_harm(); ++seed) {
    const auto premise = Plan::from_seed(seed).broken_premise();
    if (!premise) continue;
    const Verdict verdict = run_schedule(seed, nullptr);
    EXPECT_TRUE(verdict.report.ok()) << "seed " << seed << "\n" << check::to_text(verdict.report);
    broken[*premise] += verdict.report.tally(check::Rule::exclusion).excused;
  }
  for (const auto& [fault, times] : broken) {
    EXPECT_GT(times, 0U) << name_of(fault) << " never did any harm";
  }
}

// Longer than one lease or session: whatever the faults were, nobody is left waiting or remembered.
TEST(Schedule, ASessionStoreKeepsEveryPromise) {
  for (std::uint64_t seed = 2; seed <= 300; seed += 3) {
    const Verdict verdict = run_schedule(seed, nullptr);
    ASSERT_EQ(verdict.plan.family, Plan::Family::session);
    EXPECT_TRUE(verdict.report.ok()) << "seed " << seed << "\n" << check::to_text(verdict.report);
  }
}

// Seeds that once showed a bug of ours, with what it was.
TEST(OldBugs, StayFixed) {
  const std::pair<std::uint64_t, const char*> seeds[] = {
      {624, "an answer to a renewal given up on started another beside the one in flight"},
      {1399, "a wake that came twice tried a lapsed offer again"},
      {11425, "a late attempt lined up the owner of a revoked hold"},
      {17454, "a renewal that outlived its release kept the lock for a lease"},
      {45883, "a single attempt left an unanswered one behind that had been revoked"},
      {62385, "a withdraw was given up although a late answer showed a grant"},
      {72750, "the model forgot a revoked hold, and blamed the client for it"},
      {81853, "an unlimited waiter inherited a claim that made one attempt only"},
      {123505, "the model's watches arrived after what was asked behind them"},
      {5027218,
       "a renewal that arrived twice, late and unheard of, outlasted the repeats of a release"},
      {5316132, "the same, while the client was stopped"},
      {7766998, "a withdraw was given up although a late answer had shown a grant while it waited"},
      {182223, "a question from before a hold lined it up again after its exchange"},
  };
  for (const auto& [seed, what] : seeds) {
    const Verdict verdict = run_schedule(seed, nullptr);
    EXPECT_TRUE(verdict.report.ok()) << "seed " << seed << ": " << what << "\n"
                                     << check::to_text(verdict.report);
  }
}

}  // namespace
}  // namespace holdfast::sim
