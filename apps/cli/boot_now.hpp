#pragma once

#include "holdfast/time.hpp"

namespace holdfast::cli {

// The time line of Hold::valid_until().
TimePoint boot_now();

}  // namespace holdfast::cli
