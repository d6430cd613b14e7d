#include "core/drift.hpp"

#include <gtest/gtest.h>

#include "holdfast/options.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kSent{1000s};

TEST(Drift, TakesOnePercentAndTwoMillisecondsOff_F022) {
  const Drift drift;
  EXPECT_EQ(drift.allowance(30s), 302ms);
  EXPECT_EQ(drift.allowance(100ms), 3ms);
  EXPECT_EQ(drift.allowance(0s), 2ms);
}

TEST(Drift, IsExactToTheNanosecondBelowAMillion) {
  const Drift drift{.ppm = 10'000, .constant = 0ns};
  EXPECT_EQ(drift.allowance(1'000'100ns), 10'001ns);
  EXPECT_EQ(drift.allowance(99ns), 0ns);
}

TEST(Drift, DoesNotOverflowAtTheLongestLeaseAndTenPercent_F133) {
  const Drift drift{.ppm = 100'000, .constant = 2ms};
  EXPECT_EQ(drift.allowance(kMaxLease), kMaxLease / 10 + 2ms);
  EXPECT_EQ(drift.valid_until(kSent, kMaxLease, kMaxLease), kSent + kMaxLease * 9 / 10 - 2ms);
}

TEST(Drift, CountsTheShorterOfWhatWasAskedAndGiven) {
  const Drift drift;
  EXPECT_EQ(drift.valid_until(kSent, 30s, 30s), kSent + 30s - 302ms);
  EXPECT_EQ(drift.valid_until(kSent, 30s, 10s), kSent + 10s - 102ms);
  EXPECT_EQ(drift.valid_until(kSent, 10s, 30s), kSent + 10s - 102ms);
  EXPECT_EQ(drift.valid_until(kSent, 10s, kForever), kSent + 10s - 102ms);
}

TEST(Drift, ALeaseShorterThanTheAllowanceIsOverBeforeItBegins) {
  EXPECT_LT(Drift{}.valid_until(kSent, 30s, 1ms), kSent);
  EXPECT_LT(Drift{}.valid_until(kSent, 30s, 0s), kSent);
}

}  // namespace
}  // namespace holdfast::core
