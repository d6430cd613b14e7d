// S28, S29, and what a lost reply does to a count.
#include "holdfast/latch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "lossy_cells.hpp"
#include "support/forked_child.hpp"
#include "support/outcome.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

class LatchTest : public testing::Test {
 protected:
  LinkedClient connect(ClientOptions options = {}) {
    return connect_linked(server_, std::move(options));
  }
  // A wait in a thread of its own.
  static std::future<Result<void>> waiting(Latch latch, WaitOptions options = {}) {
    return std::async(std::launch::async,
                      [latch = std::move(latch), options] { return latch.wait(options); });
  }
  static bool still_waits(const std::future<Result<void>>& waiter) {
    return waiter.wait_for(50ms) == std::future_status::timeout;
  }

  std::shared_ptr<store::MemoryServer> server_ = std::make_shared<store::MemoryServer>();
  LinkedClient alice_ = connect();
  LinkedClient bob_ = connect();
  Latch latch_ = alice_.client.latch("gate");
  Latch bobs_ = bob_.client.latch("gate");
};

TEST_F(LatchTest, ThatWasNeverSetIsOpen_S29) {
  EXPECT_TRUE(latch_.wait());
  EXPECT_TRUE(latch_.try_wait().value());
  EXPECT_EQ(latch_.count().value(), 0);
  EXPECT_EQ(latch_.count_down().value(), 0);
  EXPECT_TRUE(latch_.try_wait().value());
}

TEST_F(LatchTest, LetsAllWaitersGoAtTheLastCountDown_S28) {
  ASSERT_TRUE(latch_.set_count(3));
  std::vector<std::future<Result<void>>> waiters;
  for (int i = 0; i < 4; ++i) waiters.push_back(waiting(i % 2 == 0 ? latch_ : bobs_));
  EXPECT_EQ(bobs_.count_down().value(), 2);
  EXPECT_EQ(latch_.count_down().value(), 1);
  for (const auto& waiter : waiters) EXPECT_TRUE(still_waits(waiter));
  EXPECT_FALSE(latch_.try_wait().value());
  const auto start = Steady::now();
  EXPECT_EQ(bobs_.count_down().value(), 0);
  for (auto& waiter : waiters) {
    ASSERT_TRUE(comes(waiter));
    EXPECT_TRUE(waiter.get());
  }
  EXPECT_LT(Steady::now() - start, 1s) << "by the hint, not by looking every now and then";
  EXPECT_TRUE(latch_.wait());
}

TEST_F(LatchTest, SaysWhetherItOpenedInTime_S28) {
  ASSERT_TRUE(latch_.set_count(1));
  const auto start = Steady::now();
  EXPECT_TRUE(fails_with(Errc::timed_out, latch_.wait({.wait = 100ms})));
  EXPECT_GE(Steady::now() - start, 100ms);
  EXPECT_TRUE(fails_with(Errc::timed_out, latch_.wait({.wait = 0s})));
  auto waiter = waiting(latch_, {.wait = kSoon});
  EXPECT_TRUE(bobs_.count_down());
  ASSERT_TRUE(comes(waiter));
  EXPECT_TRUE(waiter.get());
}

TEST_F(LatchTest, StaysAtZero_S29) {
  ASSERT_TRUE(latch_.set_count(2));
  EXPECT_EQ(latch_.count_down(5).value(), 0);
  EXPECT_EQ(latch_.count_down().value(), 0);
  EXPECT_EQ(bobs_.count().value(), 0);
}

TEST_F(LatchTest, IsSetOnceAndAgainWhenItIsOpen_S29) {
  ASSERT_TRUE(latch_.set_count(2));
  EXPECT_TRUE(fails_with(Errc::busy, latch_.set_count(2)));
  EXPECT_TRUE(fails_with(Errc::busy, bobs_.set_count(5)));
  EXPECT_TRUE(fails_with(Errc::busy, bobs_.set_count(0)));
  EXPECT_EQ(latch_.count().value(), 2);
  EXPECT_EQ(latch_.count_down(2).value(), 0);
  EXPECT_TRUE(bobs_.set_count(0)) << "it is open, and stays so";
  EXPECT_TRUE(bobs_.set_count(1));
  EXPECT_FALSE(latch_.try_wait().value());
}

