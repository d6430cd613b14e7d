#pragma once

#include <cstddef>
#include <string>

namespace holdfast::test {

// F042: one client holds so many locks. They share messages, and no renewal is late by a third of the
// lease.
void expect_renewed_in_time(const std::string& url, std::size_t count);

}  // namespace holdfast::test
