// What clients do all day, in a process of its own that has something to cope with meanwhile.
#pragma once

#include <string>

namespace holdfast::test {

// One client holds for longer than its lease and is renewed, another waits for a while and no shorter;
// what is not renewed ends; what is released can be had.

// F026: a signal every millisecond, whose handler does not restart what it interrupts.
void expect_signals_do_not_matter(const std::string& url);

// F021: somebody sets the wall clock forward and back.
void expect_wall_clock_does_not_matter(const std::string& url);

// F020: BOOTTIME is far ahead of MONOTONIC, as after a long sleep. Whoever mixed them would be told the
// end of a lease at once, or never. Skips the test where this cannot be done.
void expect_boottime_to_be_read(const std::string& url);

}  // namespace holdfast::test
