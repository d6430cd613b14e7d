#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_probe.hpp"

// Holds: renewed in company, lost, verified. Leases of 30 s are renewed 11 s after their sending, and
// from 10 s on if a message leaves anyway.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using store::Gone;
using store::NoAnswer;
using store::RenewalReply;
using store::Renewed;
using store::RenewReply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string numbered(int i) { return "lock" + std::to_string(i); }

// ---- renewing ----

TEST(EngineLeases, AHoldIsRenewedAndCountsFromTheSending) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s - 1ns);
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.pass(1ns);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  const store::Renewal& asked = probe.renewal().renewals.front();
  EXPECT_EQ(asked.fence, 7u);
  EXPECT_EQ(asked.lease, 30s);
  EXPECT_EQ(probe.renewal().deadline, probe.now + 2s);
  const TimePoint sent = probe.now;
  probe.events();
  probe.pass(300ms);
  probe.renewed(1);
  EXPECT_EQ(hold->until(), sent + 30s - 302ms);
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::renewed));
}

TEST(EngineLeases, OneRenewalPerPeriodOverAHundredPeriods) {
  EngineProbe probe;
  probe.take({}, 7);
  for (int period = 0; period < 100; ++period) {
    // Another lock is taken and released all the time.
    const HoldCellPtr other = probe.take({.lock = "other"}, 8);
    probe.pass(5s);
    probe.drop(other);
    probe.released(probe.newest_claim());
    probe.pass(6s - 5ms);
    EXPECT_EQ(probe.renewals().size(), static_cast<std::size_t>(period));
    probe.pass(5ms);
    ASSERT_EQ(probe.renewals().size(), static_cast<std::size_t>(period) + 1);
    probe.renewed(1);
  }
  for (const AskRenew& each : probe.renewals()) EXPECT_EQ(each.renewals.size(), 1u);
}

TEST(EngineLeases, TakingALockAgainAndAgainDoesNotMultiplyItsRenewals) {
  EngineProbe probe;
  HoldCellPtr hold = probe.take();
  for (int i = 0; i < 50; ++i) {
    probe.drop(hold);
    probe.released(probe.newest_claim());
    hold = probe.take();
  }
  probe.pass(11s);
  ASSERT_EQ(probe.renewals().size(), 1u);
  EXPECT_EQ(probe.renewal().renewals.size(), 1u);
}

