#pragma once

#include <string>

namespace holdfast::test {

// Who counts: so many threads in each of so many processes, so many times each.
struct Crowd {
  int processes = 1;
  int threads = 1;
  int rounds = 1;
};

// What a lock is for: all of them raise one number, one after the other. It is exact in the end, and
// the fences grew in the order of holding.
void expect_exact_count(const std::string& url, const Crowd&);

}  // namespace holdfast::test
