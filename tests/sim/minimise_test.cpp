#include "minimise.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

// A store whose clock is set forward gives a lock away that somebody holds: this breaks exclusion with
// the best of engines, and so serves as something to look for.
bool shows_two_holders(const Verdict& verdict) {
  return verdict.report.tally(check::Rule::exclusion).excused > 0;
}

std::uint64_t seed_with_two_holders(std::uint64_t from) {
  for (std::uint64_t seed = from;; ++seed) {
    const Plan plan = Plan::from_seed(seed);
    if (plan.broken_premise() != Fault::store_step || plan.locks != Plan::Locks::mutexes) continue;
    if (shows_two_holders(run_schedule(seed, nullptr))) return seed;
  }
}

TEST(Minimise, LeavesTheStepOfTheClockAndFewOperations) {
  std::uint64_t seed = 0;
  for (int i = 0; i < 3; ++i) {
    seed = seed_with_two_holders(seed + 1);
    const auto minimum = minimise(seed, shows_two_holders);
    ASSERT_TRUE(minimum) << "seed " << seed;
    EXPECT_TRUE(shows_two_holders(minimum->verdict)) << "seed " << seed;
    EXPECT_LE(minimum->verdict.ops.size(), 3U) << to_text(*minimum, "holdfast-sim");
    EXPECT_LE(minimum->verdict.strikes.size(), 4U) << to_text(*minimum, "holdfast-sim");
    EXPECT_GT(minimum->faults_before, minimum->verdict.strikes.size());
    EXPECT_GT(minimum->verdict.faults[Fault::store_step].hits, 0U);
  }
}

TEST(Minimise, WhatItLeftCanBeRunAgain) {
  const std::uint64_t seed = seed_with_two_holders(1);
  const auto minimum = minimise(seed, shows_two_holders);
  ASSERT_TRUE(minimum);
  const Selection& only = minimum->only;
  const auto ops = parse_ops(to_text(*only.ops));
  const auto faults = parse_faults(to_text(*only.faults));
  ASSERT_TRUE(ops && faults);
  const Verdict again = run_schedule(seed, nullptr, {ops, faults, only.throw_of_dice});
  EXPECT_EQ(check::to_text(again.report), check::to_text(minimum->verdict.report));
  EXPECT_EQ(again.events, minimum->verdict.events);
}

TEST(Minimise, HasNothingToSayAboutAGoodSchedule) {
  EXPECT_FALSE(minimise(1, violates(check::Rule::exclusion)));
}

TEST(Selection, IsReadAsItIsWritten) {
  EXPECT_EQ(to_text(std::set<OpName>{{2, 1, 3}, {1, 1, 1}}), "1.1.1,2.1.3");
  EXPECT_EQ(parse_ops("1.1.1,2.1.3"), (std::set<OpName>{{1, 1, 1}, {2, 1, 3}}));
  EXPECT_EQ(to_text(std::set<std::uint64_t>{}), "none");
  EXPECT_EQ(parse_faults("none"), std::set<std::uint64_t>{});
  EXPECT_EQ(parse_faults("17,4"), (std::set<std::uint64_t>{4, 17}));
  for (const char* bad : {"", "1.1", "1.1.x", "1.1.1,", "1.1.1.1"}) EXPECT_FALSE(parse_ops(bad));
  for (const char* bad : {"", "x", "1,", "-1"}) EXPECT_FALSE(parse_faults(bad));
}

// What is left out changes nothing but itself: all of it is the schedule as it was.
TEST(Selection, OfEverythingIsTheScheduleItself) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Verdict whole = run_schedule(seed, nullptr);
    Selection all{std::set<OpName>(whole.ops.begin(), whole.ops.end()), std::set<std::uint64_t>{}};
    for (const Strike& each : whole.strikes) all.faults->insert(each.number);
    EXPECT_EQ(run_schedule(seed, nullptr, all).events, whole.events) << "seed " << seed;
  }
}

}  // namespace
}  // namespace holdfast::sim
