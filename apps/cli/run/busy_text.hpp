#pragma once

#include <string>

#include "cli/run/sight.hpp"
#include "holdfast/error.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

struct BusyCase {
  std::string name;
  Duration wait{};  // what was asked for; 0: one attempt
  int exit_code = 0;
  const Sight* sight = nullptr;
  std::optional<Place> last_place;  // before we left the line
};

// Why there is no lock, who has it, and what can be done: several lines.
std::string busy_text(const BusyCase&, const Error&, TimePoint now, WallTime wall);

}  // namespace holdfast::cli
