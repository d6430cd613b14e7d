// F028, F030, F120: kill -9 at random moments, over and over, and at each question by its number. `HOLDFAST_KILLS=1000` makes it longer.
#include <filesystem>

#include "sqlite_test.hpp"
#include "support/processes/kills.hpp"
#include "support/processes/last_calls.hpp"

namespace holdfast::test {
namespace {

using SqliteKill = SqliteTest;

TEST_F(SqliteKill, AtAnyMomentNeverMakesTwoHoldersNorLeavesAnythingBehind_F028_F030_F120) {
  expect_one_holder_whoever_is_killed(
      url(), {.times = kSanitized ? 15 : 50, .freed = Freed::at_death, .strict_order = true});
  expect_nothing_left_behind();
  RawDatabase raw(database());
  EXPECT_EQ(raw.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
            1);
}

TEST_F(SqliteKill, AtAnyCallLeavesNothingThatLasts_F028_F030) {
  expect_served_whichever_call_was_the_last(url(), kSanitized ? 5s : 2s);
}

TEST_F(SqliteKill, WhileTheFileIsMadeHindersNobody_F120) {
  expect_beginners_unhindered(url(), {.times = kSanitized ? 5 : 25, .within = 12ms}, [&] {
    expect_nothing_left_behind();
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      std::filesystem::remove_all(entry.path());
    }
  });
}

}  // namespace
}  // namespace holdfast::test
