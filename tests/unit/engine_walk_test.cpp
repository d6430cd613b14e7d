#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine_walk.hpp"

// The store of a walk keeps no promise, so nothing is said about exclusion; but whatever it answers, and
// however late, the probe finds everybody told once and nothing left in the engine.
namespace holdfast::core {
namespace {

TEST(EngineWalk, WhateverHappensEverybodyIsToldOnceAndNothingIsLeft) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    EngineProbe probe;
    std::vector<OpId> ops;
    for (int step = 0; step < 300; ++step) {
      probe.random.value = dice.roll(1'000'000'000);
      any_step(probe, dice, ops);
    }
  }
}

}  // namespace
}  // namespace holdfast::core
