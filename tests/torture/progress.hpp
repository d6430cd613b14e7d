// How far the run is, on stderr: one line that is written over on a terminal, else a line now and then.
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::torture {

class Progress {
 public:
  struct State {
    std::uint64_t ops = 0;
    std::uint64_t of_ops = 0;
    std::uint64_t faults = 0;
    std::uint64_t of_faults = 0;
    std::uint64_t lost_in_twin = 0;
  };

  Progress();
  void show(const State&);  // if it is time
  void say(const char* text);
  void clear();  // the line on a terminal

 private:
  using Clock = std::chrono::steady_clock;

  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace holdfast::torture
