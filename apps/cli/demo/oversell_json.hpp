#pragma once

#include "cli/demo/late_write.hpp"
#include "cli/demo/market.hpp"
#include "cli/json.hpp"

namespace holdfast::cli {

Json to_json(const Day&);
Json to_json(const LateWrite&);

}  // namespace holdfast::cli
