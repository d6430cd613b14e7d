#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/chosen_store.hpp"
#include "cli/exit_code.hpp"
#include "cli/option.hpp"
#include "cli/run/run_mode.hpp"
#include "holdfast/options.hpp"

namespace holdfast::cli {

// What `run` was asked to do.
struct RunOptions {
  std::vector<std::string> names;  // sorted: whoever wants the same ones does not wait in a circle
  std::string name;                // all of them, for people: "a,b"
  std::vector<std::string> command;
  ChosenStore store;

  Duration wait = kForever;  // 0: one attempt
  Duration lease = std::chrono::seconds(30);
  bool renew = true;
  Order order = Order::any;
  RunMode mode{};
  std::string message;
  int busy_exit_code = exit_code::kBusy;

  int on_lost = 0;  // the signal; 0: only a warning
  Duration grace{};

  bool quiet = false;
  bool verbose = false;
  bool json = false;
  bool dry_run = false;
  std::optional<int> status_fd;

  // Throws Refusal.
  static RunOptions from(const Arguments&);
  static std::vector<Option> options();

  AcquireOptions acquire_options() const;
};

}  // namespace holdfast::cli