TEST(EngineLeases, ARenewalTakesAlongWhatIsDueSoon) {
  EngineProbe probe;
  probe.take({.lock = "a"});
  probe.pass(1s);
  probe.take({.lock = "b"});
  probe.pass(1ms);
  probe.take({.lock = "c"});
  probe.pass(10s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1 #2"));
  probe.pass(1s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #3"));
}

TEST(EngineLeases, ABatchHasAtMostAHundred_F042) {
  EngineProbe probe;
  for (int i = 0; i < 250; ++i) probe.take({.lock = numbered(i)}, 7);
  probe.pass(11s);
  ASSERT_EQ(probe.renewals().size(), 3u);
  EXPECT_EQ(probe.renewals()[0].renewals.size(), 100u);
  EXPECT_EQ(probe.renewals()[1].renewals.size(), 100u);
  EXPECT_EQ(probe.renewals()[2].renewals.size(), 50u);
  probe.renewed(1);
  probe.renewed(101);
  probe.renewed(201);
  probe.pass(11s);
  EXPECT_EQ(probe.renewals().size(), 6u);
}

TEST(EngineLeases, EachHasItsOwnLeaseAndAnswer) {
  EngineProbe probe;
  const HoldCellPtr a = probe.take({.lock = "a"});
  const HoldCellPtr b = probe.take({.lock = "b", .lease = 33s});
  const HoldCellPtr c = probe.take({.lock = "c"});
  const TimePoint first = c->until();
  probe.pass(11s);
  ASSERT_THAT(probe.said(), ElementsAre("renew #1 #3 #2"));
  EXPECT_EQ(probe.renewal().renewals[2].lease, 33s);
  const TimePoint sent = probe.now;
  probe.answer(probe.call(1),
               RenewReply(std::vector<RenewalReply>{Renewed{30s}, NoAnswer{}, Gone{}}));
  EXPECT_EQ(a->until(), sent + 30s - 302ms);
  EXPECT_EQ(c->until(), first);
  EXPECT_EQ(b->until(), kEnded);
}

TEST(EngineLeases, AnAnswerThatIsTooShortIsASilenceForTheRest) {
  EngineProbe probe;
  probe.take({.lock = "a"});
  probe.take({.lock = "b"});
  probe.pass(11s);
  probe.said();
  probe.answer(probe.call(1), RenewReply(std::vector<RenewalReply>{Renewed{30s}}));
  probe.pass(0s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #2"));
}

// ---- silence ----

TEST(EngineLeases, AnUnansweredRenewalIsRepeatedAtOnceThenAfterAPause_F005) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  probe.events();
  probe.said();
  probe.silence(1);
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::renewal_unanswered));
  probe.pass(0s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  probe.silence(1);
  probe.pass(5ms - 1ns);
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.pass(1ns);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  probe.renewed(1);
  EXPECT_EQ(hold->until(), probe.now + 30s - 302ms);
}

TEST(EngineLeases, ARenewalThatHangsIsRepeatedAtItsDeadline) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  const store::CallId first = probe.call(1);
  const TimePoint sent = probe.now;
  probe.pass(2s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1", "renew #1"));
  probe.each_renewal(first, Renewed{30s});
  EXPECT_EQ(hold->until(), sent + 30s - 302ms) << "late, but it counts";
  probe.renewed(1);
  EXPECT_EQ(hold->until(), probe.now + 30s - 302ms);
}

TEST(EngineLeases, ALateSilenceDoesNotDisturbTheRenewalUnderWay) {
  EngineProbe probe;
  probe.take();
  probe.pass(11s);
  const store::CallId first = probe.call(1);
  probe.pass(2s);
  probe.said();
  probe.events();
  probe.silence_call(first, {});
  probe.pass(0s);
  EXPECT_THAT(probe.said(), IsEmpty());
  EXPECT_THAT(probe.events(), IsEmpty());
}

// ---- losing ----

TEST(EngineLeases, AHoldWhoseRenewalsAreNotAnsweredIsLostAtItsDeadline_F007_F008) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const TimePoint end = hold->until();
  probe.pass(end - probe.now - 1ns);
  EXPECT_EQ(hold->until(), end);
  probe.said();
  probe.events();
  probe.pass(1ns);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::lost));
  EXPECT_EQ(hold->until(), kEnded);
  EXPECT_EQ(probe.holds(), 0u);
  EXPECT_EQ(probe.outcome(probe.release(hold)), "lost");
}

TEST(EngineLeases, AnAnswerAfterTheDeadlineDoesNotRevive_F006) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  probe.said();
  probe.freeze(20s);
  probe.renewed(1);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
  EXPECT_EQ(hold->until(), kEnded);
}

TEST(EngineLeases, WhatIsGoneIsLostAndNeedsNoRelease) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId next = probe.acquire();
  probe.pass(11s);
  probe.said();
  probe.gone(1);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "ask #2")) << "and the next one asks";
  EXPECT_EQ(probe.outcome(probe.release(hold)), "lost");
  EXPECT_EQ(probe.outcome(next), "waiting");
}

TEST(EngineLeases, ARevokedHoldIsLostAndItsReleaseIsTheAcknowledgement) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  probe.said();
  probe.gone(1, true);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
  const OpId done = probe.release(hold);
  EXPECT_EQ(probe.outcome(done), "forced");
  EXPECT_THAT(probe.error(done).text(), HasSubstr("an operator revoked it"));
}

TEST(EngineLeases, ALateGoneIsALossAsWell) {
  EngineProbe probe;
  probe.take();
  probe.pass(11s);
  const store::CallId first = probe.call(1);
  probe.pass(2s);
  probe.said();
  probe.each_renewal(first, Gone{});
  EXPECT_THAT(probe.said(), ElementsAre("lost 7"));
}

TEST(EngineLeases, LosingSeveralInOneAnswerServesAllTheirQueues) {
  EngineProbe probe;
  probe.take({.lock = "a"});
  probe.take({.lock = "b"});
  probe.acquire({.lock = "a"});
  probe.acquire({.lock = "b"});
  probe.pass(11s);
  probe.said();
  probe.gone(1);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "ask #3", "lost 7", "ask #4"));
}

