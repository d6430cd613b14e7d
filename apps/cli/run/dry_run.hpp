#pragma once

#include "cli/run/run_options.hpp"

namespace holdfast::cli {

// Says what `run` would do now and changes nothing. Returns the exit code.
int dry_run(const RunOptions&);

}  // namespace holdfast::cli
