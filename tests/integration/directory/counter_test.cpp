// What a lock is for: many processes change one thing, one after the other.
#include "directory_test.hpp"
#include "support/processes/guarded_counter.hpp"

namespace holdfast::test {
namespace {

class DirectoryCounter : public DirectoryTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(files('.').size(), 0U) << "nothing private is left";
    EXPECT_LE(files('g').size(), 64U + 16U);
  }
};

TEST_F(DirectoryCounter, IsExactAfterManyProcessesAndFencesGrowInTheOrderOfHolding) {
  expect_exact_count(url(), {.processes = kSanitized ? 6 : 16, .rounds = kSanitized ? 30 : 100});
}

// Inside a process the lock is handed on without the store.
TEST_F(DirectoryCounter, IsExactAfterProcessesWithSeveralThreadsEach) {
  expect_exact_count(url(), {.processes = 4, .threads = 4, .rounds = kSanitized ? 20 : 100});
}

}  // namespace
}  // namespace holdfast::test
