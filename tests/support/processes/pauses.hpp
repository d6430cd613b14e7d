// F017, F033: a holder that is stopped, for longer than its lease or not.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "support/child_process.hpp"

namespace holdfast::test {

struct Pause {
  std::chrono::milliseconds lease = std::chrono::seconds(2);
  // Some stores have moments at which a process that is stopped would stop everybody.
  std::function<void(const ChildProcess&)> stop = [](const ChildProcess& child) { child.stop(); };
};

// The next is served once the lease is over and not before; the holder is told when it wakes, and does
// no harm.
void expect_served_past_the_lease(const std::string& url, const Pause& = {});

// Nobody is served, and the holder goes on as if nothing had been.
void expect_short_pause_changes_nothing(const std::string& url, const Pause& = {});

}  // namespace holdfast::test
