// The store does not answer, answers late, or loses what was said. "No" is not "no idea": an error that
// says not_held leaves nothing behind, and one that cannot say so is unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class StoreDown : public testing::Test {
 protected:
  SwitchableStore& link() { return alice_.link(); }

  // The answer to something that was asked, after so much time at the most.
  Result<Hold> within(Duration limit, Pending<Hold> pending) {
    for (Duration gone{}; gone < limit && !pending.ready(); gone += 10ms) bench_.let_pass(10ms);
    EXPECT_TRUE(pending.ready()) << "it should have come back";
    if (!pending.ready()) return Errc::protocol;
    return std::move(pending).get();
  }

  void expect_error(Errc code, Outcome outcome, const Result<Hold>& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().errc(), code) << result.error().text();
    EXPECT_EQ(result.error().code(), outcome);
    EXPECT_EQ(result.error().detail().lock, "lock");
  }

  // The link is as it was, and what it kept goes through.
  void repair() {
    link().set(Link::up);
    do {
      bench_.let_pass(1s);
    } while (link().let_go() > 0);
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client({.answer_within = 2s, .patience = 10s});
  HandBench::Seat& bob_ = bench_.client();
};

TEST_F(StoreDown, ADeadStoreIsUnavailableAfterPatience_F003) {
  link().set(Link::down);
  const auto result = within(14s, alice_.mutex().async_acquire());
  expect_error(Errc::unavailable, Outcome::not_held, result);
  EXPECT_THAT(result.error().text(), HasSubstr("the link is down"));
  repair();
  EXPECT_TRUE(alice_.mutex().acquire()) << "and works again without a new client";
}

TEST_F(StoreDown, OneAttemptOnADeadStoreIsOverSoon_F003) {
  link().set(Link::down);
  expect_error(Errc::unavailable, Outcome::not_held,
               within(2s, alice_.mutex().async_acquire({.wait = 0s})));
}

TEST_F(StoreDown, TheWaitIsNotExceeded_F003) {
  for (const Link state : {Link::down, Link::deaf, Link::paused, Link::late}) {
    link().set(state);
    const auto result = within(7s, alice_.mutex().async_acquire({.wait = 5s}));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error(), Errc::busy);
    repair();
    EXPECT_TRUE(bench_.is_empty());
  }
}

TEST_F(StoreDown, ASilentStoreIsUnknown_F001) {
  for (const Link state : {Link::deaf, Link::paused, Link::late}) {
    for (const Duration wait : {Duration(kForever), Duration(0s)}) {
      link().set(state);
      const auto result = within(20s, alice_.mutex().async_acquire({.wait = wait}));
      expect_error(Errc::unknown, Outcome::maybe_held, result);
      repair();
      EXPECT_TRUE(bench_.is_empty()) << "it is taken back as soon as somebody listens";
    }
  }
}

// The store is silent only while the lock is asked for; giving up is answered.
TEST_F(StoreDown, WhatCanBeTakenBackIsUnavailableAndNotUnknown) {
  link().set(Link::deaf);
  auto pending = alice_.mutex().async_acquire();
  bench_.let_pass(9s);
  ASSERT_FALSE(bench_.is_empty()) << "the store has granted it, nobody was told";
  EXPECT_FALSE(pending.ready());
  pending.cancel();
  link().set(Link::up);
  bench_.let_pass(2s);
  ASSERT_TRUE(pending.ready());
  const auto result = std::move(pending).get();
  if (!result) {
    expect_error(Errc::cancelled, Outcome::not_held, result);
    EXPECT_TRUE(bench_.is_empty());
  }
}

TEST_F(StoreDown, BusyIsSaidOnlyByAStoreThatAnswers) {
  const auto held = bob_.mutex().acquire();
  expect_error(Errc::busy, Outcome::not_held, alice_.mutex().try_acquire());
  link().set(Link::down);
  expect_error(Errc::unavailable, Outcome::not_held,
               within(3s, alice_.mutex().async_acquire({.wait = 0s})));
  link().set(Link::deaf);
  const auto silent = within(5s, alice_.mutex().async_acquire({.wait = 0s}));
  ASSERT_FALSE(silent);
  EXPECT_NE(silent.error(), Errc::busy);
}

// F001: asking again as the same owner finds the grant; a plain "set if absent" would wait for itself.
TEST_F(StoreDown, ALostReplyGivesTheHoldThatTheStoreGranted_F001) {
  link().set(Link::deaf);
  auto pending = alice_.mutex().async_acquire();
  bench_.settle();
  const auto granted = bench_.look();
  ASSERT_EQ(granted.size(), 1U);
  link().set(Link::up);
  const auto hold = within(3s, std::move(pending));
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->fence().value(), granted[0].holds[0].fence);
  EXPECT_TRUE(hold->verify());
}

