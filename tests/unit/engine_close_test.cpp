#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_probe.hpp"

// Letting go: releases that need more than one attempt, and the end of a client.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using store::Released;
using store::ReleaseReply;
using store::Renewed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// ---- releasing ----

TEST(EngineClose, AReleaseIsConfirmedByTheStore) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.events();
  const OpId op = probe.release(hold);
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
  EXPECT_EQ(probe.release_asked().key.fence, 7u);
  EXPECT_EQ(probe.release_asked().deadline, probe.now + 2s);
  EXPECT_EQ(hold->until(), kEnded) << "not valid from here on";
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::released));
  EXPECT_EQ(probe.outcome(op), "waiting");
  EXPECT_FALSE(probe.drained());
  probe.released(1);
  EXPECT_EQ(probe.outcome(op), "done");
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClose, AReleaseThatNobodyWaitsForIsSentAllTheSame) {
  EngineProbe probe;
  probe.drop(probe.take());
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
  probe.released(1);
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClose, AReleaseOfWhatIsGoneSaysThatItWasLost) {
  EngineProbe probe;
  const OpId op = probe.release(probe.take());
  probe.release_gone(1);
  EXPECT_EQ(probe.outcome(op), "lost");
  EXPECT_THAT(probe.error(op).text(), HasSubstr("not ours any more when it was released"));
}

TEST(EngineClose, AnUnansweredReleaseIsRepeated) {
  EngineProbe probe;
  const OpId op = probe.release(probe.take());
  probe.said();
  probe.silence(1);
  probe.pass(5ms);
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
  probe.release_gone(1);
  EXPECT_EQ(probe.outcome(op), "done") << "the unanswered one did it";
}

TEST(EngineClose, ALateAnswerToAReleaseIsAsGood) {
  EngineProbe probe;
  const OpId op = probe.release(probe.take());
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  EXPECT_THAT(probe.said(), ElementsAre("release #1", "release #1"));
  probe.answer(first, ReleaseReply(Released{}));
  EXPECT_EQ(probe.outcome(op), "done");
  EXPECT_TRUE(probe.drained());
  probe.release_gone(1);
  EXPECT_THAT(probe.said(), IsEmpty());
}

TEST(EngineClose, ALateSilenceDoesNotDisturbTheNextAttempt) {
  EngineProbe probe;
  probe.drop(probe.take());
  const store::CallId first = probe.call(1);
  probe.pass(2s + 5ms);
  probe.said();
  const TimePoint timer = probe.next_timer();
  probe.silence_call(first, {});
  EXPECT_EQ(probe.next_timer(), timer);
  EXPECT_THAT(probe.said(), IsEmpty());
}

TEST(EngineClose, WhoeverReleasesIsToldAfterAWhileAndTheReleaseGoesOn) {
  EngineProbe probe;
  const OpId op = probe.release(probe.take());
  probe.pass(4s - 1ns);
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.pass(1ns);
  EXPECT_EQ(probe.outcome(op), "unknown");
  EXPECT_THAT(probe.error(op).text(), HasSubstr("it goes on"));
  EXPECT_FALSE(probe.drained());
  probe.released(1);
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClose, AReleaseThatIsNeverAnsweredEndsWithTheLease) {
  EngineProbe probe;
  probe.drop(probe.take());
  probe.pass(30s - 1ms);
  EXPECT_FALSE(probe.drained());
  probe.pass(3s);
  EXPECT_TRUE(probe.drained());
  EXPECT_EQ(probe.next_timer(), kNever);
}

TEST(EngineClose, AReleaseThatFailsDoesNotHoldUpTheNext) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId next = probe.acquire();
  probe.drop(hold);
  probe.silence(1);
  probe.grant(2, 8);
  EXPECT_EQ(probe.outcome(next), "held");
}

TEST(EngineClose, AnExpiredHoldCannotBeReleasedButIsGivenBack) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.freeze(60s);
  EXPECT_EQ(probe.outcome(probe.release(hold)), "lost");
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
}

