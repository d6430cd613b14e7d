#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_probe.hpp"

// The local queue: who waits behind whom in one client, and what happens when somebody leaves.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- lining up ----

TEST(EngineQueue, AnAcquireAsksTheStoreAndIsGranted) {
  EngineProbe probe;
  const OpId op = probe.acquire({.reason = "nightly invoices"});
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  EXPECT_EQ(probe.next_timer(), probe.now + 2s);

  const store::GrantRequest& asked = probe.asked().request;
  EXPECT_EQ(probe.asked().deadline, probe.now + 2s);
  EXPECT_EQ(asked.name.bytes(), "lock");
  EXPECT_EQ(asked.owner, (store::OwnerId{{1, 2}, 1}));
  EXPECT_EQ(asked.lease, 30s);
  EXPECT_TRUE(asked.line_up);
  EXPECT_EQ(asked.line_for + asked.confirm_within, asked.lease);
  EXPECT_EQ(asked.record.owner, to_string(asked.owner));
  EXPECT_EQ(asked.record.program, "program");
  EXPECT_EQ(asked.record.reason, "nightly invoices");

  const TimePoint sent = probe.now;
  probe.pass(100ms);
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(op), "held");
  EXPECT_EQ(probe.hold(op)->fence.value(), 7u);
  EXPECT_EQ(probe.hold(op)->until(), sent + 30s - 302ms);
  EXPECT_EQ(probe.holds(), 1u);
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::acquired));
}

TEST(EngineQueue, WaitersOfOneNameShareOneRequest) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire();
  const OpId c = probe.acquire();
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
  probe.grant(1, 7);
  EXPECT_THAT(probe.said(), IsEmpty()) << "held: the others wait here, not in the store";
  EXPECT_EQ(probe.outcome(a), "held");
  EXPECT_EQ(probe.outcome(b), "waiting");
  EXPECT_EQ(probe.outcome(c), "waiting");
}

TEST(EngineQueue, IsServedInOrderOfArrival) {
  EngineProbe probe;
  const OpId ops[] = {probe.acquire(), probe.acquire(), probe.acquire()};
  for (ClaimNo claim = 1; claim <= 3; ++claim) {
    probe.grant(claim, 10 * claim);
    const OpId op = ops[claim - 1];
    ASSERT_EQ(probe.outcome(op), "held");
    const OpId done = probe.release(probe.hold(op));
    probe.released(claim);
    EXPECT_EQ(probe.outcome(done), "done");
  }
}

TEST(EngineQueue, EveryNameHasItsOwnQueue) {
  EngineProbe probe;
  probe.acquire({.lock = "a"});
  probe.acquire({.lock = "b"});
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #2"));
}

TEST(EngineQueue, UnderFifoEveryWaiterHasItsOwnClaim) {
  EngineProbe probe;
  const OpId a = probe.acquire({.order = Order::fifo});
  const OpId b = probe.acquire({.order = Order::fifo});
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #2"));
  EXPECT_EQ(probe.asked().request.order, Order::fifo);
  EXPECT_EQ(probe.asked().request.spare, 0u);
  probe.grant(1, 7, 16);
  probe.refuse(2);
  EXPECT_THAT(probe.said(), ElementsAre("watch #2", "ask #2"));
  probe.refuse(2);
  const OpId done = probe.release(probe.hold(a));
  EXPECT_THAT(probe.said(), ElementsAre("release #1")) << "no hand-off under fifo";
  probe.released(1);
  EXPECT_EQ(probe.outcome(done), "done");
  probe.offer(2, 8);
  probe.renewed(2);
  EXPECT_EQ(probe.outcome(b), "held");
}

TEST(EngineQueue, TheNextClaimAsksAfterTheReleaseHasLeft) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.acquire();
  probe.drop(hold);
  EXPECT_THAT(probe.said(), ElementsAre("release #1", "ask #2"));
}

TEST(EngineQueue, SparesAreAskedForOnlyWhileOthersWait) {
  EngineProbe probe;
  probe.acquire();
  EXPECT_EQ(probe.asked().request.spare, 0u);
  const OpId b = probe.acquire();
  probe.refuse(1);
  EXPECT_EQ(probe.asked().request.spare, 16u);
  probe.give_up(b);
  probe.refuse(1);
  probe.pass(5s);
  EXPECT_EQ(probe.asked().request.spare, 0u);
}

TEST(EngineQueue, WithoutHandOffsNoSparesAreAskedFor) {
  EngineSettings settings = EngineProbe::usual();
  settings.handoff_count = 0;
  EngineProbe probe(settings);
  probe.acquire();
  probe.acquire();
  probe.refuse(1);
  EXPECT_EQ(probe.asked().request.spare, 0u);
}

