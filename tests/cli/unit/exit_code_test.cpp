#include "cli/exit_code.hpp"

#include <cerrno>

#include "gtest/gtest.h"

namespace holdfast::cli {
namespace {

TEST(ExitCode, IsThatOfTheManualForEachError) {
  EXPECT_EQ(exit_code_of(Errc::busy), 75);
  EXPECT_EQ(exit_code_of(Errc::timed_out), 75);
  EXPECT_EQ(exit_code_of(Errc::lost), 80);
  EXPECT_EQ(exit_code_of(Errc::forced), 80);
  EXPECT_EQ(exit_code_of(Errc::unavailable), 69);
  EXPECT_EQ(exit_code_of(Errc::unknown), 69);
  EXPECT_EQ(exit_code_of(Errc::no_quorum), 69);
  EXPECT_EQ(exit_code_of(Errc::store_corrupt), 76);
  EXPECT_EQ(exit_code_of(Errc::protocol), 76);
  EXPECT_EQ(exit_code_of(Errc::permission), 77);
  EXPECT_EQ(exit_code_of(Errc::unsupported), 78);
  EXPECT_EQ(exit_code_of(Errc::invalid_name), 65);
  EXPECT_EQ(exit_code_of(Errc::invalid_lease), 65);
  EXPECT_EQ(exit_code_of(Errc::not_owner), 1);
  EXPECT_EQ(exit_code_of(Errc::out_of_memory), 71);
  EXPECT_EQ(exit_code_of_exec(ENOENT), 127);
  EXPECT_EQ(exit_code_of_exec(EACCES), 126);
}

}  // namespace
}  // namespace holdfast::cli
