#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace holdfast::fuzz {

// Inputs like those of a corpus, each with a few random changes: bits, bytes, digits, pieces taken
// out, doubled or brought in from another one.
class Mutations {
 public:
  Mutations(std::span<const std::string> corpus, std::uint64_t seed)
      : corpus_(corpus), random_(seed) {}

  std::string next();

 private:
  static constexpr std::size_t kLongest = 4096;

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  void change(std::string&);

  std::span<const std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace holdfast::fuzz