// ---- refused at the door ----

TEST(EngineQueue, ATryInABusyRoomIsToldWhoHoldsIt) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take({.reason = "invoices"});
  const OpId op = probe.acquire({.wait = 0s});
  EXPECT_EQ(probe.outcome(op), "busy");
  EXPECT_EQ(probe.error(op).detail().holder->reason, "invoices");
  EXPECT_EQ(probe.error(op).detail().lease_left, hold->until() - probe.now);
  EXPECT_THAT(probe.said(), IsEmpty()) << "the store need not be asked";
}

TEST(EngineQueue, ATryWhileAnotherWaitsIsToldWhatTheStoreSaid) {
  EngineProbe probe;
  probe.acquire();
  probe.refuse(1);
  const OpId op = probe.acquire({.wait = 0s});
  EXPECT_EQ(probe.outcome(op), "busy");
  EXPECT_EQ(probe.error(op).detail().holder->program, "rival");
  EXPECT_EQ(probe.error(op).detail().ahead, 3u);
}

TEST(EngineQueue, ATryWhileTheStoreIsSilentIsNotToldBusy) {
  EngineProbe probe;
  probe.acquire();
  probe.silence(1);
  const OpId op = probe.acquire({.wait = 0s});
  EXPECT_NE(probe.outcome(op), "busy") << "no idea is not no";
}

TEST(EngineQueue, ATryWhileNobodyKnowsYetAsksForItself) {
  EngineProbe probe;
  const OpId waits = probe.acquire();
  const OpId tries = probe.acquire({.wait = 0s});
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #2"));
  EXPECT_FALSE(probe.asked().request.line_up);
  probe.grant(1, 7);
  probe.refuse(2);
  EXPECT_EQ(probe.outcome(waits), "held");
  EXPECT_EQ(probe.outcome(tries), "busy");
}

TEST(EngineQueue, ATryInAnEmptyRoomMakesOneAttempt) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 0s});
  EXPECT_FALSE(probe.asked().request.line_up);
  probe.refuse(1);
  EXPECT_EQ(probe.outcome(op), "busy");
  EXPECT_THAT(probe.error(op).text(), HasSubstr("held by rival (elsewhere pid 7)"));
  EXPECT_THAT(probe.said(), ElementsAre("ask #1"));
}

TEST(EngineQueue, WhoeverStandsBehindAFailedTryBeginsAnew) {
  EngineProbe probe;
  const OpId tries = probe.acquire({.wait = 0s});
  const OpId waits = probe.acquire();
  probe.refuse(1);
  EXPECT_EQ(probe.outcome(tries), "busy");
  EXPECT_EQ(probe.outcome(waits), "waiting");
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #2"));
  EXPECT_TRUE(probe.asked().request.line_up);
}

TEST(EngineQueue, AnOwnerThatHoldsTheLockWouldDeadlock) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take({.owner = 5});
  EXPECT_EQ(probe.outcome(probe.acquire({.owner = 5})), "would_deadlock");
  EXPECT_EQ(probe.outcome(probe.acquire({.wait = 0s, .owner = 5})), "would_deadlock");
  EXPECT_EQ(probe.outcome(probe.acquire({.order = Order::fifo, .owner = 5})), "would_deadlock");
  EXPECT_EQ(probe.outcome(probe.acquire({.owner = 6})), "waiting");
  EXPECT_EQ(probe.outcome(probe.acquire()), "waiting");
  EXPECT_EQ(probe.outcome(probe.acquire({.lock = "other", .owner = 5})), "waiting");
  probe.drop(hold);
  EXPECT_EQ(probe.outcome(probe.acquire({.owner = 5})), "waiting") << "it holds nothing any more";
}

TEST(EngineQueue, ALockHandedOnBelongsToItsNewOwner) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take({.owner = 5}, 7, 16);
  probe.acquire({.owner = 6});
  probe.drop(hold);
  EXPECT_EQ(probe.outcome(probe.acquire({.owner = 6})), "would_deadlock");
  EXPECT_EQ(probe.outcome(probe.acquire({.owner = 5})), "waiting");
}

TEST(EngineQueue, AHoldThatHasExpiredIsNoDeadlock) {
  EngineProbe probe;
  probe.take({.owner = 5});
  probe.freeze(60s);
  EXPECT_EQ(probe.outcome(probe.acquire({.owner = 5})), "waiting");
}

