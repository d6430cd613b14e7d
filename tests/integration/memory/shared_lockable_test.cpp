// A SharedMutex behind the standard's own lock types.
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include <gtest/gtest.h>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class SharedLockableTest : public testing::Test {
 protected:
  // On a thread of its own, and to its end.
  template <class Work>
  static auto elsewhere(Work work) {
    return std::async(std::launch::async, work).get();
  }

  const Client client_ = connect("memory:shared lockable").value();
  SharedLockable lock_{client_.shared_mutex("book"), {.lease = 10s}};
};

TEST_F(SharedLockableTest, IsHeldByReadersTogetherAndByAWriterAlone) {
  std::shared_lock reading(lock_);
  EXPECT_TRUE(reading.owns_lock());
  EXPECT_TRUE(elsewhere([&] {
    const std::shared_lock also(lock_, std::try_to_lock);
    return also.owns_lock();
  }));
  EXPECT_FALSE(elsewhere([&] { return lock_.try_lock(); }));
  reading.unlock();
  const std::unique_lock writing(lock_);
  EXPECT_FALSE(elsewhere([&] { return lock_.try_lock_shared(); }));
  EXPECT_FALSE(elsewhere([&] {
    return client_.shared_mutex("book").try_acquire_shared().has_value();
  })) << "it is the same lock for everybody";
}

TEST_F(SharedLockableTest, WaitsForAsLongAsItIsTold) {
  const std::unique_lock writing(lock_);
  EXPECT_FALSE(elsewhere([&] { return lock_.try_lock_for(10ms); }));
  EXPECT_FALSE(elsewhere([&] { return lock_.try_lock_shared_for(10ms); }));
  const auto soon = std::chrono::system_clock::now() + 10ms;
  EXPECT_FALSE(elsewhere([&] { return lock_.try_lock_until(soon); }));
  EXPECT_FALSE(elsewhere([&] { return lock_.try_lock_shared_until(soon); }));
}

TEST_F(SharedLockableTest, CountsRightAmongReadersAndWriters) {
  SharedLockable other(client_.shared_mutex("page"));
  int counter = 0;  // guarded by both
  std::vector<std::thread> threads;
  std::atomic<int> read{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        {
          const std::scoped_lock both(lock_, other);  // with try_lock and back-off, as std does it
          ++counter;
        }
        const std::shared_lock reading(lock_);
        read += counter > 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 100);
  EXPECT_EQ(read, 100);
}

TEST_F(SharedLockableTest, TellsAThreadThatItWouldWaitForItself) {
  const std::unique_lock writing(lock_);
  try {
    lock_.lock();
    FAIL() << "it was locked twice";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), Errc::would_deadlock);
  }
  EXPECT_THROW(lock_.lock_shared(), std::system_error);
  EXPECT_FALSE(lock_.try_lock());
}

TEST_F(SharedLockableTest, IsUnlockedByWhoeverLockedItAndInTheSameWay_F031) {
  lock_.lock_shared();
  lock_.unlock();  // it is no writer
  EXPECT_TRUE(lock_.valid());
  elsewhere([&] { return lock_.unlock_shared(), true; });
  EXPECT_TRUE(lock_.valid());
  EXPECT_TRUE(lock_.fence());
  lock_.unlock_shared();
  EXPECT_FALSE(lock_.valid());
  EXPECT_FALSE(lock_.fence());
  EXPECT_FALSE(lock_.lost().stop_possible());
}

// The system gives the next thread the id of one that has ended.
TEST_F(SharedLockableTest, IsNotInheritedByTheNextThreadOfThatId) {
  std::thread([&] { lock_.lock(); }).join();
  std::thread([&] {
    EXPECT_FALSE(lock_.valid());
    EXPECT_FALSE(lock_.fence());
    lock_.unlock();
    EXPECT_FALSE(lock_.try_lock_shared());
  }).join();
}

TEST_F(SharedLockableTest, SaysWhenItIsLost) {
  lock_.lock();
  const std::stop_token lost = lock_.lost();
  const auto fence = lock_.fence();
  ASSERT_TRUE(fence);
  ASSERT_TRUE(client_.force_release("book", {.fence = *fence, .now = true}));
  ASSERT_TRUE(elsewhere([&] { return eventually([&] { return lost.stop_requested(); }); }));
  EXPECT_FALSE(lock_.valid());
  lock_.unlock();
  EXPECT_TRUE(lock_.try_lock());
  lock_.unlock();
}

TEST_F(SharedLockableTest, GivesBackWhatIsStillLockedWhenItGoes) {
  {
    SharedLockable short_lived(client_.shared_mutex("page"));
    short_lived.lock();
  }
  EXPECT_TRUE(client_.shared_mutex("page").acquire({.wait = kSoon}));
}

}  // namespace
}  // namespace holdfast::test
