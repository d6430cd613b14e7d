#pragma once

#include <string>
#include <vector>

#include "cli/run/run_holds.hpp"
#include "cli/run/run_options.hpp"

namespace holdfast::cli {

// Our environment and what the job should know about its lock: HOLDFAST_LOCK, HOLDFAST_FENCE …
std::vector<std::string> job_environment(const RunOptions&, const RunHolds&);

}  // namespace holdfast::cli
