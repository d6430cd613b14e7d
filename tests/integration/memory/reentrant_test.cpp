// A lock that its owner may enter again: counts, owners, loss, and the faces of std.
#include "holdfast/reentrant_mutex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/forked_child.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

static_assert(std::is_copy_constructible_v<ReentrantMutex>);
static_assert(!std::is_copy_constructible_v<ReentrantHold>);
static_assert(std::is_nothrow_move_constructible_v<ReentrantHold>);
static_assert(noexcept(std::declval<ReentrantMutex&>().unlock()));

std::error_code code_of_lock(const ReentrantMutex& mutex) {
  try {
    mutex.lock();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

class Reentrant : public testing::Test {
 protected:
  ReentrantMutex mutex(AcquireOptions options = {}) {
    return alice_.client().reentrant_mutex("lock", std::move(options));
  }
  void expect_free() {
    bench_.settle();
    EXPECT_TRUE(bench_.is_empty());
  }
  void expect_busy() { EXPECT_EQ(bob_.mutex().try_acquire().error(), Errc::busy); }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
  Owner task_;
  Owner other_;
};

// ---- counting ----

TEST_F(Reentrant, S09_CountsOneTwoOneNone_F043) {
  const ReentrantMutex lock = mutex();
  const ReentrantMutex others = mutex({.owner = &other_});
  const auto expect_mine = [&](std::uint64_t count) {
    EXPECT_EQ(lock.count(), count);
    EXPECT_TRUE(lock.valid());
    EXPECT_EQ(others.count(), 0U);
    EXPECT_FALSE(others.try_lock()) << "another owner of this client";
    expect_busy();
  };
  EXPECT_EQ(lock.count(), 0U);
  EXPECT_FALSE(lock.valid());
  lock.lock();
  const auto fence = lock.fence();
  ASSERT_TRUE(fence);
  expect_mine(1);
  lock.lock();
  expect_mine(2);
  EXPECT_EQ(lock.fence(), fence);
  lock.unlock();
  expect_mine(1);
  EXPECT_EQ(lock.fence(), fence);
  lock.unlock();
  EXPECT_EQ(lock.count(), 0U);
  EXPECT_FALSE(lock.fence());
  EXPECT_FALSE(lock.valid());
  expect_free();
  EXPECT_TRUE(others.try_lock());
  EXPECT_GT(others.fence(), fence);
}

TEST_F(Reentrant, S09_CopiesAgreeOnTheCount) {
  const ReentrantMutex first = mutex();
  const ReentrantMutex copy = first;  // NOLINT(performance-unnecessary-copy-initialization)
  const ReentrantMutex same_name = alice_.client().reentrant_mutex("lock");
  const ReentrantMutex other_name = alice_.client().reentrant_mutex("lock 2");
  first.lock();
  copy.lock();
  same_name.lock();
  EXPECT_EQ(first.count(), 3U);
  EXPECT_EQ(other_name.count(), 0U);
  other_name.lock();
  EXPECT_EQ(other_name.count(), 1U);
  EXPECT_FALSE(bob_.client().reentrant_mutex("lock").try_lock()) << "another client";
  same_name.unlock();
  first.unlock();
  EXPECT_EQ(copy.count(), 1U);
  expect_busy();
  first.unlock();
  EXPECT_TRUE(bob_.client().reentrant_mutex("lock").try_lock());
}

TEST_F(Reentrant, AsksNobodyToEnterAgain) {
  const ReentrantMutex lock = mutex();
  lock.lock();
  const auto asked = alice_.link().counts().all();
  alice_.link().set(Link::down);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(lock.try_lock());
  EXPECT_EQ(lock.count(), 1001U);
  for (int i = 0; i < 1000; ++i) lock.unlock();
  EXPECT_EQ(alice_.link().counts().all(), asked);
  alice_.link().set(Link::up);
  lock.unlock();
  EXPECT_EQ(alice_.link().counts().release, 1U);
  expect_free();
}

TEST_F(Reentrant, IsTheSameLockAsTheMutexOfItsName) {
  const ReentrantMutex lock = mutex();
  lock.lock();
  EXPECT_EQ(alice_.mutex().try_acquire().error(), Errc::busy);
  lock.unlock();
  const auto hold = alice_.mutex().acquire({.owner = &task_});
  EXPECT_FALSE(lock.try_lock());
  EXPECT_EQ(lock.acquire({.owner = &task_}).error(), Errc::would_deadlock)
      << "a Mutex does not count";
}

TEST_F(Reentrant, HasTheOptionsOfTheFirstEntry) {
  const ReentrantMutex lock = mutex({.lease = 1h, .reason = "first"});
  lock.lock();
  const TimePoint until = lock.acquire({.lease = 1s, .reason = "second"}).value().valid_until();
  EXPECT_EQ(until, lock.acquire().value().valid_until());
  EXPECT_GT(until, bench_.now() + 50min);
  EXPECT_EQ(bench_.look()[0].holds[0].record.reason, "first");
}

// ---- entries as objects ----

TEST_F(Reentrant, EntriesMayGoInAnyOrder) {
  const ReentrantMutex lock = mutex();
  std::optional<ReentrantHold> first(lock.acquire().value());
  std::optional<ReentrantHold> second(lock.acquire({.wait = 0s}).value());
  EXPECT_EQ(first->name(), "lock");
  EXPECT_EQ(first->fence(), second->fence());
  EXPECT_EQ(first->count(), 2U);
  EXPECT_EQ(first->remaining(), second->remaining());
  first.reset();
  EXPECT_EQ(second->count(), 1U);
  EXPECT_TRUE(second->valid());
  expect_busy();
  ReentrantHold moved = std::move(*second);
  second.reset();
  EXPECT_TRUE(moved.valid());
  expect_busy();
  EXPECT_TRUE(moved.release());
  EXPECT_FALSE(moved.valid());
  EXPECT_EQ(moved.remaining(), 0s);
  expect_free();
}

TEST_F(Reentrant, AnEntryIsReleasedOnce_F032) {
  const ReentrantMutex lock = mutex();
  lock.lock();
  ReentrantHold inner = lock.acquire().value();
  EXPECT_TRUE(inner.release());
  EXPECT_FALSE(inner.valid()) << "the owner has it, this entry does not";
  const auto again = inner.release();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), Errc::not_owner);
  EXPECT_EQ(again.error().detail().lock, "lock");
  EXPECT_EQ(lock.count(), 1U);
  expect_busy();
}

