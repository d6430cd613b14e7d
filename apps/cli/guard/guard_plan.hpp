#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/option.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// What a guardian must know to begin. It travels in the arguments of `holdfast __guard`.
struct GuardPlan {
  int socket = -1;
  int lifeline = -1;              // inherited by the job; -1: none
  int terminal = -1;              // to be handed to the job at once; -1: none
  std::uint64_t signal_mask = 0;  // what the job shall have blocked: bit n - 1 is signal n
  int on_lost = 0;                // signal to the job when the lock is lost; 0: none
  Duration grace{};               // from that signal to SIGKILL
  TimePoint until{};              // the lock is held until then, unless the guardian is told more
  std::vector<std::string> command;

  std::vector<std::string> words() const;
  static GuardPlan from(const Arguments&);
  static const std::vector<Option>& options();
};

}  // namespace holdfast::cli
