// F123, F126, F127, F128: folders and files that are removed, planted or damaged. What is broken is
// never taken for what is free.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "directory_test.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DirectoryFolder : public DirectoryTest {
 protected:
  // A client that holds "lock" when something happens to the folder.
  void expect_noticed(const std::function<void()>& happens) {
    const Client client = open();
    auto hold = client.mutex("lock").acquire({.lease = 600ms});
    ASSERT_TRUE(hold);
    happens();
    const auto more = client.mutex("other").try_acquire();
    ASSERT_TRUE(fails_with(Errc::store_corrupt, more));
    EXPECT_THAT(more.error().text(), HasSubstr("removed or replaced"));
    EXPECT_TRUE(fails_with(Errc::store_corrupt, client.inspect()));
    EXPECT_TRUE(fails_with(Errc::store_corrupt, client.examine()));
    EXPECT_TRUE(eventually([&] { return hold->lost().stop_requested(); })) << "the next renewal";
    EXPECT_FALSE(hold->valid());
    EXPECT_TRUE(fails_with(Errc::lost, hold->release()));
  }

  std::string newest_file() const { return lock_folder() + "/" + files('g').back(); }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void make_lock() const { ASSERT_TRUE(open().mutex("lock").acquire()); }
};

TEST_F(DirectoryFolder, IsMissedWhenRemovedWhileOpen_F123) {
  expect_noticed([&] { fs::remove_all(folder()); });
}

TEST_F(DirectoryFolder, IsMissedWhenRenamedWhileOpen_F123) {
  const TempFolder aside;
  expect_noticed([&] { fs::rename(folder(), aside / "old"); });
}

TEST_F(DirectoryFolder, IsRefusedWhenReplacedWhileOpen_F123) {
  const TempFolder aside;
  expect_noticed([&] {
    fs::rename(folder(), aside / "old");
    fs::create_directory(folder());
  });
}

TEST_F(DirectoryFolder, OfAHeldLockThatIsRemovedIsNotFree_F123) {
  const Client client = open(), other = open();
  const auto hold = client.mutex("lock").acquire({.lease = 2s});
  ASSERT_TRUE(hold);
  EXPECT_TRUE(fails_with(Errc::busy, other.mutex("lock").try_acquire()));
  fs::remove_all(lock_folder());
  EXPECT_TRUE(fails_with(Errc::store_corrupt, other.mutex("lock").try_acquire()));
  EXPECT_TRUE(eventually([&] { return hold->lost().stop_requested(); })) << "the next renewal";
  // Once the lease that was seen is over it starts anew, and its fences go on.
  EXPECT_TRUE(eventually([&] {
    const auto next = other.mutex("lock").try_acquire();
    return next && next->fence() > hold->fence();
  }));
}

TEST_F(DirectoryFolder, OfAFreeLockMayBeRemovedAndFencesGoOn) {
  const Client client = open();
  auto hold = client.mutex("lock").acquire();
  const FencingToken fence = hold->fence();
  ASSERT_TRUE(hold->release());
  fs::remove_all(lock_folder());
  EXPECT_GT(client.mutex("lock").acquire()->fence(), fence);
}

TEST_F(DirectoryFolder, ThatSomebodyEmptiedIsNotFree_F127) {
  make_lock();
  for (const auto& entry : fs::directory_iterator(lock_folder())) fs::remove(entry.path());
  const auto hold = open().mutex("lock").try_acquire();
  EXPECT_TRUE(fails_with(Errc::store_corrupt, hold));
  EXPECT_THAT(hold.error().text(), HasSubstr("removed the files"));
}

TEST_F(DirectoryFolder, WithADamagedGenerationIsNotFree_F127) {
  const Client client = open();
  const auto hold = client.mutex("lock").acquire();
  const std::string path = newest_file();
  const std::string whole = content(path);
  for (const std::string& text :
       {std::string(), std::string("\0\0\0\0", 4), whole.substr(0, whole.size() / 2),
        std::string("holdfast 1\nend\n"), std::string("holdfast one\nend\n")}) {
    write(path, text);
    EXPECT_TRUE(fails_with(Errc::store_corrupt, open().mutex("lock").try_acquire())) << text;
  }
  write(path, whole);
  EXPECT_TRUE(fails_with(Errc::busy, open().mutex("lock").try_acquire()));
}

TEST_F(DirectoryFolder, OfANewerVersionIsRefusedWithBothVersions_F128) {
  make_lock();
  write(newest_file(), "holdfast 2\nquorum 7\nend\n");
  const auto hold = open().mutex("lock").try_acquire();
  EXPECT_TRUE(fails_with(Errc::unsupported, hold));
  EXPECT_THAT(hold.error().text(), HasSubstr("version 2"));
  EXPECT_THAT(hold.error().text(), HasSubstr("version 1"));
}

TEST_F(DirectoryFolder, MayHoldOtherFilesAsWell) {
  fs::create_directory(folder() + "/Documents");
  fs::create_directory(folder() + "/.snapshot");
  fs::create_directory(folder() + "/%zz");
  write(folder() + "/README", "locks live here");
  const Client client = open();
  const auto hold = client.mutex("lock").acquire();
  ASSERT_TRUE(hold);
  write(lock_folder() + "/notes", "who did this?");
  write(lock_folder() + "/g12", "");
  EXPECT_TRUE(hold->verify());
  ASSERT_EQ(client.inspect()->size(), 1U);
  EXPECT_EQ(client.inspect()->front().name, "lock");
}

// ---- links that somebody planted ----

TEST_F(DirectoryFolder, IsNotFollowedThroughALinkAtTheLock_F126) {
  const TempFolder target;
  fs::create_directory_symlink(target.path(), lock_folder());
  const auto hold = open().mutex("lock").try_acquire();
  EXPECT_TRUE(fails_with(Errc::permission, hold));
  EXPECT_THAT(hold.error().text(), HasSubstr("symbolic link"));
  EXPECT_TRUE(fs::is_empty(target.path()));
}

TEST_F(DirectoryFolder, IsNotFollowedThroughALinkAtAGeneration_F126) {
  make_lock();
  const std::string real = newest_file();
  const std::string next =
      lock_folder() + "/g" + std::to_string(std::stoull(files('g').back().substr(1)) + 1);
  fs::create_symlink(real, next);
  EXPECT_TRUE(fails_with(Errc::permission, open().mutex("lock").try_acquire()));
}

TEST_F(DirectoryFolder, DoesNotWaitForAPlantedPipe_F126) {
  const Client client = open();
  const auto hold = client.mutex("lock").acquire();
  const std::string life = "/h" + files('g').back().substr(1);
  ASSERT_EQ(::mkfifo((lock_folder() + life).c_str(), 0600), 0);
  EXPECT_TRUE(fails_with(Errc::permission, open().mutex("lock").try_acquire()));
}

TEST_F(DirectoryFolder, IsNotReplacedIfItIsAFile_F126) {
  write(lock_folder(), "precious");
  EXPECT_TRUE(fails_with(Errc::permission, open().mutex("lock").try_acquire()));
  EXPECT_EQ(content(lock_folder()), "precious");
}

TEST_F(DirectoryFolder, MayBeReachedThroughALink) {
  const TempFolder aside;
  fs::create_directory_symlink(folder(), aside / "link");
  const Client straight = open();
  const Client around = connect("dir:" + (aside / "link")).value();
  const auto hold = straight.mutex("lock").acquire();
  EXPECT_TRUE(fails_with(Errc::busy, around.mutex("lock").try_acquire()));
}

}  // namespace
}  // namespace holdfast::test