TEST_F(Reentrant, UnlockedTooOftenItHarmsNobody_F043) {
  const ReentrantMutex lock = mutex();
  ReentrantHold entry = lock.acquire().value();
  lock.unlock();
  EXPECT_FALSE(entry.valid());
  const auto next = bob_.mutex().try_acquire();
  ASSERT_TRUE(next);
  lock.unlock();
  EXPECT_EQ(entry.release().error(), Errc::not_owner);
  bench_.settle();
  EXPECT_TRUE(next->verify());
}

// ---- owners ----

TEST_F(Reentrant, UnlockByAStrangerDoesNothing_F031) {
  mutex().unlock();  // nobody has it
  const ReentrantMutex lock = mutex();
  lock.lock();
  mutex({.owner = &other_}).unlock();
  std::thread([&] { lock.unlock(); }).join();
  bob_.client().reentrant_mutex("lock").unlock();
  EXPECT_EQ(lock.count(), 1U);
  EXPECT_TRUE(lock.valid());
  expect_busy();
}

TEST_F(Reentrant, AnOwnerMayMoveBetweenThreads) {
  const ReentrantMutex lock = mutex({.owner = &task_});
  lock.lock();
  const auto fence = lock.fence();
  std::optional<ReentrantHold> entry;
  std::thread([&] {
    EXPECT_EQ(lock.count(), 1U);
    EXPECT_TRUE(lock.try_lock());
    entry.emplace(alice_.client().reentrant_mutex("lock").acquire({.owner = &task_}).value());
    EXPECT_EQ(entry->fence(), fence);
    EXPECT_FALSE(mutex().try_lock()) << "this thread is not the task";
  }).join();
  EXPECT_EQ(lock.count(), 3U);
  EXPECT_TRUE(entry->release());
  std::thread([&] {
    lock.unlock();
    lock.unlock();
  }).join();
  expect_free();
}