TEST_F(LatchTest, IsSetByOneOfSeveralThatTry_S29) {
  std::atomic<int> set{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto result = (i % 2 == 0 ? latch_ : bobs_).set_count(i + 1);
      ++(result ? set : refused);
      EXPECT_TRUE(result || fails_with(Errc::busy, result));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(set, 1);
  EXPECT_EQ(refused, 7);
}

// The next round is set before the waiter of this one can look.
TEST_F(LatchTest, LetsAWaiterGoThatDidNotSeeItOpen) {
  ASSERT_TRUE(latch_.set_count(2));
  auto waiter = waiting(latch_);
  EXPECT_TRUE(still_waits(waiter));
  alice_.link->set(Link::paused);  // its next look is kept back
  EXPECT_EQ(bobs_.count_down().value(), 1);
  ASSERT_TRUE(eventually([&] { return alice_.link->kept() > 0; }));
  EXPECT_EQ(bobs_.count_down().value(), 0);
  EXPECT_TRUE(bobs_.set_count(1));
  alice_.link->set(Link::up);
  alice_.link->let_go();
  ASSERT_TRUE(comes(waiter));
  EXPECT_TRUE(waiter.get());
  EXPECT_EQ(bobs_.count().value(), 1);
}

TEST_F(LatchTest, StopsWaitingOnRequest) {
  ASSERT_TRUE(latch_.set_count(1));
  std::stop_source stop;
  auto waiter = waiting(latch_, {.stop = stop.get_token()});
  EXPECT_TRUE(still_waits(waiter));
  stop.request_stop();
  ASSERT_TRUE(comes(waiter));
  EXPECT_TRUE(fails_with(Errc::cancelled, waiter.get()));
  EXPECT_TRUE(fails_with(Errc::cancelled, latch_.wait({.stop = stop.get_token()})));
  EXPECT_TRUE(bobs_.count_down());
  EXPECT_TRUE(latch_.wait({.stop = stop.get_token()})) << "an open one needs no waiting";
}

TEST_F(LatchTest, FindsByItselfThatItOpenedIfTheHintIsLost_F066) {
  ASSERT_TRUE(latch_.set_count(1));
  auto waiter = waiting(latch_);
  EXPECT_TRUE(still_waits(waiter));
  alice_.link->set(Link::deaf);
  EXPECT_TRUE(bobs_.count_down());
  alice_.link->set(Link::up);
  ASSERT_TRUE(comes(waiter));
  EXPECT_TRUE(waiter.get());
}

// --- lost replies ---

TEST_F(LatchTest, CountsOnceIfTheReplyWasLost) {
  ASSERT_TRUE(latch_.set_count(10));
  alice_.link->set(Link::deaf);
  auto left = std::async(std::launch::async, [&] { return latch_.count_down(); });
  const auto asked = alice_.link->counts().cells;
  ASSERT_TRUE(eventually([&] { return alice_.link->counts().cells >= asked + 3; }));
  alice_.link->set(Link::up);
  ASSERT_TRUE(comes(left));
  EXPECT_EQ(left.get().value(), 9);
  EXPECT_EQ(bobs_.count().value(), 9);
}

TEST_F(LatchTest, AnswersWhatWasLeftThenAlsoIfOthersCountedMeanwhile) {
  ASSERT_TRUE(latch_.set_count(10));
  alice_.link->set(Link::deaf);
  auto left = std::async(std::launch::async, [&] { return latch_.count_down(); });
  ASSERT_TRUE(eventually([&] { return bobs_.count().value() == 9; }));
  EXPECT_EQ(bobs_.count_down().value(), 8);
  alice_.link->set(Link::up);
  ASSERT_TRUE(comes(left));
  EXPECT_EQ(left.get().value(), 9);
  EXPECT_EQ(bobs_.count().value(), 8);
}

TEST_F(LatchTest, IsSetOnceIfTheReplyWasLost) {
  auto set = [&] {
    alice_.link->set(Link::deaf);
    auto result = std::async(std::launch::async, [&] { return latch_.set_count(4); });
    std::this_thread::sleep_for(50ms);
    alice_.link->set(Link::up);
    return result.get();
  }();
  EXPECT_TRUE(set);
  EXPECT_EQ(bobs_.count().value(), 4);
}

TEST_F(LatchTest, IsUnknownWhenTheStoreStaysSilent) {
  const LinkedClient carol = connect({.answer_within = 250ms, .patience = 1s});
  const Latch latch = carol.client.latch("gate");
  ASSERT_TRUE(latch.set_count(5));
  carol.link->set(Link::deaf);
  EXPECT_TRUE(fails_with(Errc::unknown, latch.count_down()));
  EXPECT_EQ(bobs_.count().value(), 4) << "in truth it counted, once";
  carol.link->set(Link::paused);
  EXPECT_TRUE(fails_with(Errc::unknown, latch.count_down())) << "it may be on its way";
  EXPECT_EQ(bobs_.count().value(), 4);
  carol.link->set(Link::down);
  EXPECT_TRUE(fails_with(Errc::unavailable, latch.count_down())) << "it never left";
  EXPECT_TRUE(fails_with(Errc::unavailable, latch.count()));
  EXPECT_TRUE(fails_with(Errc::unavailable, latch.wait()));
  EXPECT_TRUE(fails_with(Errc::unavailable, latch.wait({.wait = 10ms})));
  carol.link->set(Link::up);
  EXPECT_EQ(latch.count_down().value(), 3);
  carol.link->let_go();  // the attempts that were kept back come now, after a later one
  EXPECT_EQ(bobs_.count().value(), 3) << "and are not done";
}

TEST_F(LatchTest, WaitsOnWhileTheStoreIsAwayForAShortTime) {
  ASSERT_TRUE(latch_.set_count(1));
  auto waiter = waiting(latch_);
  alice_.link->set(Link::down);
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(bobs_.count_down());
  EXPECT_TRUE(still_waits(waiter));
  alice_.link->set(Link::up);
  ASSERT_TRUE(comes(waiter));
  EXPECT_TRUE(waiter.get());
}

// Operations of one client on one cell are numbered: they go one after the other.
TEST_F(LatchTest, CountsExactlyFromManyThreadsWhileRepliesAreLost) {
  constexpr int kThreads = 8, kTimes = 15;
  const Client lossy = connect_lossy(server_);
  ASSERT_TRUE(latch_.set_count(1000));
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kTimes; ++j) {
        if (!lossy.latch("gate").count_down()) ++failed;
        if (!bobs_.count_down()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(latch_.count().value(), 1000 - 2 * kThreads * kTimes);
}

TEST_F(LatchTest, GivesUpItsTurnIfAnEarlierOperationHangs) {
  const LinkedClient carol = connect({.answer_within = 250ms, .patience = 1s});
  const Latch latch = carol.client.latch("gate");
  ASSERT_TRUE(latch.set_count(5));
  carol.link->set(Link::paused);
  std::vector<std::future<Result<std::int64_t>>> counts;
  for (int i = 0; i < 3; ++i) {
    counts.push_back(std::async(std::launch::async, [&] { return latch.count_down(); }));
  }
  int unknown = 0;
  for (auto& count : counts) {
    ASSERT_TRUE(comes(count));
    const auto result = count.get();
    ASSERT_FALSE(result);
    unknown += result.error() == Errc::unknown ? 1 : 0;
    EXPECT_TRUE(result.error() == Errc::unknown || result.error() == Errc::unavailable);
  }
  EXPECT_GE(unknown, 1);
  carol.link->set(Link::up);
  EXPECT_EQ(latch.count_down().value(), 4);
}

// --- misuse ---

TEST_F(LatchTest, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(fails_with(Errc::invalid_argument, latch_.set_count(-1)));
  EXPECT_TRUE(fails_with(Errc::invalid_argument, latch_.count_down(-1)));
  EXPECT_TRUE(fails_with(Errc::invalid_name, alice_.client.latch("").count_down()));
  EXPECT_TRUE(fails_with(Errc::invalid_name, alice_.client.latch("").wait()));
  EXPECT_EQ(latch_.count_down(0).value(), 0);
  EXPECT_EQ(latch_.name(), "gate");
}

TEST_F(LatchTest, IsForkedInAChild_F023) {
  EXPECT_TRUE(holds_in_child([&] {
    return fails_with(Errc::forked, latch_.set_count(1)) &&
           fails_with(Errc::forked, latch_.count_down()) &&
           fails_with(Errc::forked, latch_.wait()) && fails_with(Errc::forked, latch_.try_wait()) &&
           fails_with(Errc::forked, alice_.client.latch("").count());
  }));
  EXPECT_EQ(latch_.count().value(), 0);
}

// A store that has no cells.
class WithoutCells final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  store::Cells* cells() override { return nullptr; }
};

TEST_F(LatchTest, IsUnsupportedByAStoreWithoutCells) {
  const Client client =
      connect_to([&](const runtime::BootClock& clock, runtime::EpollLoop&) -> OpenedClient {
        return {new_client_id(), std::make_unique<WithoutCells>(
                                     std::make_unique<store::MemoryStore>(server_, clock))};
      });
  EXPECT_TRUE(fails_with(Errc::unsupported, client.latch("gate").set_count(1)));
  EXPECT_TRUE(fails_with(Errc::unsupported, client.latch("gate").count_down()));
  EXPECT_TRUE(fails_with(Errc::unsupported, client.latch("gate").wait()));
  EXPECT_TRUE(fails_with(Errc::unsupported, client.versioned("config").read()));
}

}  // namespace
}  // namespace holdfast::test
