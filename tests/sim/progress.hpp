// What is seen of a long run while it goes on: how far it is, and at once every schedule that breaks a
// rule, with the command that shows it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "schedule.hpp"

namespace holdfast::sim {

// Threads      ran() from any.
class Progress {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  struct Style {
    std::string command{};  // what runs this program with what it was given, without a seed
    std::string goal{};     // "1000000", "3 h": how much there is to do
    bool one_line = false;  // on a terminal: rewritten in place, more often
  };

  // `say` is given text with its line ends.
  Progress(Style style, std::function<void(std::string_view)> say, Instant start);

  void ran(const Verdict&, Instant now);
  void finish();

 private:
  void say_how_far(Instant now);
  void clear_line();

  const Style style_;
  const std::function<void(std::string_view)> say_;
  const Instant start_;
  std::mutex mutex_;
  Instant next_line_;
  std::chrono::milliseconds pause_;
  std::uint64_t schedules_ = 0;
  std::uint64_t violating_ = 0;
  bool line_open_ = false;
};

}  // namespace holdfast::sim