TEST_F(Reentrant, AThreadThatComesAfterAnotherIsNotTakenForIt_F034) {
  const ReentrantMutex lock = mutex();
  std::thread([&] { lock.lock(); }).join();
  // Thread ids are reused: that of the first is free now.
  std::thread([&] {
    EXPECT_EQ(lock.count(), 0U);
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
  }).join();
  expect_busy();
}

TEST_F(Reentrant, WhatIsStillLockedGoesWithTheClient) {
  mutex().lock();
  alice_.drop_client();
  expect_free();
}

TEST_F(Reentrant, AnEntryOutlivesItsClient_F036) {
  std::optional<ReentrantHold> entry(mutex().acquire().value());
  alice_.drop_client();
  bench_.let_pass(5min);
  EXPECT_TRUE(entry->valid());
  entry.reset();
  expect_free();
}

// ---- loss ----

TEST_F(Reentrant, NobodyReentersWhatIsLost) {
  const ReentrantMutex lock = mutex({.lease = 1s, .renew = false});
  lock.lock();
  ReentrantHold inner = lock.acquire().value();
  const std::stop_token lost = lock.lost();
  EXPECT_FALSE(lost.stop_requested());
  bench_.oversleep(1s);
  EXPECT_FALSE(lock.valid()) << "before anybody has run";
  EXPECT_FALSE(lock.try_lock());
  bench_.settle();
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_TRUE(inner.lost().stop_requested());

  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(1h));
  EXPECT_EQ(code_of_lock(lock), Errc::lost);
  const auto again = lock.acquire();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), Errc::lost);
  EXPECT_EQ(again.error().detail().lock, "lock");
  EXPECT_THAT(again.error().text(), HasSubstr("\"lock\""));
  EXPECT_EQ(lock.count(), 2U) << "what failed was not counted";

  const auto next = bob_.mutex().try_acquire();
  ASSERT_TRUE(next);
  EXPECT_EQ(inner.release().error(), Errc::lost);
  EXPECT_EQ(lock.count(), 1U);
  EXPECT_EQ(code_of_lock(lock), Errc::lost);
  lock.unlock();
  bench_.settle();
  EXPECT_TRUE(next->verify()) << "the next holder is left alone";
  EXPECT_EQ(lock.count(), 0U);
  EXPECT_FALSE(lock.try_lock());
}

TEST_F(Reentrant, AfterALossItIsLockedAnewOnceTheCountIsNone) {
  const ReentrantMutex lock = mutex({.lease = 1s, .renew = false});
  lock.lock();
  const auto fence = lock.fence();
  bench_.let_pass(2s);
  EXPECT_EQ(code_of_lock(lock), Errc::lost);
  lock.unlock();
  lock.lock();
  EXPECT_TRUE(lock.valid());
  EXPECT_EQ(lock.count(), 1U);
  EXPECT_GT(lock.fence(), fence);
  EXPECT_FALSE(lock.lost().stop_requested());
}

TEST_F(Reentrant, AnEntryTellsThatAnOperatorTookTheLock) {
  const ReentrantMutex lock = mutex({.lease = 3s});
  ReentrantHold outer = lock.acquire().value();
  ReentrantHold inner = lock.acquire().value();
  const auto seen = alice_.client().inspect().value();
  ASSERT_TRUE(bob_.client().force_release("lock", {.fence = seen[0].holders[0].fence}));
  bench_.let_pass(3s);
  EXPECT_FALSE(inner.valid());
  EXPECT_EQ(inner.release().error(), Errc::forced);
  EXPECT_EQ(outer.release().error(), Errc::forced);
  EXPECT_EQ(lock.count(), 0U);
  expect_free();
}

// ---- the faces of std ----

