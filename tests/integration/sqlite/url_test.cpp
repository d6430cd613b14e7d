// What a URL may say, and what is refused before anything is made.
#include <stdlib.h>

#include <filesystem>

#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class SqliteUrl : public SqliteTest {
 protected:
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder())) << "nothing is made";
  }
};

TEST_F(SqliteUrl, WithAnUnknownOptionIsRefused) {
  expect_refused(Errc::invalid_argument, url() + "?colour=red", "not \"colour\"");
  expect_refused(Errc::invalid_argument, url() + "?fs=mine", "not \"fs\"");
}

TEST_F(SqliteUrl, DoesNotRepeatAValueThatMayBeASecret_F137) {
  const auto client = connect(url() + "?password=s3cret");
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().text(), testing::Not(testing::HasSubstr("s3cret")));
}

TEST_F(SqliteUrl, WithAStrangeModeIsRefused) {
  for (const char* mode : {"123", "0777", "600", "0640", "", "0600x"}) {
    expect_refused(Errc::invalid_argument, url() + "?mode=" + mode, "mode is");
  }
}

TEST_F(SqliteUrl, WithoutAnAbsolutePathIsRefused) {
  for (const char* path : {"", "locks.db", "./locks.db", "//host/locks.db"}) {
    expect_refused(Errc::invalid_argument, std::string("sqlite:") + path, "absolute path");
  }
  expect_refused(Errc::invalid_argument, "sqlite:" + folder() + "/", "does not name a file");
  expect_refused(Errc::invalid_argument, "sqlite:" + folder() + "/..", "does not name a file");
}

TEST_F(SqliteUrl, EmbeddedTakesNoPath) {
  expect_refused(Errc::invalid_argument, "embedded:" + database(), "sqlite:");
}

TEST_F(SqliteUrl, IntoAMissingFolderIsRefused) {
  expect_refused(Errc::permission, "sqlite:" + folder() + "/not/there.db", "No such file");
}

// /proc stands for every file system that is not known to be local.
TEST_F(SqliteUrl, OntoAnUnknownFileSystemIsRefused_F124) {
  expect_refused(Errc::unsupported, "sqlite:/proc/x.db", "fs=any");
}

TEST_F(SqliteUrl, MaySayThatTheFileSystemWillDo_F124) {
  const auto client = connect("sqlite:/proc/x.db?fs=any");
  ASSERT_FALSE(client);
  EXPECT_NE(client.error(), Errc::unsupported) << "it got further than to the check";
}

TEST(SqliteUrlForms, MeanTheSameFile) {
  const TempFolder folder;
  const Client one = connect("sqlite:" + folder.path() + "/x.db").value();
  const Client other = connect("sqlite://" + folder.path() + "/x.db?fs=any&mode=0600").value();
  const auto hold = one.mutex("lock").acquire();
  EXPECT_TRUE(fails_with(Errc::busy, other.mutex("lock").try_acquire()));
}

// Arguments: the state folder. As a process of its own, since it changes its environment.
const Role kEmbedded("embedded", [](Parent& parent, const Words& arguments) {
  ::setenv("XDG_STATE_HOME", arguments.at(0).c_str(), 1);
  ::unsetenv("HOLDFAST_URL");
  const auto client = connect();
  parent.tell(client ? client->place_of("lock").value() : client.error().text());
});

TEST(SqliteUrlForms, EmptyMeansTheUsersStateFolder) {
  const TempFolder folder;
  ChildProcess child(kEmbedded, {folder / "state"});
  EXPECT_THAT(child.hear(), HasSubstr(folder / "state/holdfast/locks.db"));
  const auto rights = std::filesystem::status(folder / "state/holdfast").permissions();
  EXPECT_EQ(rights, std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace holdfast::test
