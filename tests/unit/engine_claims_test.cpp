#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_probe.hpp"

// Claims on their way through the store: watches, offers, and answers that come late.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using store::Granted;
using store::GrantReply;
using store::NoAnswer;
using store::Rejected;
using store::Renewed;
using store::RenewReply;
using store::Withdrawn;
using store::WithdrawReply;
using testing::ElementsAre;
using testing::IsEmpty;

const GrantReply kGranted = Granted{7, 0, 30s};

// ---- the end of the wait ----

TEST(EngineClaims, WhoeverWaitsForAStoreThatIsAwayIsNotToldNo_F052) {
  EngineProbe probe;
  const OpId refused_at_once = probe.acquire({.lock = "a", .wait = 1ms});
  probe.silence(1, false);
  probe.pass(1s);
  EXPECT_EQ(probe.outcome(refused_at_once), "unavailable");
  const OpId never_answered = probe.acquire({.lock = "b", .wait = 1s});
  probe.pass(10s);
  EXPECT_EQ(probe.outcome(never_answered), "unknown");
}

TEST(EngineClaims, WhoeverWasRefusedAMomentAgoIsToldSo) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 1s});
  probe.refuse(1);
  probe.refuse(1);
  probe.pass(1s);
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(op), "timed_out");
}

// ---- watching ----

TEST(EngineClaims, TheWatchStartsBeforeTheSecondAttemptAndEndsWithTheGrant) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "watch #1", "ask #1"));
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::waiting));
  probe.grant(1, 7);
  EXPECT_THAT(probe.said(), ElementsAre("unwatch #1"));
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineClaims, TheWatchLastsUntilAWithdrawIsOver) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.said();
  probe.give_up(op);
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  probe.withdrawn(1);
  EXPECT_THAT(probe.said(), ElementsAre("unwatch #1"));
}

TEST(EngineClaims, AClaimThatIsNeverRefusedIsNotWatched) {
  EngineProbe probe;
  probe.drop(probe.take());
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
}

TEST(EngineClaims, ASleepingClaimLooksNowAndThen_F066) {
  EngineProbe probe;
  probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.said();
  probe.pass(5s - 1ns);
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.pass(1ns);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  probe.refuse(1);
  EXPECT_THAT(probe.said(), IsEmpty());
}

TEST(EngineClaims, AWakeIsFollowedAtOnce) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.said();
  probe.wake(1, 1s);
  EXPECT_EQ(probe.next_timer(), probe.now + 1s);
  probe.wake(1);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineClaims, AWakeThatComesTooLateIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.grant(1, 7);
  probe.said();
  probe.wake(1);
  probe.offer(1, 9);
  probe.drop(probe.hold(op));
  probe.released(1);
  probe.said();
  probe.wake(1);
  probe.offer(1, 9);
  probe.wake(999);
  EXPECT_THAT(probe.said(), IsEmpty());
}

// ---- offers ----

TEST(EngineClaims, AnOfferIsConfirmedByARenewalAndCountsFromIt) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.said();
  probe.pass(1s);
  probe.offer(1, 9);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  EXPECT_EQ(probe.renewal().renewals.front().fence, 9u);
  EXPECT_EQ(probe.renewal().renewals.front().lease, 30s);
  EXPECT_EQ(probe.renewal().deadline, probe.now + 2s);
  EXPECT_EQ(probe.outcome(op), "waiting") << "not before it is answered";
  const TimePoint sent = probe.now;
  probe.pass(500ms);
  probe.renewed(1);
  EXPECT_EQ(probe.outcome(op), "held");
  EXPECT_EQ(probe.hold(op)->fence.value(), 9u);
  EXPECT_EQ(probe.hold(op)->until(), sent + 30s - 302ms);
}

TEST(EngineClaims, AnOfferThatLapsedIsAskedForAgain) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.offer(1, 9);
  probe.said();
  probe.gone(1);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  EXPECT_EQ(probe.outcome(op), "waiting");
}

TEST(EngineClaims, AConfirmationWithoutAnAnswerIsSettledByAsking) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.offer(1, 9);
  probe.said();
  probe.answer(probe.call(1), RenewReply(std::vector<store::RenewalReply>{}));
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  probe.refuse(1);
  probe.offer(1, 11);
  probe.said();
  probe.silence(1);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  probe.grant(1, 11);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineClaims, AConfirmationAnsweredLateIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.offer(1, 9);
  const store::CallId confirm = probe.call(1);
  probe.pass(2s);
  EXPECT_EQ(probe.said().back(), "ask #1");
  probe.each_renewal(confirm, Renewed{30s});
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.grant(1, 9);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineClaims, AConfirmationAnsweredAfterItsClaimEndedIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.offer(1, 9);
  const store::CallId confirm = probe.call(1);
  probe.give_up(op);
  probe.pass(1s);
  EXPECT_EQ(probe.said().back(), "withdraw #1");
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(op), "cancelled");
  probe.said();
  probe.each_renewal(confirm, Renewed{30s});
  EXPECT_THAT(probe.said(), IsEmpty()) << "the withdraw took the offer along";
}

// ---- late answers to a question ----

TEST(EngineClaims, ALateGrantOfAClaimThatWaitsIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #1"));
  probe.answer(first, kGranted);
  EXPECT_EQ(probe.outcome(op), "waiting");
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineClaims, ALateGrantDuringARestIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.pass(2s);
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.pass(5ms);
  EXPECT_EQ(probe.said().back(), "ask #1");
}

