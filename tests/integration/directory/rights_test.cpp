// F126: who may do what with the files; F121: no space left.
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "directory_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

// As long as it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

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
  const auto warned = [](const Client& client) {
    const auto findings = client.examine().value();
    return std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
      return each.level == Finding::Level::warning && each.subject == "rights";
    });
  };
  const Client client = open();
  EXPECT_FALSE(warned(client));
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  EXPECT_TRUE(warned(client));
}

// ---- as a user with few rights ----

constexpr uid_t kNobody = 65534;

// Arguments: URL. Tells what connecting and acquiring comes to.
const Role kNobodyTries("nobody tries", [](Parent& parent, const Words& arguments) {
  if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) return;
  const auto client = connect(arguments.at(0));
  const auto hold = client ? client->mutex("lock").try_acquire() : client.error();
  parent.tell(hold ? "held" : hold.error().text());
});

class DirectoryNobody : public DirectoryTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    ::chmod(folder().c_str(), 0755);
  }
  std::string what_nobody_gets() const { return ChildProcess(kNobodyTries, {url()}).hear(); }
};

TEST_F(DirectoryNobody, MayNotUseAnothersLocks_F126) {
  ASSERT_TRUE(open().mutex("lock").acquire());
  EXPECT_THAT(what_nobody_gets(), HasSubstr("ermission"));
}

TEST_F(DirectoryNobody, MayNotBeginInAnUnwritableFolder_F126) {
  EXPECT_THAT(what_nobody_gets(), HasSubstr("ermission"));
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(DirectoryNobody, MayUseWhatIsSharedWithEverybody) {
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  ASSERT_TRUE(connect(url() + "?mode=0666")->mutex("lock").acquire());
  EXPECT_EQ(what_nobody_gets(), "held");
}

// ---- file systems of a test's own ----

class DirectoryMount : public DirectoryTest {
 protected:
  // In a mount namespace of this process's own, so that nothing stays behind however it ends.
  void SetUp() override {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder().c_str(), "tmpfs", 0, "size=1m") != 0) {
      GTEST_SKIP() << "a small file system cannot be mounted: " << std::strerror(errno);
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(folder().c_str(), MNT_DETACH);
  }

  void fill() {
    std::ofstream filler(folder() + "/filler", std::ios::app);
    const std::string page(4096, 'x');
    while (filler.write(page.data(), 4096).flush()) {
    }
  }
  void make_room() { std::filesystem::remove(folder() + "/filler"); }

 private:
  bool mounted_ = false;
};

TEST_F(DirectoryMount, ThatIsFullRefusesNewLocksAndGivesBackThoseThatAreHeld_F121) {
  const Client client = open(), other = open();
  auto hold = client.mutex("lock").acquire();
  ASSERT_TRUE(hold);
  fill();
  EXPECT_TRUE(fails_with(Errc::store_full, client.mutex("new").try_acquire()));
  EXPECT_TRUE(fails_with(Errc::busy, other.mutex("lock").try_acquire()));
  const auto released = hold->release();
  EXPECT_TRUE(released) << released.error().text();
  EXPECT_TRUE(fails_with(Errc::store_full, other.mutex("lock").try_acquire())) << "free, but full";
  make_room();
  EXPECT_TRUE(other.mutex("lock").try_acquire());
  EXPECT_TRUE(client.mutex("new").try_acquire());
  EXPECT_TRUE(files('.').empty()) << "nothing half-written is left";
}

TEST_F(DirectoryMount, ThatIsReadOnlyIsAnErrorAndNotAFreeLock_F126) {
  const Client client = open();
  ASSERT_TRUE(client.mutex("lock").acquire()->release());
  ASSERT_EQ(::mount("none", folder().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=1m"), 0);
  EXPECT_TRUE(fails_with(Errc::permission, client.mutex("lock").try_acquire()));
  EXPECT_TRUE(fails_with(Errc::permission, client.mutex("new").try_acquire()));
  EXPECT_TRUE(client.inspect());
}

}  // namespace
}  // namespace holdfast::test
