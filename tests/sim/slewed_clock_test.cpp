#include "slewed_clock.hpp"

#include <gtest/gtest.h>

#include "world.hpp"

namespace holdfast::sim {
namespace {

SlewedClock any_clock(SeededRandom& random, int slews) {
  SlewedClock clock(random.between(0, millis(5000)), random.between(-5000, 5000));
  Time at = 0;
  for (int i = 0; i < slews; ++i) {
    at += random.between(1, millis(30'000));
    clock.slew(at, random.between(-100'000, 100'000));
  }
  return clock;
}

TEST(SlewedClock, ATimerIsNeverEarlyAndNeverLateByItsOwnClock) {
  SeededRandom random(7);
  for (int i = 0; i < 1000; ++i) {
    const SlewedClock clock = any_clock(random, i % 4);
    const Time wanted = clock.local(0) + random.between(1, millis(100'000));
    const Time at = clock.true_time(wanted);
    EXPECT_GE(clock.local(at), wanted);
    EXPECT_LT(clock.local(at - 1), wanted);
  }
}

TEST(SlewedClock, ItsRateChangesAndItNeverJumps) {
  SlewedClock clock(millis(500), 0);
  clock.slew(millis(1000), 10'000);
  clock.slew(millis(2000), -10'000);
  EXPECT_EQ(clock.local(millis(1000)), millis(1500));
  EXPECT_EQ(clock.local(millis(2000)), millis(2510));
  EXPECT_EQ(clock.local(millis(3000)), millis(3500));
  EXPECT_EQ(clock.true_time(millis(2510)), millis(2000));
}

TEST(SlewedClock, WhatItSaidBeforeTheWorldBeganIsThen) {
  EXPECT_EQ(SlewedClock(millis(500), 0).true_time(millis(10)), 0);
}

}  // namespace
}  // namespace holdfast::sim
