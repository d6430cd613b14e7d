#include "cli/run/waiting_line.hpp"

#include "cli/inspect/lock_state.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/utf8.hpp"
#include "cli/text/wall_text.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

std::string ordinal(std::size_t number) {
  const std::size_t tens = number % 100;
  const char* ending = "th";
  if (tens < 11 || tens > 13) {
    if (number % 10 == 1) ending = "st";
    if (number % 10 == 2) ending = "nd";
    if (number % 10 == 3) ending = "rd";
  }
  return std::to_string(number) + ending;
}

std::string waiting_line(const Wait& wait, const Sight& sight, TimePoint now, WallTime wall,
                         bool unicode) {
  const std::string dot = unicode ? " \u00B7 " : " - ";
  std::string line = (unicode ? "\u23F3 " : "waiting for ") + shown(wait.name) + "  ";
  if (const auto place = sight.place()) {
    line += ordinal(place->number) + " of " + std::to_string(place->of) + dot;
  }
  if (const auto& holder = sight.holder()) {
    line += "held by " + describe(holder->record);
    if (tells_since(holder->record)) {
      line += " for " + duration_text(age_of(holder->record.since, wall));
    }
    line += dot;
    line += "lease " + duration_text(sight.lease_left(now)) + " left";
    if (holder->revoked) line += ", revoked";
    if (sight.renewed_ago(now)) line += ", renewing";
    line += dot;
    if (!holder->record.reason.empty()) line += "\"" + shown(holder->record.reason) + "\"" + dot;
  } else if (sight.anything()) {
    line += "nobody holds it at the moment" + dot;
  }
  line += "waited " + clock_text(wait.waited);
  if (wait.limit != kForever) line += " of " + clock_text(wait.limit);
  return line;
}

std::string cut_to(std::string text, std::size_t columns, bool unicode) {
  if (columns == 0 || width_of(text) <= columns) return text;
  const std::string_view ending = unicode ? "\u2026" : ".";
  std::size_t bytes = 0;
  for (std::size_t column = 0; column + 1 < columns; ++column) {
    const Character next = first_character(std::string_view(text).substr(bytes));
    bytes += next.bytes == 0 ? 1 : next.bytes;
  }
  return text.erase(bytes).append(ending);
}

Duration next_line_after(Duration waited) {
  Duration next = 1s;
  while (next <= waited) next = next < 10s ? 10s : next < 1min ? 1min : next * 2;
  return next;
}

}  // namespace holdfast::cli
