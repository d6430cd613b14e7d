#pragma once

#include <optional>
#include <string>

#include "cli/guard/start_guard.hpp"
#include "cli/run/job_terminal.hpp"
#include "cli/run/run_holds.hpp"
#include "cli/run/run_options.hpp"
#include "cli/run/run_talk.hpp"
#include "cli/run/signals.hpp"

namespace holdfast::cli {

struct JobEnd {
  std::optional<int> wait_status;  // nothing: it was never there, or nobody saw its end
  int start_error = 0;             // errno of execvp()
  int fork_error = 0;              // errno of what the system refused
  bool lost = false;
  std::string lost_name{};  // if it is known
  bool guard_died = false;
};

// Stays until nothing of the job is left that the lock protects: passes signals on, tells the
// guardian of renewals and of a loss.
JobEnd watch_job(StartedGuard&, const RunHolds&, const RunOptions&, Signals&, JobTerminal&,
                 RunTalk&);

}  // namespace holdfast::cli
