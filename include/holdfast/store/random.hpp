#pragma once

#include <cstdint>

namespace holdfast::store {

// Where chance comes from: the kernel in production, a seed in a simulation.
//
// Threads      From any thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  // A number in [0, bound); 0 if bound is 0. Not a std distribution: those differ between libraries,
  // and a seed has to give the same schedule everywhere.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
};

}  // namespace holdfast::store
