// What an observer is told, in which order, and with which numbers.
#include "holdfast/observer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using What = LockEvent::What;
using testing::ElementsAre;
using testing::IsEmpty;

class Recorder final : public Observer {
 public:
  void on_event(const LockEvent& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  std::vector<LockEvent> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<LockEvent> events_;
};

class ObserverTest : public testing::Test {
 protected:
  std::vector<LockEvent> events() {
    bench_.settle();
    return recorder_->take();
  }
  std::vector<What> told() {
    std::vector<What> all;
    for (const LockEvent& event : events()) {
      EXPECT_EQ(event.lock, "lock");
      all.push_back(event.what);
    }
    return all;
  }

  HandBench bench_;
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  HandBench::Seat& alice_ = bench_.client({.observer = recorder_});
  HandBench::Seat& bob_ = bench_.client();
};

TEST_F(ObserverTest, IsToldOfALockThatComesAndGoes) {
  std::optional<Hold> hold(alice_.mutex().acquire().value());
  const TimePoint granted = bench_.now();
  bench_.let_pass(11s);
  const FencingToken fence = hold->fence();
  hold.reset();

  const auto all = events();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].what, What::acquired);
  EXPECT_EQ(all[0].at, granted);
  EXPECT_EQ(all[0].took, 0s);
  EXPECT_EQ(all[1].what, What::renewed);
  EXPECT_EQ(all[2].what, What::released);
  EXPECT_EQ(all[2].at, granted + 11s);
  EXPECT_EQ(all[2].took, 11s);
  for (const LockEvent& event : all) {
    EXPECT_EQ(event.lock, "lock");
    EXPECT_EQ(event.fence, fence);
    EXPECT_FALSE(event.error);
  }
}

TEST_F(ObserverTest, IsToldOfTheWait) {
  std::optional<Hold> held(bob_.mutex().acquire().value());
  auto pending = alice_.mutex().async_acquire();
  EXPECT_THAT(told(), ElementsAre(What::waiting));
  bench_.let_pass(7s);
  held.reset();
  const auto all = events();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].what, What::acquired);
  EXPECT_EQ(all[0].took, 7s);
  EXPECT_EQ(all[0].fence, std::move(pending).get()->fence());
}

TEST_F(ObserverTest, IsToldWhyAWaitWasGivenUp) {
  const auto held = bob_.mutex().acquire();
  EXPECT_FALSE(alice_.mutex().try_acquire());
  auto all = events();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].what, What::gave_up);
  EXPECT_EQ(all[0].error, Errc::busy);

  auto timed = alice_.mutex().async_acquire({.wait = 5s});
  bench_.let_pass(6s);
  all = events();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].what, What::gave_up);
  EXPECT_EQ(all[1].error, Errc::timed_out);
  EXPECT_EQ(all[1].took, 5s);

  { const auto dropped = alice_.mutex().async_acquire(); }
  all = events();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].error, Errc::cancelled);
}

TEST_F(ObserverTest, IsToldOfTheLossAndItsReason) {
  const auto brief = alice_.mutex().acquire({.lease = 1s, .renew = false});
  bench_.let_pass(2s);
  auto all = events();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].what, What::lost);
  EXPECT_EQ(all[1].error, Errc::lost);
  EXPECT_EQ(all[1].fence, brief->fence());
  EXPECT_EQ(all[1].took, 1s - 12ms);

  const auto revoked = alice_.mutex().acquire();
  ASSERT_TRUE(bench_.force(*revoked, HandBench::Force::revoke));
  bench_.let_pass(15s);
  all = events();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].what, What::lost);
  EXPECT_EQ(all[1].error, Errc::forced);
}

TEST_F(ObserverTest, IsToldOfRenewalsWithoutAnswer) {
  const auto hold = alice_.mutex().acquire();
  events();
  alice_.link().set(Link::down);
  bench_.let_pass(11s);
  alice_.link().set(Link::up);
  bench_.let_pass(1s);
  const auto all = told();
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(all.front(), What::renewal_unanswered);
  EXPECT_EQ(all.back(), What::renewed);
}

TEST_F(ObserverTest, IsToldOfTheHandOff) {
  std::optional<Hold> held(bob_.mutex().acquire().value());
  auto first = alice_.mutex().async_acquire();
  auto second = alice_.mutex().async_acquire();
  bench_.let_pass(15s);
  held.reset();
  bench_.settle();
  held.emplace(std::move(first).get().value());
  bench_.let_pass(5ms);
  held.reset();
  bench_.settle();
  EXPECT_THAT(told(), ElementsAre(What::waiting, What::acquired, What::released, What::handed_off));
  const auto hold = std::move(second).get();
  bench_.settle();
}

TEST_F(ObserverTest, IsToldNothingOfOtherClients) {
  const auto held = bob_.mutex().acquire();
  bench_.let_pass(1min);
  EXPECT_THAT(told(), IsEmpty());
}

// Whatever the threads do, the events of one lock read as its story.
TEST(ObserverInRealTime, IsToldInOrderAndOneAtATime) {
  class Strict final : public Observer {
   public:
    void on_event(const LockEvent& event) override {
      EXPECT_FALSE(busy.exchange(true));
      EXPECT_GE(event.at, last);
      last = event.at;
      if (event.what == What::acquired || event.what == What::handed_off) {
        EXPECT_FALSE(holder) << "held twice";
        holder = event.fence;
        ++grants;
      } else if (event.what == What::released) {
        EXPECT_EQ(holder, event.fence);
        holder.reset();
      }
      busy = false;
    }
    std::atomic<bool> busy{false};
    TimePoint last{};
    std::optional<FencingToken> holder;
    std::atomic<int> grants{0};
  };
  const auto observer = std::make_shared<Strict>();
  {
    const Client client = connect("memory:observer", {.observer = observer}).value();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 100; ++round) EXPECT_TRUE(client.mutex("lock").acquire());
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(observer->grants, 800) << "what was posted before the end is still told";
}

// Of where the locks are kept an event says nothing, nor does a record: a URL may have a password.
TEST(ObserverOfAClient, IsNotToldTheUrl_F137) {
  const auto recorder = std::make_shared<Recorder>();
  {
    const Client client = connect("memory:hunter2", {.observer = recorder}).value();
    const Hold held = client.mutex("lock").acquire().value();
    const auto busy = client.mutex("lock").acquire({.wait = 1ms});
    EXPECT_EQ(busy.error().text().find("hunter2"), std::string::npos);
    const auto seen = client.inspect().value();
    EXPECT_EQ(describe(seen.at(0).holders.at(0).record).find("hunter2"), std::string::npos);
  }
  // The client's last reference may have gone on a thread of its own, which tells the rest by itself.
  std::vector<LockEvent> events;
  EXPECT_TRUE(eventually([&] {
    for (LockEvent& event : recorder->take()) events.push_back(std::move(event));
    return events.size() >= 3;
  }));
  for (const LockEvent& event : events) EXPECT_EQ(event.lock, "lock");
}

}  // namespace
}  // namespace holdfast::test