// ---- releasing while a renewal is under way ----

TEST(EngineLeases, AGoneRenewalOfAReleasedHoldMeansReleased) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  const store::CallId renewal = probe.call(1);
  const OpId done = probe.release(hold);
  probe.said();
  probe.each_renewal(renewal, Gone{});
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.released(1);
  EXPECT_EQ(probe.outcome(done), "done");
}

TEST(EngineLeases, ARenewalAnsweredDuringTheReleaseDoesNotDisturbIt) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  const store::CallId renewal = probe.call(1);
  const OpId done = probe.release(hold);
  probe.said();
  probe.each_renewal(renewal, Renewed{30s});
  EXPECT_THAT(probe.said(), IsEmpty());
  EXPECT_EQ(hold->until(), kEnded);
  probe.released(1);
  EXPECT_EQ(probe.outcome(done), "done");
}

TEST(EngineLeases, NothingRenewsAHoldThatWasReleased) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(10s + 500ms);
  probe.drop(hold);
  probe.released(1);
  probe.pass(100s);
  EXPECT_THAT(probe.renewals(), IsEmpty());
}

// ---- max_hold and renew = false ----

TEST(EngineLeases, MaxHoldEndsInALossAndARelease) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take({.max_hold = 35s});
  const TimePoint start = probe.now;
  probe.pass(11s);
  EXPECT_EQ(probe.renewal().renewals.front().lease, 24s + 302ms) << "only for what is left";
  probe.renewed(1);
  EXPECT_EQ(hold->until(), start + 35s);
  probe.said();
  probe.pass(24s - 1ns);
  EXPECT_THAT(probe.said(), IsEmpty()) << "no more renewals";
  probe.pass(1ns);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
  EXPECT_THAT(probe.error(probe.release(hold)).text(), HasSubstr("max_hold"));
}

TEST(EngineLeases, MaxHoldCountsFromTheDelivery) {
  EngineProbe probe;
  const OpId op = probe.acquire({.max_hold = 5s});
  probe.pass(1s);
  probe.grant(1, 7);
  EXPECT_EQ(probe.hold(op)->until(), probe.now + 5s);
}

TEST(EngineLeases, WithoutRenewalAHoldEndsWithItsLease) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take({.renew = false});
  probe.pass(hold->until() - probe.now);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
}

// ---- verifying ----

TEST(EngineLeases, VerifyAsksTheStore) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(1s);
  const OpId op = probe.verify(hold);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  EXPECT_EQ(probe.outcome(op), "waiting");
  probe.renewed(1);
  EXPECT_EQ(probe.outcome(op), "done");
  EXPECT_EQ(hold->until(), probe.now + 30s - 302ms);
}

TEST(EngineLeases, SeveralVerificationsShareOneQuestion) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId a = probe.verify(hold);
  const OpId b = probe.verify(hold);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  probe.renewed(1);
  EXPECT_EQ(probe.outcome(a), "done");
  EXPECT_EQ(probe.outcome(b), "done");
}

// The store may have granted it to another since, if its clock was set or it lost its data.
TEST(EngineLeases, AQuestionFromBeforeAVerificationDoesNotAnswerIt) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId before = probe.verify(hold);
  probe.pass(1s);
  const OpId after = probe.verify(hold);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  probe.renewed(1);
  EXPECT_EQ(probe.outcome(before), "done");
  EXPECT_EQ(probe.outcome(after), "waiting");
  probe.pass(0s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  probe.gone(1);
  EXPECT_EQ(probe.outcome(after), "lost");
}

TEST(EngineLeases, AVerificationIsAskedForAlsoIfTheQuestionBeforeItGetsNoAnswer) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId before = probe.verify(hold);
  probe.pass(1s);
  const OpId after = probe.verify(hold);
  probe.silence(1);
  EXPECT_EQ(probe.outcome(before), "unknown");
  EXPECT_EQ(probe.outcome(after), "waiting");
  probe.pass(0s);
  probe.renewed(1);
  EXPECT_EQ(probe.outcome(after), "done");
}

