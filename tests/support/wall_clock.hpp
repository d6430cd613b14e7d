#pragma once

#include <chrono>

namespace holdfast::test {

// Sets the wall clock forward, or back, as this program sees it: whoever asks the C library for
// CLOCK_REALTIME is answered accordingly. The kernel's own stays as it is, so that waiting for a moment
// of the wall clock goes wrong as well.
void set_wall_clock(std::chrono::seconds by);

}  // namespace holdfast::test
