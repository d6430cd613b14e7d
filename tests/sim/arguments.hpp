// What the user of holdfast-sim wants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "selection.hpp"

namespace holdfast::sim {

struct Arguments {
  std::optional<std::uint64_t> seeds;
  std::optional<std::uint64_t> first;  // none: one by chance
  std::optional<double> hours;
  unsigned jobs = 1;

  std::optional<std::uint64_t> one;
  Selection only;
  bool trace = false;
  bool minimise = false;
  std::string timeline;  // "text" or a file

  bool all_bugs = false;
  std::string bug;
  bool help = false;
};

extern const char* const kHelp;

std::optional<Arguments> parse(int argc, const char* const* argv);

}  // namespace holdfast::sim
