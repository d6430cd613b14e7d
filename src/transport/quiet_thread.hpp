#pragma once

#include <thread>

#include "holdfast/task.hpp"

namespace holdfast::transport {

// Starts a thread of our own inside somebody else's program: it takes no signals, so that handlers
// run where the program expects them, except those for faults of the thread itself (a crash handler
// should see them). `name` is what debuggers show, at most 15 bytes.
//
// On error     Throws std::system_error if there can be no more threads.
std::thread start_quiet_thread(const char* name, Task body);

}  // namespace holdfast::transport
