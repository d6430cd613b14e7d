#pragma once

#include <string>

#include "holdfast/inspect.hpp"

namespace holdfast::cli {

bool is_held(const LockInfo&);

// Nobody keeps it alive any more: a holder whose lease is over, or a line without a holder.
bool is_stale(const LockInfo&);

// "billing", or its owner id if it has no program; ready to be shown.
std::string shown_program(const HolderRecord&);

// "web2:8123"
std::string shown_place(const HolderRecord&);

}  // namespace holdfast::cli
