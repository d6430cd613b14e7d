#pragma once

#include <cstdint>

#include "holdfast/store/random.hpp"

namespace holdfast::test {

// Chance from a seed (SplitMix64): the same everywhere.
class SeededRandom final : public store::Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() override {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  bool chance(std::uint32_t percent) { return below(100) < percent; }
  std::int64_t between(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(to - from + 1)));
  }
  // Many short ones, few long ones.
  std::int64_t skewed(std::int64_t from, std::int64_t to) {
    const std::int64_t span = between(0, to - from);
    return from + (chance(70) ? span / 16 : span);
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::test
