// F028, F030, F120: kill -9 at random moments, over and over, and at each question by its number. `HOLDFAST_KILLS=500` makes it longer.
#include <filesystem>

#include "directory_test.hpp"
#include "support/processes/kills.hpp"
#include "support/processes/last_calls.hpp"

namespace holdfast::test {
namespace {

using DirectoryKill = DirectoryTest;

TEST_F(DirectoryKill, AtAnyMomentNeverMakesTwoHoldersAndTheNextIsServed_F028_F030_F120) {
  expect_one_holder_whoever_is_killed(
      url(),
      {.times = kSanitized ? 8 : 20, .freed = Freed::by_the_lease, .lease = 1500ms, .turn = 3ms});
}

TEST_F(DirectoryKill, AtAnyCallLeavesNothingThatLasts_F028_F030) {
  expect_served_whichever_call_was_the_last(url(), kSanitized ? 5s : 1s);
}

TEST_F(DirectoryKill, WhileTheFolderOfALockIsMadeHindersNobody_F120) {
  expect_beginners_unhindered(url(), {.times = kSanitized ? 4 : 10, .within = 20ms, .lease = 500ms},
                              [&] { std::filesystem::remove_all(lock_folder()); });
}

}  // namespace
}  // namespace holdfast::test
