#pragma once

#include <functional>

#include <sys/types.h>

namespace holdfast::cli {

// Called with each child that was reaped and its wait status.
using Reaped = std::function<void(pid_t, int)>;

// Kills all descendants of this process, which must be a child subreaper, and returns when the last
// of them is gone: children of killed ones come to us and are killed in the next round, wherever they
// have hidden (other sessions, other groups).
void end_descendants(const Reaped&);

}  // namespace holdfast::cli
