#include "torture/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace holdfast::torture {
namespace {

Ground usual() {
  return {.seed = 42,
          .ops = 10'000,
          .faults = 500,
          .workers = 4,
          .lease = millis(600),
          .disturbances = 2};
}

std::size_t how_many(const std::vector<PlannedFault>& plan, Fault fault) {
  return static_cast<std::size_t>(std::count_if(
      plan.begin(), plan.end(), [&](const PlannedFault& each) { return each.fault == fault; }));
}

TEST(TorturePlan, OfOneSeedIsTheSameEachTime) { EXPECT_EQ(plan_of(usual()), plan_of(usual())); }

TEST(TorturePlan, OfAnotherSeedIsAnother) {
  Ground other = usual();
  ++other.seed;
  EXPECT_NE(plan_of(usual()), plan_of(other));
}

TEST(TorturePlan, HasAsManyFaultsAsWantedInOrderAndLeavesTheEndAlone) {
  const auto plan = plan_of(usual());
  ASSERT_EQ(plan.size(), 500U);
  for (std::size_t i = 1; i < plan.size(); ++i) EXPECT_LE(plan[i - 1].at_op, plan[i].at_op);
  EXPECT_GT(plan.front().at_op, 0U);
  EXPECT_LT(plan.back().at_op, 9'000U);
}

TEST(TorturePlan, HasEveryKindAlsoIfItIsShort) {
  Ground few = usual();
  few.faults = kFaults;
  const auto plan = plan_of(few);
  for (std::size_t i = 0; i < kFaults; ++i) {
    EXPECT_EQ(how_many(plan, static_cast<Fault>(i)), 1U) << kFaultNames[i];
  }
}

TEST(TorturePlan, HasEachDisturbanceAlsoIfItIsShort) {
  Ground few = usual();
  few.disturbances = 7;
  few.faults = kFaults + few.disturbances;
  std::set<std::uint32_t> disturbances;
  for (const PlannedFault& each : plan_of(few)) {
    if (each.fault == Fault::store) disturbances.insert(each.which);
  }
  EXPECT_EQ(disturbances.size(), 7U);
}

TEST(TorturePlan, HasOnlyWhatTheStoreCanBear) {
  Ground ground = usual();
  ground.disturbances = 0;
  ground.can_kill = false;
  const auto plan = plan_of(ground);
  EXPECT_EQ(how_many(plan, Fault::store), 0U);
  EXPECT_EQ(how_many(plan, Fault::kill), 0U);
  EXPECT_EQ(plan.size(), 500U);
}

TEST(TorturePlan, PausesAreShorterOrLongerThanTheLease) {
  for (const PlannedFault& each : plan_of(usual())) {
    EXPECT_LT(each.victim, 4U);
    switch (each.fault) {
      case Fault::pause_short:
        EXPECT_LT(each.length, millis(600));
        break;
      case Fault::pause_long:
        EXPECT_GT(each.length, millis(600));
        break;
      case Fault::store:
        EXPECT_LT(each.which, 2U);
        break;
      default:
        break;
    }
  }
}

TEST(TorturePlan, EveryWorkerAndDisturbanceHasItsTurn) {
  std::set<std::uint32_t> victims, disturbances;
  for (const PlannedFault& each : plan_of(usual())) {
    victims.insert(each.victim);
    if (each.fault == Fault::store) disturbances.insert(each.which);
  }
  EXPECT_EQ(victims.size(), 4U);
  EXPECT_EQ(disturbances.size(), 2U);
}

TEST(TorturePlan, WithoutFaultsIsEmpty) {
  Ground ground = usual();
  ground.faults = 0;
  EXPECT_TRUE(plan_of(ground).empty());
}

}  // namespace
}  // namespace holdfast::torture
