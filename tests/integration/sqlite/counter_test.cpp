// What a lock is for: many processes change one thing, one after the other.
#include "sqlite_test.hpp"
#include "support/processes/guarded_counter.hpp"

namespace holdfast::test {
namespace {

using SqliteCounter = SqliteTest;

TEST_F(SqliteCounter, IsExactAfterManyProcessesAndFencesGrowInTheOrderOfHolding) {
  expect_exact_count(url(), {.processes = kSanitized ? 6 : 16, .rounds = kSanitized ? 30 : 200});
  expect_nothing_left_behind();
}

// Inside a process the lock is handed on without the store.
TEST_F(SqliteCounter, IsExactAfterProcessesWithSeveralThreadsEach) {
  expect_exact_count(url(), {.processes = 4, .threads = 4, .rounds = kSanitized ? 20 : 100});
  expect_nothing_left_behind();
}

}  // namespace
}  // namespace holdfast::test