TEST_F(Reentrant, LockThrowsWhatAcquireTells) {
  const auto held = bob_.mutex().acquire();
  EXPECT_EQ(code_of_lock(mutex({.wait = 0s})), Errc::busy);
  EXPECT_EQ(code_of_lock(mutex({.lease = 1ms})), Errc::invalid_lease);
  EXPECT_EQ(code_of_lock(alice_.client().reentrant_mutex("")), Errc::invalid_name);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of_lock(mutex({.stop = stop.get_token()})), Errc::cancelled);
  try {
    mutex({.wait = 0s}).lock();
    FAIL() << "it is busy";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"lock\""));
  }
  EXPECT_EQ(mutex().count(), 0U);
}

TEST_F(Reentrant, TakesTimesOfAnyKind) {
  const ReentrantMutex lock = mutex();
  EXPECT_TRUE(lock.try_lock_for(std::chrono::hours::max()));
  EXPECT_TRUE(lock.try_lock_for(std::chrono::duration<double>(1e300)));
  EXPECT_TRUE(lock.try_lock_for(std::chrono::duration<float, std::micro>(0.5F)));
  EXPECT_TRUE(lock.try_lock_for(-1s));
  EXPECT_TRUE(lock.try_lock_until(std::chrono::steady_clock::time_point::max()));
  EXPECT_TRUE(lock.try_lock_until(std::chrono::system_clock::time_point::min()));
  EXPECT_TRUE(lock.try_lock_until(std::chrono::file_clock::now() + 1s));
  EXPECT_EQ(lock.count(), 7U);

  const ReentrantMutex others = mutex({.owner = &other_});
  EXPECT_FALSE(others.try_lock_for(0s));
  EXPECT_FALSE(others.try_lock_for(std::chrono::nanoseconds::min()));
  EXPECT_FALSE(others.try_lock_until(std::chrono::steady_clock::now()));
  EXPECT_FALSE(others.try_lock_until(std::chrono::system_clock::time_point::min()));
  for (int i = 0; i < 7; ++i) lock.unlock();
  expect_free();
}

TEST(ReentrantInRealTime, TriesForAsLongAsItIsTold) {
  const Client client = connect("memory:reentrant times").value();
  const auto held = client.mutex("lock").acquire();
  const ReentrantMutex lock = client.reentrant_mutex("lock");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(lock.try_lock_for(50ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 50ms);
  EXPECT_FALSE(lock.try_lock_until(std::chrono::steady_clock::now() + 50ms));
  EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + 50ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 150ms);
  EXPECT_EQ(code_of_lock(client.reentrant_mutex("lock", {.wait = 20ms})), Errc::timed_out);
}

// Goes at a quarter of the usual rate.
struct SlowClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SlowClock>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() {
    return time_point(std::chrono::steady_clock::now().time_since_epoch() / 4);
  }
};