TEST_F(StoreDown, OneAttemptToo_F001) {
  link().set(Link::deaf);
  auto pending = alice_.mutex().async_acquire({.wait = 0s});
  bench_.settle();
  ASSERT_EQ(bench_.look().size(), 1U);
  const auto fence = bench_.look()[0].holds[0].fence;
  link().set(Link::up);
  const auto hold = within(3s, std::move(pending));
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), fence);
}

TEST_F(StoreDown, ALateGrantIsReleasedAtOnce_F004) {
  link().set(Link::paused);
  {
    auto pending = alice_.mutex().async_acquire({.wait = 1s});
    expect_error(Errc::unknown, Outcome::maybe_held, within(4s, std::move(pending)));
  }
  bench_.let_pass(1min);  // nobody asks for it any more
  link().set(Link::up);
  link().let_go();  // now the store sees the question
  bench_.settle();
  EXPECT_TRUE(bench_.is_empty());
  EXPECT_TRUE(bob_.mutex().try_acquire());
}

// F004: giving up was answered long ago when the store comes to the question.
TEST_F(StoreDown, AGrantThatOvertookItsWithdrawalIsReleasedAtOnce_F004) {
  link().set(Link::paused);
  auto pending = alice_.mutex().async_acquire({.wait = 1s});
  bench_.settle();
  link().set(Link::up);
  expect_error(Errc::timed_out, Outcome::not_held, within(4s, std::move(pending)));
  ASSERT_EQ(link().let_go(), 1U);
  bench_.settle();
  EXPECT_TRUE(bench_.is_empty());
}

// F004: the question is executed late, but its claim still waits: that answer may be the one.
TEST_F(StoreDown, AGrantThatIsLateForAClaimThatStillWaitsIsNotThrownAway_F004) {
  link().set(Link::late);
  auto pending = alice_.mutex().async_acquire();
  bench_.let_pass(3s);  // the first question was given up, the second is under way
  EXPECT_GE(link().counts().try_grant, 2U);
  const auto fence = bench_.look()[0].holds[0].fence;
  link().set(Link::up);
  link().let_go();
  const auto hold = within(3s, std::move(pending));
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->fence().value(), fence);
  bench_.let_pass(1min);
  EXPECT_TRUE(hold->verify());
}

TEST_F(StoreDown, ALostRenewalIsTriedAgainAtOnceAndCountsOnlyWhenItIsConfirmed_F005_F009) {
  const Hold hold = alice_.mutex().acquire({.lease = 30s}).value();
  const TimePoint end = hold.valid_until();
  link().set(Link::deaf);
  bench_.let_pass(11s);
  EXPECT_GE(link().counts().renew, 2U);
  EXPECT_EQ(hold.valid_until(), end);
  bench_.let_pass(15s);
  EXPECT_EQ(hold.valid_until(), end);
  EXPECT_TRUE(hold.valid());
  link().set(Link::up);  // just before the deadline
  bench_.let_pass(3s);
  EXPECT_GT(hold.valid_until(), end);
  bench_.let_pass(1h);
  EXPECT_TRUE(hold.valid()) << "and the renewals go on";
  EXPECT_FALSE(hold.lost().stop_requested());
}

TEST_F(StoreDown, ALateRenewalBringsNothingBack_F006) {
  const Hold hold = alice_.mutex().acquire({.lease = 30s}).value();
  link().set(Link::late);
  bench_.let_pass(11s);
  ASSERT_GE(link().kept(), 1U) << "the store has seen a renewal";
  link().set(Link::down);
  bench_.let_pass(hold.remaining());
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(hold.lost().stop_requested());
  ASSERT_FALSE(bench_.is_empty());
  link().set(Link::up);
  link().let_go();
  bench_.let_pass(1s);
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.remaining(), 0s);
  EXPECT_TRUE(bench_.is_empty()) << "what the store kept is given back";
}

TEST_F(StoreDown, AHoldBehindADeadLinkIsLostBeforeTheStoreGivesItToAnother_F007) {
  const Hold hold = alice_.mutex().acquire({.lease = 30s}).value();
  int told = 0;
  const std::stop_callback count(hold.lost(), [&] { ++told; });
  bench_.let_pass(1s);
  link().set(Link::down);
  auto next = bob_.mutex().async_acquire();
  while (!next.ready()) {
    EXPECT_LT(bench_.now(), hold.valid() ? hold.valid_until() : kNever);
    bench_.let_pass(10ms);
  }
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(told, 1);
  EXPECT_GT(std::move(next).get()->fence(), hold.fence());
  bench_.let_pass(1h);
  EXPECT_EQ(told, 1);
}

// F018: the process was stopped while the answer was under way.
TEST_F(StoreDown, AGrantThatCameTooLateIsAskedForAgain_F018) {
  link().set(Link::late);
  auto pending = alice_.mutex().async_acquire({.lease = 3s});
  bench_.settle();
  bench_.oversleep(4s);
  link().set(Link::up);
  link().let_go();
  const auto hold = within(3s, std::move(pending));
  ASSERT_TRUE(hold);
  EXPECT_TRUE(hold->verify());
  EXPECT_GE(hold->remaining(), 1500ms);
}

