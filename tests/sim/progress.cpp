#include "progress.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds kOnTerminal = 200ms;
// Elsewhere a log is written: a line soon, then ever more rarely, at last one in ten minutes.
constexpr std::chrono::milliseconds kFirst = 5s, kLast = 10min;

}  // namespace

Progress::Progress(Style style, std::function<void(std::string_view)> say, Instant start)
    : style_(std::move(style)),
      say_(std::move(say)),
      start_(start),
      pause_(style_.one_line ? kOnTerminal : kFirst) {
  next_line_ = start_ + pause_;
}

void Progress::ran(const Verdict& verdict, Instant now) {
  const auto* const violation = first_violation(verdict.report);
  const std::lock_guard lock(mutex_);
  ++schedules_;
  if (violation != nullptr) {
    ++violating_;
    clear_line();
    const std::string again = style_.command + " --seed " + std::to_string(verdict.plan.seed);
    say_("seed " + std::to_string(verdict.plan.seed) + " violates " +
         std::string(check::name_of(violation->rule)) + ": " + violation->text + "\n  " + again +
         " --minimise\n");
  }
  if (now < next_line_) return;
  say_how_far(now);
  if (!style_.one_line) pause_ = std::min(pause_ * 2, kLast);
  next_line_ = now + pause_;
}

void Progress::say_how_far(Instant now) {
  const auto seconds = std::chrono::duration<double>(now - start_).count();
  char line[200];
  std::snprintf(line, sizeof line, "%llu of %s schedules, %.0f in a second, %llu violating",
                static_cast<unsigned long long>(schedules_), style_.goal.c_str(),
                seconds > 0 ? static_cast<double>(schedules_) / seconds : 0,
                static_cast<unsigned long long>(violating_));
  say_(style_.one_line ? "\r" + std::string(line) + "\033[K" : std::string(line) + "\n");
  line_open_ = style_.one_line;
}

void Progress::clear_line() {
  if (std::exchange(line_open_, false)) say_("\r\033[K");
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  clear_line();
}

}  // namespace holdfast::sim