TEST(EngineClose, DroppingALostHoldDoesNothing) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.verify(hold);
  probe.gone(1);
  probe.said();
  probe.drop(hold);
  EXPECT_THAT(probe.said(), IsEmpty());
}

// ---- closing ----

TEST(EngineClose, WhoeverWaitsIsCancelled) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  const OpId b = probe.acquire();
  const OpId c = probe.acquire();
  const OpId fifo = probe.acquire({.order = Order::fifo});
  probe.refuse(1);
  probe.refuse(1);
  probe.silence(2);
  probe.said();
  probe.close();
  EXPECT_EQ(probe.outcome(b), "cancelled");
  EXPECT_EQ(probe.outcome(c), "cancelled");
  EXPECT_THAT(probe.said(), UnorderedElementsAre("withdraw #1", "withdraw #2"))
      << "and nobody takes over";
  EXPECT_FALSE(probe.drained());
  probe.withdrawn(1);
  probe.withdrawn(2);
  EXPECT_EQ(probe.outcome(a), "cancelled");
  EXPECT_EQ(probe.outcome(fifo), "cancelled");
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClose, AGrantThatCrossesTheCloseIsDelivered) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.close();
  probe.grant(1, 7);
  EXPECT_EQ(probe.outcome(op), "held");
}

TEST(EngineClose, NobodyComesInAfterwards) {
  EngineProbe probe;
  probe.close();
  EXPECT_EQ(probe.outcome(probe.acquire()), "cancelled");
  EXPECT_EQ(probe.outcome(probe.acquire({.wait = 0s})), "cancelled");
  EXPECT_EQ(probe.outcome(probe.acquire({.order = Order::fifo})), "cancelled");
  EXPECT_THAT(probe.said(), IsEmpty());
}

TEST(EngineClose, HoldsStayAndAreRenewed) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.close();
  EXPECT_TRUE(probe.drained()) << "a hold is not on its way out";
  probe.pass(11s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  probe.renewed(1);
  const OpId op = probe.release(hold);
  EXPECT_FALSE(probe.drained());
  probe.released(1);
  EXPECT_EQ(probe.outcome(op), "done");
  EXPECT_TRUE(probe.drained());
}

TEST(EngineClose, WhoeverWaitsBehindAHoldIsCancelledAtOnce) {
  EngineProbe probe;
  probe.take();
  const OpId op = probe.acquire();
  probe.close();
  EXPECT_EQ(probe.outcome(op), "cancelled");
}

// Two threads may get their numbers in one order and line up in the other.
TEST(EngineClose, NothingNewIsAskedForWhateverTheOrderOfNumbers) {
  EngineProbe probe;
  const OpId first = probe.acquire({.op = 102});
  const OpId second = probe.acquire({.lease = 10s, .op = 101});
  probe.refuse(1);
  probe.refuse(1);
  probe.said();
  probe.close();
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  EXPECT_EQ(probe.outcome(second), "cancelled");
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(first), "cancelled");
}

TEST(EngineClose, ClosingTwiceIsClosingOnce) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  probe.close();
  probe.close();
  probe.refuse(1);
  probe.withdrawn(1);
  EXPECT_EQ(probe.outcome(op), "cancelled");
}

TEST(EngineClose, ATryDuringTheCloseIsCancelledToo) {
  EngineProbe probe;
  const OpId op = probe.acquire({.wait = 0s});
  probe.close();
  probe.refuse(1);
  EXPECT_EQ(probe.outcome(op), "cancelled");
}

TEST(EngineClose, ARenewalAnsweredAfterTheEndIsTakenOutOfTheStore) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  const store::CallId renewal = probe.call(1);
  probe.drop(hold);
  probe.released(1);
  EXPECT_TRUE(probe.drained());
  probe.said();
  probe.each_renewal(renewal, Renewed{30s});
  EXPECT_THAT(probe.said(), ElementsAre("release #1")) << "it may have come after the release";
  probe.release_gone(1);
  EXPECT_TRUE(probe.drained());
}

}  // namespace
}  // namespace holdfast::core
