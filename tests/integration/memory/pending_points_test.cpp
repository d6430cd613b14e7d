// A result that is on its way can be given up, dropped or waited for at any moment of that way. What
// comes of it is exactly one result, and nothing that stays behind in the store.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "coroutines.hpp"
#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

enum class Point {
  asked,    // the store has not seen the question
  granted,  // the store has granted it, the answer is under way
  in_line,  // another client holds the lock
  offered,  // it was handed over, and is being confirmed
  ready,    // the result is there, nobody has taken it
};

std::string name_of(const testing::TestParamInfo<Point>& info) {
  switch (info.param) {
    case Point::asked:
      return "Asked";
    case Point::granted:
      return "Granted";
    case Point::in_line:
      return "InLine";
    case Point::offered:
      return "Offered";
    case Point::ready:
      return "Ready";
  }
  return {};
}

class PendingAt : public testing::TestWithParam<Point> {
 protected:
  Pending<Hold> ask(AcquireOptions options = {}) {
    return bob_.mutex().async_acquire(std::move(options));
  }

  void SetUp() override {
    const bool other_holds = GetParam() == Point::in_line || GetParam() == Point::offered;
    if (other_holds) held_.emplace(alice_.mutex().acquire().value());
    if (GetParam() == Point::asked) bob_.link().set(Link::paused);
    if (GetParam() == Point::granted) bob_.link().set(Link::late);
  }

  // Brings a request that was just made to its point.
  void bring_there() {
    bench_.settle();
    if (GetParam() != Point::offered) return;
    bob_.link().set(Link::late);
    held_.reset();
    bench_.settle();
    ASSERT_EQ(bob_.link().kept(), 1U) << "the confirmation should be under way";
  }

  // Lets everything happen that is under way. The other holder goes too.
  void finish() {
    bob_.link().set(Link::up);
    do {
      bench_.settle();
    } while (bob_.link().let_go() > 0);
    held_.reset();
    bench_.settle();
  }

  bool comes_with_a_hold() const { return GetParam() != Point::in_line; }

  void expect_hold_or(Errc error, const Result<Hold>& result) const {
    EXPECT_EQ(result.has_value(), comes_with_a_hold());
    if (!result) {
      EXPECT_EQ(result.error().errc(), error) << result.error().text();
      EXPECT_EQ(result.error().detail().lock, "lock");
    } else {
      EXPECT_TRUE(result->valid());
    }
  }

