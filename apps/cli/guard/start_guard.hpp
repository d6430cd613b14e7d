#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/guard/guard_plan.hpp"
#include "cli/guard/messages.hpp"

namespace holdfast::cli {

struct StartedGuard {
  pid_t pid = 0;
  RunLink link;
};

// Starts this program anew as a guardian. `environment` is the job's, "NAME=value" each. Throws
// Refusal if the system does not let us.
StartedGuard start_guard(GuardPlan, const std::vector<std::string>& environment);

}  // namespace holdfast::cli
