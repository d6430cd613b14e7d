#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "cli/run/run_options.hpp"
#include "cli/run/run_talk.hpp"
#include "cli/run/sight.hpp"
#include "cli/run/signals.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {

struct WaitEnd {
  std::optional<Result<Hold>> result;  // nothing: a signal ended it
  int signal = 0;
  Duration waited{};
};

// Which lock, for how long at most, and what must not be lost meanwhile.
struct WaitFor {
  std::string name;
  Duration wait{};
  std::stop_token given_up{};
};

// Stands in line until the lock is ours, the time is over or a signal comes; meanwhile says who is in
// front. What it saw of the lock last is in `sight`.
WaitEnd wait_for_lock(const Client&, const WaitFor&, const RunOptions&, Signals&, RunTalk&,
                      Sight& sight);

}  // namespace holdfast::cli
