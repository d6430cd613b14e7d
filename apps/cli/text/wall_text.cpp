#include "cli/text/wall_text.hpp"

#include <cstdio>
#include <ctime>

namespace holdfast::cli {

WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

Duration age_of(WallTime since, WallTime now) {
  constexpr auto kMost = std::chrono::duration_cast<std::chrono::microseconds>(kForever);
  if (since < now - kMost) return kForever;
  if (since > now + kMost) return -kForever;
  return now - since;
}

std::string iso_text(WallTime when) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(milliseconds);
  const auto part = static_cast<int>((milliseconds - seconds).count());
  const std::time_t time = seconds.count();
  std::tm parts{};
  char text[64] = {};
  if (gmtime_r(&time, &parts) == nullptr) return "-";
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", part);
  return text;
}

std::string local_text(WallTime when, WallTime now) {
  const auto parts_of = [](WallTime time) {
    const std::time_t seconds =
        std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
  };
  const std::tm then = parts_of(when);
  const std::tm today = parts_of(now);
  const bool same_day = then.tm_yday == today.tm_yday && then.tm_year == today.tm_year;
  char text[64] = {};
  std::strftime(text, sizeof text, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
  return text;
}

}  // namespace holdfast::cli
