#include "cli/text/duration_text.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

struct Unit {
  std::string_view name;
  Duration length;
};
// From the longest: each may stand once, in this order.
constexpr std::array<Unit, 4> kUnits{{{"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes "12" or "1.5" off the front; the value is counted in `unit` once that is known, so this
// gives the digits and where the point stood.
struct Number {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;  // 10^n for n digits behind the point
};

std::optional<Number> take_number(std::string_view& text) {
  Number number;
  bool any = false;
  bool behind_point = false;
  while (!text.empty() && (is_digit(text[0]) || (text[0] == '.' && any && !behind_point))) {
    if (text[0] == '.') {
      behind_point = true;
      any = false;  // "5." is not a number
    } else {
      const auto digit = static_cast<std::uint64_t>(text[0] - '0');
      if (number.digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
        return std::nullopt;
      }
      number.digits = number.digits * 10 + digit;
      if (behind_point) {
        if (number.scale > 100'000'000) return std::nullopt;  // finer than a nanosecond
        number.scale *= 10;
      }
      any = true;
    }
    text.remove_prefix(1);
  }
  if (!any) return std::nullopt;
  return number;
}

std::optional<Duration> times(const Number& number, Duration unit) {
  const auto nanoseconds = static_cast<std::uint64_t>(unit.count());
  const std::uint64_t whole = number.digits / number.scale;
  const std::uint64_t part = number.digits % number.scale;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (whole > kMost / nanoseconds) return std::nullopt;
  // part * nanoseconds / scale, whose product would not fit: scale ≤ 10^9, a unit has 3.6·10^12 ns.
  const std::uint64_t fraction =
      part * (nanoseconds / number.scale) + part * (nanoseconds % number.scale) / number.scale;
  const std::uint64_t sum = whole * nanoseconds;
  if (sum > kMost - fraction) return std::nullopt;
  return Duration(static_cast<Duration::rep>(sum + fraction));
}

const Unit* take_unit(std::string_view& text) {
  std::size_t letters = 0;
  while (letters < text.size() && !is_digit(text[letters])) ++letters;
  const std::string_view name = text.substr(0, letters);
  text.remove_prefix(letters);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  Duration total{};
  Duration last = kForever;
  if (text.empty()) return std::nullopt;
  for (bool first = true; !text.empty(); first = false) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    if (first && text.empty()) return times(*number, 1s);
    const Unit* unit = take_unit(text);
    if (unit == nullptr || unit->length >= last) return std::nullopt;
    last = unit->length;
    const auto length = times(*number, unit->length);
    if (!length || *length > kForever - total) return std::nullopt;
    total += *length;
  }
  return total;
}

std::string duration_text(Duration length) {
  if (length < Duration::zero()) length = Duration::zero();
  char text[48];
  if (length < 1s) {
    std::snprintf(text, sizeof text, "%lldms", static_cast<long long>(length / 1ms));
  } else if (length < 1min) {
    const auto tenths = static_cast<long long>(length / 100ms);
    if (tenths % 10 == 0) {
      std::snprintf(text, sizeof text, "%llds", tenths / 10);
    } else {
      std::snprintf(text, sizeof text, "%lld.%llds", tenths / 10, tenths % 10);
    }
  } else if (length < 1h) {
    const auto seconds = static_cast<long long>(length % 1min / 1s);
    const auto minutes = static_cast<long long>(length / 1min);
    if (seconds == 0) {
      std::snprintf(text, sizeof text, "%lldm", minutes);
    } else {
      std::snprintf(text, sizeof text, "%lldm%02llds", minutes, seconds);
    }
  } else {
    std::snprintf(text, sizeof text, "%lldh%02lldm", static_cast<long long>(length / 1h),
                  static_cast<long long>(length % 1h / 1min));
  }
  return text;
}

std::string clock_text(Duration length) {
  if (length < Duration::zero()) length = Duration::zero();
  const auto hours = static_cast<long long>(length / 1h);
  const auto minutes = static_cast<long long>(length % 1h / 1min);
  const auto seconds = static_cast<long long>(length % 1min / 1s);
  char text[48];
  if (hours > 0) {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", hours, minutes, seconds);
  } else {
    std::snprintf(text, sizeof text, "%02lld:%02lld", minutes, seconds);
  }
  return text;
}

double seconds_of(Duration length) {
  // To the millisecond: what is shown is read by people and plotted, never used as a deadline.
  return static_cast<double>(length / 1ms) / 1000.0;
}

}  // namespace holdfast::cli
