// What the process of a client has to cope with: clocks, signals, descriptors.
#include "sqlite_test.hpp"
#include "support/processes/descriptors.hpp"
#include "support/processes/working_day.hpp"

namespace holdfast::test {
namespace {

using SqliteSurroundings = SqliteTest;

TEST_F(SqliteSurroundings, AMachineThatSleptIsOnBoottime_F020) {
  expect_boottime_to_be_read(url());
}

TEST_F(SqliteSurroundings, TheWallClockDoesNotMatter_F021) {
  expect_wall_clock_does_not_matter(url());
}

TEST_F(SqliteSurroundings, OtherProgramsGetNoDescriptor_F024) {
  expect_no_descriptor_handed_on(url());
}

TEST_F(SqliteSurroundings, SignalsDoNotMatter_F026) { expect_signals_do_not_matter(url()); }

TEST_F(SqliteSurroundings, ClientsGoOnWithoutDescriptors_F045) {
  expect_to_go_on_without_descriptors(url());
}

}  // namespace
}  // namespace holdfast::test
