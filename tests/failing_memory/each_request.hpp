#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "failing_memory/failing_memory.hpp"
#include "holdfast/store/loop.hpp"
#include "support/effort.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

// Each request for memory fails once while something is done, or some in a row: `once(n, in_a_row)` does it and says
// whether it came to the n-th; it comes to it `at_least` so often. Ends with the first failure of the test.
template <class Once>
void with_each_request_failing(Once once, int at_least = 1) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  constexpr int kMost = 500;
  for (const int in_a_row : {1, 3}) {
    int n = 1;
    for (; n < kMost; ++n) {
      SCOPED_TRACE("request " + std::to_string(n) + ", in a row: " + std::to_string(in_a_row));
      if (!once(n, in_a_row) || testing::Test::HasFailure()) break;
    }
    if (testing::Test::HasFailure()) return;
    EXPECT_LT(n, kMost) << "it never ends";
    EXPECT_GT(n, at_least) << "nothing has failed";
  }
}

template <class F>
void on_loop(store::Loop& loop, F f) {
  const Signal done;
  loop.post([&] {
    f();
    done.give();
  });
  ASSERT_TRUE(done.comes());
}

// The same for those of a loop, while something goes on that it has a part in.
template <class Meanwhile>
void with_each_request_of_loop_failing(store::Loop& loop, Meanwhile meanwhile, int at_least = 1) {
  const auto once = [&](int n, int in_a_row) {
    std::unique_ptr<FailingMemory> memory;
    on_loop(loop, [&] {
      memory = std::make_unique<FailingMemory>(n, FailingMemory::Whose::this_thread, in_a_row);
    });
    meanwhile();
    on_loop(loop, [&] { memory->stop(); });
    return memory->failed();
  };
  with_each_request_failing(once, at_least);
}

}  // namespace holdfast::test
