// F126: who may do what with the files; F121: no space left.
#include <sys/stat.h>

#include <filesystem>

#include "directory_test.hpp"
#include "support/rights.hpp"
#include "support/small_disk.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class DirectoryRights : public DirectoryTest {
 protected:
  void expect_modes(const std::string& options, unsigned file, unsigned folder_mode) {
    const Client client = connect(url() + options).value();
    const auto hold = client.mutex("lock").acquire({.lease = 1500ms});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_EQ(mode_of(lock_folder()), folder_mode);
    EXPECT_TRUE(eventually([&] { return !files('h').empty(); })) << "it is renewed";
    for (const char letter : {'g', 'h', 'r'}) {
      for (const std::string& each : files(letter)) {
        EXPECT_EQ(mode_of(lock_folder() + "/" + each), file) << each;
      }
    }
  }
};

TEST_F(DirectoryRights, AreTheOwnersAloneWhateverTheUmask_F126) {
  const Umask generous(0);
  expect_modes("", 0600, 0700);
}

TEST_F(DirectoryRights, AreTheGroupsTooIfAskedForWhateverTheUmask_F126) {
  const Umask strict(0077);
  expect_modes("?mode=0660", 0660, 0770);
}

TEST_F(DirectoryRights, OfEverybodyAreWarnedOf_F126) {
  const Client client = open();
  EXPECT_FALSE(warned_of("rights", client));
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  EXPECT_TRUE(warned_of("rights", client));
}

// ---- as a user with few rights ----

class DirectoryNobody : public DirectoryTest {
 protected:
  void SetUp() override {
    if (!can_become_nobody()) GTEST_SKIP() << "only root can become somebody else";
    ::chmod(folder().c_str(), 0755);
  }
};

TEST_F(DirectoryNobody, MayNotUseAnothersLocks_F126) {
  ASSERT_TRUE(open().mutex("lock").acquire());
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("ermission"));
}

TEST_F(DirectoryNobody, MayNotBeginInAnUnwritableFolder_F126) {
  EXPECT_THAT(what_nobody_gets(url()), HasSubstr("ermission"));
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(DirectoryNobody, MayUseWhatIsSharedWithEverybody) {
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  ASSERT_TRUE(connect(url() + "?mode=0666")->mutex("lock").acquire());
  EXPECT_EQ(what_nobody_gets(url()), "held");
}

// ---- file systems of a test's own ----

class DirectoryMount : public DirectoryTest {
 protected:
  void SetUp() override {
    if (!disk_.problem().empty()) GTEST_SKIP() << disk_.problem();
  }

  const SmallDisk disk_{folder()};
};

TEST_F(DirectoryMount, ThatIsFullRefusesNewLocksAndGivesBackThoseThatAreHeld_F121) {
  const Client client = open(), other = open();
  auto hold = client.mutex("lock").acquire();
  ASSERT_TRUE(hold);
  disk_.fill();
  EXPECT_TRUE(fails_with(Errc::store_full, client.mutex("new").try_acquire()));
  EXPECT_TRUE(fails_with(Errc::busy, other.mutex("lock").try_acquire()));
  const auto released = hold->release();
  EXPECT_TRUE(released) << released.error().text();
  EXPECT_TRUE(fails_with(Errc::store_full, other.mutex("lock").try_acquire())) << "free, but full";
  disk_.make_room();
  EXPECT_TRUE(other.mutex("lock").try_acquire());
  EXPECT_TRUE(client.mutex("new").try_acquire());
  EXPECT_TRUE(files('.').empty()) << "nothing half-written is left";
}

TEST_F(DirectoryMount, ThatIsReadOnlyIsAnErrorAndNotAFreeLock_F126) {
  const Client client = open();
  ASSERT_TRUE(client.mutex("lock").acquire()->release());
  ASSERT_TRUE(disk_.make_read_only());
  EXPECT_TRUE(fails_with(Errc::permission, client.mutex("lock").try_acquire()));
  EXPECT_TRUE(fails_with(Errc::permission, client.mutex("new").try_acquire()));
  EXPECT_TRUE(client.inspect());
}

}  // namespace
}  // namespace holdfast::test