TEST(EngineLeases, AVerificationWithoutAnAnswerIsUnknown) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId answered = probe.verify(hold);
  probe.silence(1);
  EXPECT_EQ(probe.outcome(answered), "unknown");
  const OpId hangs = probe.verify(hold);
  probe.pass(2s);
  EXPECT_EQ(probe.outcome(hangs), "unknown");
  EXPECT_EQ(probe.holds(), 1u) << "which is not a loss";
}

TEST(EngineLeases, AVerificationThatFindsALossSaysSo) {
  EngineProbe probe;
  const HoldCellPtr gone = probe.take({.lock = "a"});
  const OpId op = probe.verify(gone);
  probe.gone(1);
  EXPECT_EQ(probe.outcome(op), "lost");
  EXPECT_EQ(probe.outcome(probe.verify(gone)), "lost") << "also afterwards";

  const HoldCellPtr revoked = probe.take({.lock = "b"});
  const OpId forced = probe.verify(revoked);
  probe.gone(2, true);
  EXPECT_EQ(probe.outcome(forced), "forced");
  EXPECT_EQ(probe.outcome(probe.verify(revoked)), "forced");
}

TEST(EngineLeases, VerifyingAnExpiredHoldFindsTheLossAtOnce) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.freeze(60s);
  EXPECT_EQ(probe.outcome(probe.verify(hold)), "lost");
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
}

TEST(EngineLeases, AReleaseDuringAVerificationEndsIt) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  const OpId op = probe.verify(hold);
  probe.drop(hold);
  EXPECT_EQ(probe.outcome(op), "not_owner");
}

TEST(EngineLeases, AVerificationLeavesWhatIsNotRenewedAsItWas) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take({.renew = false});
  const TimePoint until = hold->until();
  probe.pass(1s);
  const OpId op = probe.verify(hold);
  probe.renewed(1, probe.renewal().renewals.front().lease);
  EXPECT_EQ(probe.outcome(op), "done");
  EXPECT_EQ(hold->until(), until);
  probe.said();
  probe.pass(until - probe.now);
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1"));
}

TEST(EngineLeases, AVerificationIsNotAnsweredByALateAnswerToAnOlderQuestion) {
  EngineProbe probe;
  const HoldCellPtr hold = probe.take();
  probe.pass(11s);
  const store::CallId old = probe.call(1);
  probe.pass(2s);
  const OpId op = probe.verify(hold);
  probe.each_renewal(old, Renewed{30s});
  EXPECT_EQ(probe.outcome(op), "waiting") << "the store said that two seconds before the question";
  probe.renewed(1);
  EXPECT_EQ(probe.outcome(op), "done");
}

TEST(EngineLeases, WhenTheClocksDisagreeEveryHoldIsVerified_F021) {
  EngineProbe probe;
  probe.take({.lock = "a"});
  probe.take({.lock = "b"});
  probe.pass(1s);
  probe.verify_all();
  EXPECT_THAT(probe.said(), ElementsAre("renew #1 #2"));
  probe.gone(1);
  EXPECT_EQ(probe.holds(), 0u);
}

// The answer under way was given before the clocks disagreed: a machine that was stopped has it in
// its socket when it goes on.
TEST(EngineLeases, AHoldWhoseRenewalIsUnderWayIsVerifiedAfterIt) {
  EngineProbe probe;
  probe.take();
  probe.pass(11s);
  probe.verify_all();
  probe.said();
  probe.renewed(1);
  probe.pass(1s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
}

TEST(EngineLeases, AHoldThatHasExpiredIsNotRenewedByAVerification) {
  EngineProbe probe;
  probe.take();
  probe.freeze(60s);
  probe.verify_all();
  probe.tick();
  EXPECT_THAT(probe.said(), ElementsAre("lost 7", "release #1")) << "nobody holds it any more";
}

TEST(EngineLeases, AHoldThatHasExpiredIsNotRenewedInTheCompanyOfAnother) {
  EngineProbe probe;
  probe.take({.lock = "a"});
  probe.freeze(60s);
  const HoldCellPtr fresh = probe.take({.lock = "b"});
  probe.verify(fresh);
  ASSERT_EQ(probe.renewals().size(), 1u);
  EXPECT_EQ(probe.renewal().renewals.size(), 1u);
}

}  // namespace
}  // namespace holdfast::core