  void expect_nothing_left() {
    bench_.settle();
    EXPECT_TRUE(bench_.is_empty());
    EXPECT_TRUE(alice_.mutex().try_acquire());
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
  std::optional<Hold> held_;
};

TEST_P(PendingAt, GetGivesTheHold) {
  auto pending = ask();
  bring_there();
  finish();
  ASSERT_TRUE(pending.ready());
  {
    const auto hold = std::move(pending).get();
    ASSERT_TRUE(hold);
    EXPECT_TRUE(hold->valid());
  }
  expect_nothing_left();
}

TEST_P(PendingAt, ThenIsCalledOnceWithTheHold) {
  auto pending = ask();
  bring_there();
  int calls = 0;
  std::move(pending).then([&](Result<Hold> hold) {
    ++calls;
    EXPECT_TRUE(hold);
  });
  EXPECT_EQ(calls, 0) << "it runs as a callback, not inside then()";
  finish();
  bench_.let_pass(1min);
  EXPECT_EQ(calls, 1);
  expect_nothing_left();
}

TEST_P(PendingAt, ACoroutineIsResumedWithTheHold) {
  auto pending = ask();
  bring_there();
  std::optional<Result<Hold>> got;
  [](Pending<Hold> awaited, std::optional<Result<Hold>>& to) -> Detached {
    to = co_await std::move(awaited);
  }(std::move(pending), got);
  finish();
  ASSERT_TRUE(got);
  EXPECT_TRUE(*got);
  got.reset();
  expect_nothing_left();
}

TEST_P(PendingAt, DroppingItLeavesNothing_F035) {
  {
    const auto pending = ask();
    bring_there();
  }
  finish();
  expect_nothing_left();
}

TEST_P(PendingAt, AnotherOneAssignedToItDropsIt_F035) {
  auto pending = ask();
  bring_there();
  pending = alice_.mutex("another").async_acquire();
  finish();
  EXPECT_TRUE(std::move(pending).get());
  expect_nothing_left();
}

TEST_P(PendingAt, ACoroutineDestroyedWhileItWaitsIsNotResumedAndLeavesNothing_F035) {
  bool resumed = false;
  {
    const auto waiting = [](Pending<Hold> awaited, bool& flag) -> Lazy<bool> {
      const auto hold = co_await std::move(awaited);
      flag = true;
      co_return hold.has_value();
    };
    auto pending = ask();
    bring_there();
    auto lazy = waiting(std::move(pending), resumed);
    if (GetParam() == Point::ready) return;  // it would not wait
    lazy.start();
    ASSERT_FALSE(lazy.done());
  }
  finish();
  EXPECT_FALSE(resumed);
  expect_nothing_left();
}

TEST_P(PendingAt, CancelGivesOneResult_F037) {
  auto pending = ask();
  bring_there();
  pending.cancel();
  pending.cancel();
  finish();
  ASSERT_TRUE(pending.ready());
  expect_hold_or(Errc::cancelled, std::move(pending).get());
  expect_nothing_left();
}

TEST_P(PendingAt, AStopTokenCancels_F037) {
  std::stop_source stop;
  auto pending = ask({.stop = stop.get_token()});
  bring_there();
  stop.request_stop();
  finish();
  ASSERT_TRUE(pending.ready());
  {
    const auto result = std::move(pending).get();
    expect_hold_or(Errc::cancelled, result);
  }
  expect_nothing_left();
}

TEST_P(PendingAt, StoppingGivesUpTheWaitAndNotTheLock) {
  std::stop_source stop;
  auto pending = ask({.stop = stop.get_token()});
  bring_there();
  finish();
  const auto hold = std::move(pending).get();
  ASSERT_TRUE(hold);
  stop.request_stop();
  bench_.settle();
  EXPECT_TRUE(hold->valid());
}

// F037: the wait ends while the answer may be under way.
TEST_P(PendingAt, GetForThatIsOverGivesOneResult_F037) {
  auto pending = ask();
  bring_there();
  auto got = std::async(std::launch::async, [&] { return std::move(pending).get_for(0s); });
  EXPECT_TRUE(eventually([&] {
    bob_.link().let_go();
    return got.wait_for(0s) == std::future_status::ready;
  }));
  expect_hold_or(Errc::timed_out, got.get());
  finish();
  expect_nothing_left();
}

TEST_P(PendingAt, TheWaitEndsAsTimedOut_F037) {
  auto pending = ask({.wait = 5s});
  bring_there();
  bob_.link().let_go();
  bob_.link().set(Link::up);
  bench_.let_pass(6s);
  ASSERT_TRUE(pending.ready());
  expect_hold_or(Errc::timed_out, std::move(pending).get());
  finish();
  expect_nothing_left();
}

TEST_P(PendingAt, WithoutTheClientItIsCancelled_F036) {
  {
    auto pending = ask();
    bring_there();
    bob_.drop_client();
    finish();
    ASSERT_TRUE(pending.ready());
    expect_hold_or(Errc::cancelled, std::move(pending).get());
  }
  expect_nothing_left();
  EXPECT_TRUE(bob_.ended());
}

TEST_P(PendingAt, DroppedBeforeItsClientItLeavesNothing_F036) {
  {
    auto pending = ask();
    bring_there();
  }
  bob_.drop_client();
  finish();
  expect_nothing_left();
  EXPECT_TRUE(bob_.ended());
}

// The callback is owed, whoever goes.
TEST_P(PendingAt, ThenIsCalledWithoutTheClientToo_F036) {
  auto pending = ask();
  bring_there();
  int calls = 0;
  std::move(pending).then([&](const Result<Hold>& result) {
    ++calls;
    expect_hold_or(Errc::cancelled, result);
  });
  bob_.drop_client();
  finish();
  EXPECT_EQ(calls, 1);
  expect_nothing_left();
  EXPECT_TRUE(bob_.ended());
}

// F004: nobody waits for the answer any more when it comes.
TEST_P(PendingAt, WhatComesAfterTheStoreWasSilentForLongIsGivenBack_F004) {
  auto pending = ask({.wait = 5s});
  bring_there();
  if (GetParam() == Point::in_line) bob_.link().set(Link::late);
  bench_.let_pass(1min);
  ASSERT_TRUE(pending.ready());
  { const auto result = std::move(pending).get(); }
  finish();
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Points, PendingAt,
                         testing::Values(Point::asked, Point::granted, Point::in_line,
                                         Point::offered, Point::ready),
                         name_of);

// An hour's limit that was not needed must not be remembered for an hour.
TEST(PendingTimers, AGetForThatIsOverLeavesNone) {
  HandBench bench;
  auto& alice = bench.client();
  for (int i = 0; i < 20; ++i) {
    alice.link().set(Link::paused);
    auto pending = alice.mutex().async_acquire();
    const Signal waits;
    auto got = std::async(std::launch::async, [&] {
      waits.give();
      return std::move(pending).get_for(1h);
    });
    ASSERT_TRUE(waits.comes());
    EXPECT_EQ(got.wait_for(5ms), std::future_status::timeout);
    alice.link().set(Link::up);
    alice.link().let_go();
    ASSERT_TRUE(comes(got));
    EXPECT_TRUE(got.get());
  }
  bench.let_pass(1min);
  EXPECT_LE(alice.timers(), 5U);
}

}  // namespace
}  // namespace holdfast::test
