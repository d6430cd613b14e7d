#include "holdfast/time.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

// F133: saturating arithmetic. As constants, so that an overflow would not even compile.
constexpr TimePoint kTen{10s};

static_assert(later(kTen, 5s) == TimePoint(15s));
static_assert(later(kTen, 0s) == kTen);
static_assert(later(kTen, -5s) == kTen);
static_assert(later(kTen, Duration::min()) == kTen);
static_assert(later(kTen, kForever) == kNever);
static_assert(later(kNever, kForever) == kNever);
static_assert(later(kNever, 1ns) == kNever);
static_assert(later(kNever - 1ns, 1ns) == kNever);
static_assert(later(kNever - 2ns, 1ns) == kNever - 1ns);
static_assert(later(TimePoint{}, kForever) == kNever);
static_assert(later(TimePoint::min(), 1ns) == TimePoint::min() + 1ns);

static_assert(left_until(TimePoint(15s), kTen) == 5s);
static_assert(left_until(kTen, kTen) == 0s);
static_assert(left_until(kTen, TimePoint(15s)) == 0s);
static_assert(left_until(kNever, kTen) == kForever);
static_assert(left_until(kNever, kNever) == kForever);
static_assert(left_until(TimePoint{}, kNever) == 0s);
static_assert(left_until(TimePoint::min(), kNever) == 0s);

TEST(Time, StopsAtNeverInsteadOfWrapping_F133) {
  TimePoint end = kTen;
  for (int i = 0; i < 300; ++i) end = later(end, 24h * 365);
  EXPECT_EQ(end, kNever);
  EXPECT_EQ(left_until(end, kTen), kForever);
}

TEST(Time, GoesThereAndBack) {
  for (const Duration length :
       {Duration(1ns), Duration(100ms), Duration(24h), kForever - 10s - 1ns}) {
    EXPECT_EQ(left_until(later(kTen, length), kTen), length);
  }
}

}  // namespace
}  // namespace holdfast
