#pragma once

#include <string>

#include "holdfast/inspect.hpp"

namespace holdfast::cli {

bool is_held(const LockInfo&);

// Nobody keeps it alive any more: a holder whose lease is over, or a line without a holder.
bool is_stale(const LockInfo&);

// "billing", or its owner id if it has no program; ready to be shown.
std::string shown_program(const HolderRecord&);

// "web2:8123"; "-" of a holder that does not say.
std::string shown_place(const HolderRecord&);

// A holder that is not Holdfast's, whose lock we share, does not say since when.
bool tells_since(const HolderRecord&);

// "14:02:11 (3m)", if it tells.
std::string shown_since(const HolderRecord&, WallTime now);

}  // namespace holdfast::cli