// F018: and after a sleep that was longer than anybody's patience.
TEST_F(StoreDown, AGrantThatCameMuchTooLateIsGivenBack_F018) {
  link().set(Link::late);
  auto pending = alice_.mutex().async_acquire({.lease = 30s});
  bench_.settle();
  bench_.oversleep(1min);
  link().set(Link::up);
  link().let_go();
  bench_.let_pass(3s);
  ASSERT_TRUE(pending.ready());
  {
    const auto result = std::move(pending).get();
    EXPECT_TRUE(!result || result->valid());
  }
  bench_.settle();
  EXPECT_TRUE(bench_.is_empty());
}

// The offer, or its confirmation, is lost.
TEST_F(StoreDown, AHandOverThatWasNotHeardIsFoundByLooking_F066) {
  for (const Link state : {Link::deaf, Link::down, Link::paused}) {
    std::optional<Hold> held(bob_.mutex().acquire().value());
    auto pending = alice_.mutex().async_acquire();
    bench_.settle();
    link().set(state);
    held.reset();
    bench_.let_pass(500ms);
    link().set(Link::up);
    link().let_go();
    const auto hold = within(25s, std::move(pending));
    ASSERT_TRUE(hold);
    EXPECT_TRUE(hold->verify());
  }
}

// The lock is handed over between the refusal and the moment from which wakes are heard.
TEST_F(StoreDown, AHandOverBeforeTheWaiterListensIsFoundAtOnce) {
  std::optional<Hold> held(bob_.mutex().acquire().value());
  link().set(Link::late);
  auto pending = alice_.mutex().async_acquire();
  bench_.settle();
  held.reset();
  link().set(Link::up);
  link().let_go();
  bench_.settle();
  EXPECT_TRUE(pending.ready());
}

TEST_F(StoreDown, AWaiterIsServedAfterTheStoreWasSilentForAWhile) {
  std::optional<Hold> held(bob_.mutex().acquire().value());
  auto pending = alice_.mutex().async_acquire();
  bench_.settle();
  link().set(Link::down);
  bench_.let_pass(12s);
  link().set(Link::up);
  bench_.let_pass(1s);
  held.reset();
  EXPECT_TRUE(within(10s, std::move(pending)));
}

TEST_F(StoreDown, AnUnansweredReleaseIsUnknownAndGoesOn) {
  Hold hold = alice_.mutex().acquire().value();
  link().set(Link::down);
  auto released = std::async(std::launch::async, [&] { return hold.release(); });
  ASSERT_TRUE(eventually([&] { return link().counts().release >= 1; }));
  EXPECT_FALSE(hold.valid());
  bench_.let_pass(5s);
  ASSERT_TRUE(comes(released));
  EXPECT_EQ(released.get().error(), Errc::unknown);
  EXPECT_FALSE(bench_.is_empty());
  link().set(Link::up);
  bench_.let_pass(2s);
  EXPECT_TRUE(bench_.is_empty());
}

TEST_F(StoreDown, AReleaseWhoseReplyWasLostIsDoneWell_F002) {
  Hold hold = alice_.mutex().acquire().value();
  link().set(Link::deaf);
  auto released = std::async(std::launch::async, [&] { return hold.release(); });
  ASSERT_TRUE(eventually([&] { return link().counts().release >= 1; }));
  link().set(Link::up);
  EXPECT_TRUE(eventually([&] {
    bench_.let_pass(10ms);
    return released.wait_for(0s) == std::future_status::ready;
  }));
  EXPECT_TRUE(released.get());
}

// All local waiters hear that their store is dead, each with the lock's name.
TEST_F(StoreDown, EveryLocalWaiterIsTold_F003) {
  link().set(Link::down);
  std::vector<Pending<Hold>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(alice_.mutex().async_acquire());
  bench_.let_pass(14s);
  for (auto& each : waiting) {
    ASSERT_TRUE(each.ready());
    expect_error(Errc::unavailable, Outcome::not_held, std::move(each).get());
  }
  repair();
  EXPECT_TRUE(alice_.mutex().acquire());
}

// Scenario 8 with real threads and time.
TEST(StoreDownInRealTime, AcquireComesBackWithAnErrorAndWorksAgain) {
  const auto linked = connect_linked(std::make_shared<store::MemoryServer>(),
                                     {.answer_within = 250ms, .patience = 1s});
  const Mutex mutex = linked.client.mutex("lock");
  linked.link->set(Link::down);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(mutex.acquire().error(), Errc::unavailable); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(mutex.try_acquire().error(), Errc::unavailable);
  linked.link->set(Link::paused);
  EXPECT_EQ(mutex.acquire().error(), Errc::unknown);
  linked.link->set(Link::up);
  linked.link->let_go();
  EXPECT_TRUE(mutex.acquire({.wait = kSoon}));
}

}  // namespace
}  // namespace holdfast::test
