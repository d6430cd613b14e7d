// Shared, exclusive and permits, as a user meets them.
#include <nlohmann/json.hpp>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Modes : public CliTest {
 protected:
  json seen(const std::string& lock) const {
    return json::parse(done({"show", "--json", lock}).out());
  }
};

TEST_F(Modes, ReadersRunTogetherAndAWriterWaits) {
  Spawned first = holder({"-s", "book"}, "first"), second = holder({"-s", "book"}, "second");
  ASSERT_TRUE(written("first"));
  ASSERT_TRUE(written("second"));
  EXPECT_EQ(done({"run", "-n", "-x", "book", "--", "true"}).exit_code(), 75);
  EXPECT_EQ(done({"run", "-n", "-s", "book", "--", "true"}).exit_code(), 0);
  const json lock = seen("book");
  EXPECT_EQ(lock["kind"], "shared_mutex");
  EXPECT_EQ(lock["mode"], "shared");
  EXPECT_EQ(lock["holders"].size(), 2U);
  EXPECT_THAT(done({"run", "--dry-run", "-s", "book", "--", "true"}).out(), HasSubstr("would run"));
  EXPECT_THAT(done({"run", "--dry-run", "-x", "book", "--", "true"}).out(),
              HasSubstr("would wait behind 2"));

  Spawned writer = holder({"-x", "book"}, "writer");
  ASSERT_TRUE(waiting("book", 1));
  EXPECT_EQ(done({"run", "-n", "-s", "book", "--", "true"}).exit_code(), 75) << "it waits behind";
  let_go("first");
  let_go("second");
  ASSERT_TRUE(written("writer"));
  EXPECT_EQ(seen("book")["mode"], "exclusive");
  let_go("writer");
  for (Spawned* each : {&first, &second, &writer}) EXPECT_EQ(each->exit_code(), 0);
}

TEST_F(Modes, PermitsAreCountedAndNumbered) {
  Spawned first = holder({"-p", "1/2", "pool"}, "first");
  ASSERT_TRUE(written("first"));
  Spawned other = done(
      {"run", "-n", "-p", "1/2", "pool", "--", "sh", "-c", "echo $HOLDFAST_MODE: $HOLDFAST_SLOTS"});
  EXPECT_EQ(other.exit_code(), 0);
  EXPECT_EQ(other.out(), "1 of 2: 1\n");
  EXPECT_EQ(done({"run", "-n", "-p", "2/2", "pool", "--", "true"}).exit_code(), 75);
  EXPECT_THAT(done({"run", "--dry-run", "-p", "1/2", "pool", "--", "true"}).out(),
              HasSubstr("would run"));
  EXPECT_EQ(seen("pool")["mode"], "1 of 2");
  let_go("first");
  EXPECT_EQ(first.exit_code(), 0);
}

TEST_F(Modes, AnotherNumberOfPermitsIsRefusedWithBothNumbers_F135) {
  Spawned first = holder({"-p", "1/2", "pool"}, "first");
  ASSERT_TRUE(written("first"));
  Spawned other = done({"run", "-n", "-p", "1/3", "pool", "--", "true"});
  EXPECT_NE(other.exit_code(), 0);
  EXPECT_THAT(other.err(), HasSubstr("2 permits, not 3"));
  let_go("first");
  EXPECT_EQ(first.exit_code(), 0);
}

TEST_F(Modes, ANameInUseInAnotherWaySaysSo) {
  Spawned first = holder({"-s", "book"}, "first");
  ASSERT_TRUE(written("first"));
  Spawned other = done({"run", "-n", "book", "--", "true"});
  EXPECT_NE(other.exit_code(), 0);
  EXPECT_NE(other.exit_code(), 75);
  EXPECT_THAT(other.err(), HasSubstr("in use as a shared mutex"));
  let_go("first");
  EXPECT_EQ(first.exit_code(), 0);
}

TEST_F(Modes, AnUpgradeableReaderIsAloneAmongItsLikes) {
  Spawned first = holder({"-u", "book"}, "first");
  ASSERT_TRUE(written("first"));
  EXPECT_EQ(done({"run", "-n", "-s", "book", "--", "true"}).exit_code(), 0);
  EXPECT_EQ(done({"run", "-n", "-u", "book", "--", "true"}).exit_code(), 75);
  EXPECT_THAT(done({"run", "--dry-run", "-u", "book", "--", "true"}).out(),
              HasSubstr("would wait behind 1"));
  let_go("first");
  EXPECT_EQ(first.exit_code(), 0);
}

}  // namespace
}  // namespace holdfast::cli_tests