TEST(EngineClaims, ALateGrantOfAClaimThatHoldsIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  probe.grant(1, 7);
  probe.said();
  const TimePoint until = probe.hold(op)->until();
  probe.answer(first, kGranted);
  EXPECT_THAT(probe.said(), IsEmpty());
  EXPECT_EQ(probe.hold(op)->until(), until);
}

TEST(EngineClaims, ALateGrantAfterItsHoldWasReleasedIsReleasedToo) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  probe.grant(1, 7);
  probe.drop(probe.hold(op));
  probe.released(1);
  probe.said();
  probe.answer(first, GrantReply(Granted{8, 0, 30s}));
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
  EXPECT_EQ(probe.release_asked().key.fence, 8u);
}

// A claim that has ended while its first question is still on its way.
struct Ended {
  explicit Ended(EngineProbe& engine) : probe(engine), op(engine.acquire()), call(engine.call(1)) {
    probe.give_up(op);
    probe.pass(1s);
    probe.withdrawn(1);
    EXPECT_EQ(probe.outcome(op), "cancelled");
    EXPECT_TRUE(probe.drained());
    EXPECT_THAT(probe.said(), ElementsAre("ask #1", "withdraw #1"));
  }
  EngineProbe& probe;
  OpId op;
  store::CallId call;
};

TEST(EngineClaims, ALateGrantOfAClaimThatEndedIsReleased_F004) {
  EngineProbe probe;
  const Ended claim(probe);
  probe.answer(claim.call, kGranted);
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
  EXPECT_EQ(probe.release_asked().key.fence, 7u);
  EXPECT_FALSE(probe.drained());
  probe.silence(1);
  probe.pass(5ms);
  EXPECT_THAT(probe.said(), ElementsAre("release #1")) << "until it is answered";
  probe.release_gone(1);
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClaims, ALateRefusalOfAClaimThatEndedIsWithdrawn) {
  EngineProbe probe;
  const Ended claim(probe);
  probe.answer(claim.call, GrantReply(EngineProbe::refusal()));
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  EXPECT_FALSE(probe.drained());
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1")) << "until it is answered";
  probe.answer(first, WithdrawReply(Withdrawn{}));
  EXPECT_TRUE(probe.drained());
  probe.silence(1);
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClaims, AnUnansweredWithdrawOfALateRefusalIsRepeated) {
  EngineProbe probe;
  const Ended claim(probe);
  probe.answer(claim.call, GrantReply(EngineProbe::refusal()));
  probe.said();
  probe.silence(1);
  const TimePoint timer = probe.next_timer();
  probe.pass(5ms);
  EXPECT_EQ(probe.now, timer);
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  const store::CallId second = probe.call(1);
  probe.pass(2s + 5ms);
  probe.said();
  const TimePoint third = probe.next_timer();
  probe.silence_call(second, {});
  EXPECT_EQ(probe.next_timer(), third) << "a later one is under way";
  probe.withdrawn(1);
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClaims, ALateSilenceOrRejectionLeavesNothingBehind) {
  for (const GrantReply& reply : {GrantReply(NoAnswer{}), GrantReply(Rejected{})}) {
    EngineProbe probe;
    const Ended claim(probe);
    probe.answer(claim.call, reply);
    EXPECT_THAT(probe.said(), IsEmpty());
    EXPECT_TRUE(probe.drained());
  }
}

TEST(EngineClaims, ALateGrantDuringTheWithdrawIsWithdrawnToo) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  const store::CallId first = probe.call(1);
  probe.give_up(op);
  probe.pass(1s);
  probe.said();
  probe.answer(first, kGranted);
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.withdrawn(1);
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1")) << "it may have overtaken the question";
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(op), "cancelled");
}

TEST(EngineClaims, NothingIsDeliveredOnceTheWaiterWasTold) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  const store::CallId first = probe.call(1);
  probe.give_up(op);
  probe.pass(2s);
  EXPECT_EQ(probe.outcome(op), "unknown");
  probe.answer(first, kGranted);
  EXPECT_EQ(probe.holds(), 0u);
  EXPECT_FALSE(probe.drained());
}

// ---- withdrawing ----

TEST(EngineClaims, AWithdrawIsRepeatedUntilItIsAnswered) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  probe.give_up(op);
  probe.said();
  probe.silence(1);
  probe.pass(5ms);
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  const store::CallId second = probe.call(1);
  probe.pass(2s + 5ms);
  EXPECT_EQ(probe.outcome(op), "unknown");
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  probe.answer(second, WithdrawReply(NoAnswer{}));
  probe.withdrawn(1);
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClaims, AWithdrawThatIsNeverAnsweredEndsWithTheLease) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.give_up(op);
  probe.pass(32s - 1ms);
  EXPECT_FALSE(probe.drained());
  probe.pass(3s);
  EXPECT_TRUE(probe.drained());
  EXPECT_EQ(probe.next_timer(), kNever);
}

TEST(EngineClaims, ALateAnswerToAWithdrawOfAClaimThatEndedIsDropped) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.refuse(1);
  probe.give_up(op);
  probe.refuse(1);
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  probe.withdrawn(1);
  EXPECT_TRUE(probe.drained());
  probe.said();
  probe.answer(first, WithdrawReply(Withdrawn{}));
  EXPECT_THAT(probe.said(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::core
