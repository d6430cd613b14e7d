// F126: who may do what with the files.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "sqlite_test.hpp"
#include "support/rights.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class SqliteRights : public SqliteTest {
 protected:
  void expect_modes(const std::string& options, unsigned file, unsigned folder_mode) {
    const Client client = connect(url() + options).value();
    const auto hold = client.mutex("lock").acquire();
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_EQ(mode_of(database()), file);
    EXPECT_EQ(mode_of(database() + "-wal"), file);
    EXPECT_EQ(mode_of(database() + "-shm"), file);
    EXPECT_EQ(mode_of(sessions()), folder_mode);
    ASSERT_EQ(session_files().size(), 1U);
    EXPECT_EQ(mode_of(sessions() + "/" + session_files().front()), file);
  }
};

TEST_F(SqliteRights, AreTheOwnersAloneWhateverTheUmask_F126) {
  const Umask generous(0);
  expect_modes("", 0600, 0700);
}

TEST_F(SqliteRights, AreTheGroupsTooIfAskedForWhateverTheUmask_F126) {
  const Umask strict(0077);
  expect_modes("?mode=0660", 0660, 0770);
}

TEST_F(SqliteRights, StayAsTheFileHasThem_F126) {
  static_cast<void>(connect(url() + "?mode=0660").value());
  expect_modes("", 0660, 0770);
}

TEST_F(SqliteRights, OfEverybodyAreWarnedOf_F126) {
  const Client client = open();
  EXPECT_FALSE(warned_of("rights", client));
  ASSERT_EQ(::chmod(database().c_str(), 0666), 0);
  EXPECT_TRUE(warned_of("rights", client));
}

// ---- links that somebody planted ----

TEST_F(SqliteRights, AreNotLentThroughALinkAtTheFile_F126) {
  const std::string target = folder() + "/target.db";
  std::filesystem::create_symlink(target, database());
  const auto dangling = connect(url());
  EXPECT_TRUE(fails_with(Errc::permission, dangling));
  EXPECT_THAT(dangling.error().text(), HasSubstr("symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(target));
  std::ofstream(target) << "precious";
  EXPECT_TRUE(fails_with(Errc::permission, connect(url())));
  EXPECT_EQ(std::filesystem::file_size(target), 8U);
}

TEST_F(SqliteRights, AreNotLentThroughALinkAtTheFolder_F126) {
  const std::string target = folder() + "/target";
  std::filesystem::create_directory(target);
  std::filesystem::create_directory_symlink(target, sessions());
  EXPECT_TRUE(fails_with(Errc::permission, connect(url())));
  EXPECT_TRUE(std::filesystem::is_empty(target));
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(SqliteRights, AreNotLentThroughALinkAtTheDraft_F126) {
  std::filesystem::create_directory(sessions());
  const std::string target = folder() + "/target";
  std::ofstream(target) << "precious";
  std::filesystem::create_symlink(target, sessions() + "/new.db");
  EXPECT_TRUE(connect(url()));
  EXPECT_EQ(std::filesystem::file_size(target), 8U);
}

TEST_F(SqliteRights, MayBeReachedThroughALinkedFolder) {
  std::filesystem::create_directory(folder() + "/real");
  std::filesystem::create_directory_symlink("real", folder() + "/link");
  const Client straight = connect("sqlite:" + folder() + "/real/x.db").value();
  const auto hold = straight.mutex("lock").acquire();
  const Client around = connect("sqlite:" + folder() + "/link/x.db").value();
  EXPECT_TRUE(fails_with(Errc::busy, around.mutex("lock").try_acquire()));
}

TEST_F(SqliteRights, DoNotTurnAFolderIntoAFile) {
  std::filesystem::create_directory(database());
  const auto client = connect(url());
  EXPECT_TRUE(fails_with(Errc::permission, client));
  EXPECT_THAT(client.error().text(), HasSubstr("not a regular file"));
}

// ---- as a user with few rights ----

class SqliteNobody : public SqliteTest {
 protected:
  void SetUp() override {
    if (!can_become_nobody()) GTEST_SKIP() << "only root can become somebody else";
    ::chmod(folder().c_str(), 0755);
  }
};

TEST_F(SqliteNobody, MayNotUseAnothersFile_F126) {
  make();
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("permission: "));
}

TEST_F(SqliteNobody, MayNotUseAFileThatIsReadOnly_F126) {
  make();
  give_to_nobody(database());
  give_to_nobody(sessions());
  EXPECT_EQ(::chmod(database().c_str(), 0400), 0);
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("permission: "));
}

TEST_F(SqliteNobody, MayNotBeginInAnUnwritableFolder_F126) {
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("permission: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(SqliteNobody, MayNotUseAFileBesideWhichNothingCanBeMade_F126) {
  make();
  give_to_nobody(database());
  give_to_nobody(sessions());
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("permission: "))
      << "there is no place for the log";
}

TEST_F(SqliteNobody, MayNotUseSessionsInAnUnwritableFolder_F126) {
  give_to_nobody(folder());
  make();
  give_to_nobody(database());
  EXPECT_EQ(::chmod(sessions().c_str(), 0755), 0);
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("permission: "));
}

TEST_F(SqliteNobody, MayUseWhatIsSharedWithEverybody) {
  give_to_nobody(folder());
  static_cast<void>(connect(url() + "?mode=0666").value());
  EXPECT_EQ(what_nobody_gets(url()), "held");
}

}  // namespace
}  // namespace holdfast::test