TEST(ReentrantInRealTime, TriesUntilTheGivenClockSaysSo) {
  const Client client = connect("memory:reentrant clocks").value();
  const auto held = client.mutex("lock").acquire();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(client.reentrant_mutex("lock").try_lock_until(SlowClock::now() + 25ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 99ms);
}

TEST(ReentrantInRealTime, ATimedLockGetsWhatIsReleasedInTime) {
  const Client client = connect("memory:reentrant in time").value();
  std::optional<Hold> held(client.mutex("lock").acquire().value());
  const ReentrantMutex lock = client.reentrant_mutex("lock");
  auto got = std::async(std::launch::async, [&] {
    std::unique_lock guard(lock, kSoon);
    return guard.owns_lock() && lock.valid();
  });
  held.reset();
  ASSERT_TRUE(comes(got));
  EXPECT_TRUE(got.get());
  EXPECT_TRUE(lock.try_lock()) << "the guard has unlocked it";
}

TEST(ReentrantInRealTime, UnlockDoesNotThrowWhenTheStoreIsSilent) {
  const auto server = std::make_shared<store::MemoryServer>();
  const LinkedClient linked = connect_linked(server, {.answer_within = 5ms, .close_within = 0s});
  const ReentrantMutex lock = linked.client.reentrant_mutex("lock");
  lock.lock();
  linked.link->set(Link::down);
  lock.unlock();
  EXPECT_EQ(lock.count(), 0U);
  EXPECT_FALSE(lock.valid());
  linked.link->set(Link::up);
  EXPECT_TRUE(eventually([&] { return connect_linked(server).client.inspect().value().empty(); }));
}

// ---- threads ----

TEST(ReentrantThreads, S09_AnotherThreadCannotEnterBetween) {
  const Client client = connect("memory:reentrant between").value();
  const ReentrantMutex lock = client.reentrant_mutex("lock");
  lock.lock();
  lock.lock();
  std::atomic<bool> entered{false};
  auto waiting = std::async(std::launch::async, [&] {
    const std::lock_guard guard(lock);
    entered = true;
    return lock.count();
  });
  EXPECT_EQ(client.reentrant_mutex("lock").count(), 2U);
  lock.unlock();
  EXPECT_EQ(waiting.wait_for(20ms), std::future_status::timeout);
  EXPECT_FALSE(entered);
  lock.unlock();
  ASSERT_TRUE(comes(waiting));
  EXPECT_EQ(waiting.get(), 1U);
}

TEST(ReentrantThreads, S09_CountExactlyThroughRecursion) {
  const Client client = connect("memory:reentrant recursion").value();
  int plain = 0;
  const auto recurse = [&](const auto& self, int depth) -> void {
    const ReentrantMutex lock = client.reentrant_mutex("lock");
    const std::lock_guard guard(lock);
    ++plain;
    if (depth > 1) self(self, depth - 1);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) recurse(recurse, 5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, 8 * 100 * 5);
  EXPECT_TRUE(client.inspect().value().empty());
}

TEST(ReentrantThreads, S09_ScopedLocksInOppositeOrdersDoNotDeadlock) {
  constexpr int kRounds = 500;
  const Client client = connect("memory:reentrant scoped").value();
  int plain = 0;
  const auto work = [&](const char* one, const char* two) {
    const ReentrantMutex first = client.reentrant_mutex(one);
    const ReentrantMutex second = client.reentrant_mutex(two);
    for (int i = 0; i < kRounds; ++i) {
      const std::scoped_lock both(first, second);
      const std::scoped_lock again(second, first);
      EXPECT_EQ(first.count(), 2U);
      ++plain;
    }
  };
  std::thread thread(work, "a", "b");
  work("b", "a");
  thread.join();
  EXPECT_EQ(plain, 2 * kRounds);
  EXPECT_TRUE(client.inspect().value().empty());
}

// Misuse, but nothing breaks: whoever is told would_deadlock does not have it.
TEST(ReentrantThreads, OneOwnerOnTwoThreadsAtOnceKeepsItsCount) {
  const Client client = connect("memory:reentrant misuse").value();
  Owner owner;
  const ReentrantMutex lock = client.reentrant_mutex("lock", {.owner = &owner});
  const auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      auto entry = lock.acquire();
      if (entry) {
        EXPECT_TRUE(entry->release());
      } else {
        EXPECT_EQ(entry.error(), Errc::would_deadlock);
      }
    }
  };
  std::thread thread(work);
  work();
  thread.join();
  EXPECT_EQ(lock.count(), 0U);
  EXPECT_TRUE(client.inspect().value().empty());
}

TEST(ReentrantFork, TheChildHasNothing_F023) {
  const Client client = connect("memory:reentrant fork").value();
  const ReentrantMutex lock = client.reentrant_mutex("lock");
  lock.lock();
  ReentrantHold entry = lock.acquire().value();
  EXPECT_TRUE(holds_in_child([&] {
    const bool nothing = code_of_lock(lock) == Errc::forked && !lock.try_lock() &&
                         lock.acquire().error() == Errc::forked && lock.count() == 0 &&
                         !lock.valid() && !entry.valid() && entry.release().error() == Errc::forked;
    lock.unlock();
    return nothing;
  }));
  EXPECT_EQ(lock.count(), 2U);
  EXPECT_TRUE(entry.release());
  EXPECT_TRUE(lock.valid());
}

}  // namespace
}  // namespace holdfast::test