TEST(EngineQueue, ATryBehindAHoldThatHasExpiredAsksTheStore) {
  EngineProbe probe;
  probe.take();
  probe.freeze(60s);
  const OpId op = probe.acquire({.wait = 0s});
  EXPECT_EQ(probe.outcome(op), "waiting");
}

TEST(EngineQueue, AnOrderThatTheStoreCannotKeepIsUnsupported) {
  EngineSettings settings = EngineProbe::usual();
  settings.can.mutex_fifo = false;
  EngineProbe probe(settings);
  EXPECT_EQ(probe.outcome(probe.acquire({.order = Order::fifo})), "unsupported");
  EXPECT_EQ(probe.outcome(probe.acquire()), "waiting");
  settings.can.mutex_fifo = true;
  settings.can.mutex_any = false;
  EngineProbe other(settings);
  EXPECT_EQ(other.outcome(other.acquire()), "unsupported");
  EXPECT_EQ(other.outcome(other.acquire({.order = Order::fifo})), "waiting");
}

// ---- leaving ----

TEST(EngineQueue, AWaitThatIsOverEndsAsTimedOut) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 3s});
  probe.refuse(1);
  probe.refuse(1);
  probe.pass(3s);
  EXPECT_EQ(probe.outcome(op), "waiting") << "until the store has confirmed";
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "watch #1", "ask #1", "withdraw #1"));
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(op), "timed_out");
  EXPECT_THAT(probe.error(op).text(), HasSubstr("not acquired within 3.0s; held by rival"));
  EXPECT_THAT(probe.said(), ElementsAre("unwatch #1"));
}

TEST(EngineQueue, AGrantThatCrossesTheEndOfTheWaitIsDelivered) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 1ms});
  probe.pass(10ms);
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineQueue, SomebodyFurtherBackLeavesAtOnce) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire({.wait = 1s});
  const OpId c = probe.acquire();
  probe.refuse(1);
  probe.said();
  probe.pass(1s);
  EXPECT_EQ(probe.outcome(b), "timed_out");
  EXPECT_THAT(probe.error(b).text(), HasSubstr("held by rival"));
  probe.give_up(c);
  EXPECT_EQ(probe.outcome(c), "cancelled");
  EXPECT_EQ(probe.outcome(a), "waiting");
  EXPECT_THAT(probe.said(), IsEmpty());
}

TEST(EngineQueue, SomebodyBehindAHolderLeavesAtOnce) {
  EngineProbe probe;
  probe.take();
  const OpId op = probe.acquire({.wait = 1s});
  probe.pass(1s);
  EXPECT_EQ(probe.outcome(op), "timed_out");
  EXPECT_THAT(probe.error(op).text(), HasSubstr("held by program (host pid 42)"));
}

TEST(EngineQueue, TheFirstPassesItsClaimToTheNext) {
  EngineProbe probe;
  const OpId a = probe.acquire({.wait = 1s, .reason = "first"});
  const OpId b = probe.acquire({.reason = "second"});
  probe.refuse(1);
  probe.refuse(1);
  probe.said();
  probe.pass(1s);
  EXPECT_EQ(probe.outcome(a), "timed_out");
  EXPECT_THAT(probe.said(), IsEmpty()) << "its place in line is not given away";
  probe.wake(1);
  EXPECT_EQ(probe.asked().request.record.reason, "second");
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(b), "held");
}

TEST(EngineQueue, AnHeirsOwnDeadlineCounts) {
  EngineProbe probe;
  const OpId a = probe.acquire({.wait = 1s});
  const OpId b = probe.acquire({.wait = 2s});
  probe.refuse(1);
  probe.refuse(1);
  probe.pass(2s);
  EXPECT_EQ(probe.outcome(a), "timed_out");
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(b), "timed_out");
}

TEST(EngineQueue, AClaimThatDoesNotFitTheNextIsWithdrawnAndTheOthersBeginAnew) {
  for (const Want& other : {Want{.lease = 10s}, Want{.renew = false}}) {
    EngineProbe probe;
    const OpId a = probe.acquire();
    const OpId b = probe.acquire(other);
    const OpId c = probe.acquire();
    probe.refuse(1);
    probe.refuse(1);
    probe.said();
    probe.give_up(a);
    EXPECT_THAT(probe.said(), ElementsAre("withdraw #1", "ask #2"));
    EXPECT_EQ(probe.asked().request.lease, other.lease);
    EXPECT_EQ(probe.outcome(a), "waiting");
    probe.withdrawn(1);
    EXPECT_EQ(probe.outcome(a), "cancelled");
    probe.grant(2, 7);
    EXPECT_EQ(probe.outcome(b), "held");
    EXPECT_EQ(probe.outcome(c), "waiting");
  }
}

