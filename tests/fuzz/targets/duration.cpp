// Durations as people write them and as they are shown.
#include <chrono>
#include <string>

#include "cli/text/duration_text.hpp"
#include "core/explain.hpp"
#include "fuzz/input.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;

void check_text(Duration length) {
  const std::string text = cli::duration_text(length);
  for (const std::string& each : {text, cli::clock_text(length), core::short_text(length),
                                  std::to_string(cli::seconds_of(length))}) {
    require_safe(each);
    require(!each.empty() && each.size() < 40, "a duration is short");
  }
  const auto back = cli::parse_duration(text);
  require(back.has_value(), "what is shown can be read");
  require(cli::duration_text(*back) == text, "and is shown the same again");
  // Shown to a ten thousandth of it or the millisecond, and never longer than it is.
  const Duration whole = std::max(length, Duration::zero());
  require(*back <= whole && whole - *back < std::max<Duration>(1ms, whole / 10),
          "what is shown is what it is");
}

const Target kDuration("duration", [](std::string_view bytes) {
  if (const auto length = cli::parse_duration(bytes)) {
    require(*length >= Duration::zero(), "no duration is negative");
    check_text(*length);
  }
  Input input(bytes);
  check_text(Duration(input.number()));
});

// Three digits behind the point are exact in all units.
const Target kFraction("fraction", [](std::string_view bytes) {
  Input input(bytes);
  const auto whole = static_cast<std::int64_t>(input.byte());
  const std::int64_t part = (input.byte() * 256 + input.byte()) % 1000;
  std::string digits = std::to_string(part);
  digits.insert(0, 3 - digits.size(), '0');
  const std::string number = std::to_string(whole) + "." + digits;
  for (const auto& [unit, length] :
       {std::pair<const char*, Duration>{"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}}) {
    require(cli::parse_duration(number + unit) == whole * length + part * (length / 1000),
            "three digits behind the point are exact");
  }
});

}  // namespace
}  // namespace holdfast::fuzz
