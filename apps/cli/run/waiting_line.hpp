#pragma once

#include <cstddef>
#include <string>

#include "cli/run/sight.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// "1st", "2nd", "3rd", "11th"
std::string ordinal(std::size_t);

struct Wait {
  std::string name;
  Duration waited{};
  Duration limit = kForever;
};

// What somebody who waits is told, on one line without its end. Names and reasons are escaped.
std::string waiting_line(const Wait&, const Sight&, TimePoint now, WallTime wall, bool unicode);

// Cut to so many columns.
std::string cut_to(std::string text, std::size_t columns, bool unicode);

// When the next line is due where lines cannot be redrawn: after 1 s, 10 s, 1 min, then doubling.
Duration next_line_after(Duration waited);

}  // namespace holdfast::cli