TEST(EngineQueue, TheLastToLeaveTakesTheClaimAlong) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.give_up(op);
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.refuse(1);
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "withdraw #1"));
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(op), "cancelled");
}

TEST(EngineQueue, SomebodyWhoComesDuringAWithdrawBeginsAnew) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  probe.give_up(a);
  const OpId b = probe.acquire();
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #2"));
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(a), "held") << "the grant was faster";
  EXPECT_EQ(probe.outcome(b), "waiting");
}

TEST(EngineQueue, AWaiterIsToldInTimeThoughTheStoreIsSilent) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 500ms});
  probe.pass(2500ms - 1ns);
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.pass(1ns);
  EXPECT_EQ(probe.outcome(op), "unknown");
  EXPECT_FALSE(probe.drained()) << "the withdraw goes on";
}

TEST(EngineQueue, GivingUpTwiceOrAfterTheEndDoesNothing) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.give_up(op);
  probe.give_up(op, Errc::timed_out);
  probe.grant(1, 7);
  probe.give_up(op);
  probe.give_up(999);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineQueue, TheHeirOfATryGoesOnWaiting) {
  EngineProbe probe;
  const OpId tries = probe.acquire({.wait = 0s});
  const OpId waits = probe.acquire();
  probe.give_up(tries);
  probe.refuse(1);
  EXPECT_EQ(probe.outcome(tries), "cancelled");
  EXPECT_EQ(probe.outcome(waits), "waiting");
}

// ---- when the store fails ----

TEST(EngineQueue, AFailureOfTheStoreIsToldToEverybodyInTheQueue) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire();
  const OpId c = probe.acquire({.lock = "other"});
  probe.silence(1, false, Errc::permission);
  EXPECT_EQ(probe.outcome(a), "permission");
  EXPECT_EQ(probe.outcome(b), "permission");
  EXPECT_THAT(probe.error(b).text(), HasSubstr("the line is dead"));
  EXPECT_EQ(probe.outcome(c), "waiting");
}

TEST(EngineQueue, EverybodyIsToldInTimeThoughTheWithdrawIsNotAnswered) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire();
  probe.silence(1, true, Errc::permission);
  const OpId c = probe.acquire();
  probe.pass(2s);
  for (const OpId op : {a, b, c}) EXPECT_EQ(probe.outcome(op), "unknown");
}

TEST(EngineQueue, SomebodyWhoLeavesDuringAFailureIsToldWithTheOthers) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire();
  probe.silence(1, true, Errc::permission);
  probe.give_up(a);
  EXPECT_EQ(probe.outcome(a), "waiting");
  probe.give_up(b);
  EXPECT_EQ(probe.outcome(b), "cancelled") << "nothing of it is in the store";
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(a), "permission");
}

TEST(EngineQueue, AQuestionThatMakesNoSenseIsToldToEverybody) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire();
  probe.reject(1, Errc::invalid_argument);
  EXPECT_EQ(probe.outcome(a), "invalid_argument");
  EXPECT_EQ(probe.outcome(b), "invalid_argument");
  EXPECT_THAT(probe.error(a).text(), HasSubstr("makes no sense"));
}

TEST(EngineQueue, ARejectionIsToldInTimeThoughTheStoreFallsSilent) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.silence(1);
  probe.pass(5ms);
  probe.reject(1, Errc::invalid_argument);
  probe.pass(2s);
  EXPECT_NE(probe.outcome(op), "waiting");
}

TEST(EngineQueue, AStoreThatStaysSilentIsGivenUpAfterAWhile) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.pass(15s);
  EXPECT_EQ(probe.outcome(op), "unknown");
}

// Somebody who waits has ten seconds of patience; a try has none.
TEST(EngineQueue, AFailedTryDoesNotEndTheWaitOfThoseBehindIt) {
  EngineProbe probe;
  const OpId tries = probe.acquire({.wait = 0s});
  const OpId waits = probe.acquire();
  probe.silence(1, false);
  probe.pass(5ms);
  probe.silence(1, false);
  EXPECT_EQ(probe.outcome(tries), "unavailable");
  EXPECT_EQ(probe.outcome(waits), "waiting");
}

TEST(EngineQueue, ATryIsAskedAgainOnlyWhileThereIsTimeForAnAnswer) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 0s});
  probe.pass(1999ms);
  probe.silence(1);
  probe.pass(2010ms);
  EXPECT_NE(probe.outcome(op), "waiting");
}

}  // namespace
}  // namespace holdfast::core
