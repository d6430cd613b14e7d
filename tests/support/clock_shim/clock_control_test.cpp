#include "support/clock_shim/clock_control.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/effort.hpp"

namespace holdfast::test {
namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;

TEST(ClockChange, IsNoneByItself) { EXPECT_EQ(ClockChange{}.ahead_at(5 * kHour), 0); }

TEST(ClockChange, StepsAndRunsFasterOrSlower) {
  EXPECT_EQ((ClockChange{.ahead_ns = -7}).ahead_at(kHour), -7);
  EXPECT_EQ(
      (ClockChange{.ahead_ns = 7, .faster_ppm = 10'000, .anchor_ns = kHour}).ahead_at(2 * kHour),
      7 + kHour / 100);
  EXPECT_EQ((ClockChange{.ahead_ns = 0, .faster_ppm = -1'000'000, .anchor_ns = kHour})
                .ahead_at(3 * kHour),
            -2 * kHour);
  // A hundredfold, for a day.
  EXPECT_EQ(
      (ClockChange{.ahead_ns = 0, .faster_ppm = 99'000'000, .anchor_ns = 0}).ahead_at(24 * kHour),
      99 * 24 * kHour);
}

TEST(ClockControl, IsNeverSeenHalfChanged) {
  static ClockControl control;
  const int rounds = kSanitized ? 10'000 : 200'000;
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= rounds; ++i) {
      control.set(ShimClock::wall, {.ahead_ns = i, .faster_ppm = i, .anchor_ns = i});
    }
  });
  for (std::int64_t last = 0; last < rounds;) {
    const ClockChange seen = control.get(ShimClock::wall);
    ASSERT_TRUE(seen.ahead_ns == seen.faster_ppm && seen.faster_ppm == seen.anchor_ns);
    ASSERT_GE(seen.ahead_ns, last);
    last = seen.ahead_ns;
  }
  writer.join();
  EXPECT_EQ(control.get(ShimClock::steady).ahead_ns, 0);
}

}  // namespace
}  // namespace holdfast::test
