#include "core/claim_machine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine_probe.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using store::Gone;
using store::Granted;
using store::GrantReply;
using store::NoAnswer;
using store::Refused;
using store::Rejected;
using store::RenewalReply;
using store::Renewed;
using store::Wake;
using store::Withdrawn;
using store::WithdrawReply;

// A step in words: "watch, ask", "withdraw", "granted 7", "tell cancelled, ended"; "" for nothing.
std::string shown(const ClaimStep& step) {
  std::vector<std::string> parts;
  if (step.watch) parts.emplace_back("watch");
  switch (step.verb) {
    case ClaimStep::Verb::none:
      break;
    case ClaimStep::Verb::ask:
      parts.emplace_back("ask");
      break;
    case ClaimStep::Verb::confirm:
      parts.emplace_back("confirm");
      break;
    case ClaimStep::Verb::withdraw:
      parts.emplace_back("withdraw");
      break;
  }
  if (step.granted) parts.push_back("granted " + std::to_string(step.granted->fence));
  if (step.tell) parts.push_back("tell " + std::string(name_of(*step.tell)));
  if (step.ended) parts.emplace_back("ended");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

GrantReply granted(std::uint64_t fence = 7, Duration lease = 30s) {
  return Granted{fence, 0, lease};
}
GrantReply refused(Duration retry_after = 30s) {
  Refused no;
  no.retry_after = retry_after;
  return no;
}
NoAnswer silence(bool executed = true, Errc why = Errc::unavailable) { return {why, executed, ""}; }
Wake look(Duration after = 0s) {
  Wake wake;
  wake.look_after = after;
  return wake;
}
Wake offer(std::uint64_t fence, std::uint64_t spare = 0) {
  Wake wake;
  wake.offer = Wake::Offer{fence, spare};
  return wake;
}

// Machines in each of their states; every way there is itself a test below.
class ClaimMachineTest : public testing::Test {
 protected:
  ClaimMachine fresh(Duration lease = 30s) { return ClaimMachine(pace, random, {.lease = lease}); }
  ClaimMachine asking(Duration lease = 30s) {
    ClaimMachine claim = fresh(lease);
    EXPECT_EQ(shown(claim.start(now)), "ask");
    return claim;
  }
  ClaimMachine single() {
    ClaimMachine claim(pace, random, {.lease = 30s, .line_up = false});
    EXPECT_EQ(shown(claim.start(now)), "ask");
    return claim;
  }
  ClaimMachine resting(bool executed = true) {
    ClaimMachine claim = asking();
    EXPECT_EQ(shown(claim.on_grant_reply(silence(executed), now)), "");
    return claim;
  }
  ClaimMachine asking_again(Duration lease = 30s) {  // and watching
    ClaimMachine claim = asking(lease);
    EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "watch, ask");
    return claim;
  }
  ClaimMachine sleeping() {
    ClaimMachine claim = asking_again();
    EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "");
    return claim;
  }
  ClaimMachine confirming(std::uint64_t fence = 7) {
    ClaimMachine claim = sleeping();
    EXPECT_EQ(shown(claim.on_wake(offer(fence, 3), now)), "confirm");
    return claim;
  }
  ClaimMachine withdrawing(Errc why = Errc::cancelled) {
    ClaimMachine claim = sleeping();
    EXPECT_EQ(shown(claim.give_up(why, now)), "withdraw");
    return claim;
  }
  ClaimMachine withdraw_resting() {
    ClaimMachine claim = withdrawing();
    EXPECT_EQ(shown(claim.on_withdraw_reply(silence(), now)), "");
    return claim;
  }

  // Goes to the machine's next timer.
  std::string next(ClaimMachine& claim) {
    EXPECT_NE(claim.timer(), kNever);
    now = std::max(now, claim.timer());
    return shown(claim.on_timer(now));
  }
  // The same until the machine says this; answers how often it said `counted` on the way.
  int run_until(ClaimMachine& claim, const std::string& last, const std::string& counted = "") {
    const TimePoint limit = now + 60s;
    int count = 0;
    while (now < limit) {
      const std::string said = next(claim);
      count += said == counted ? 1 : 0;
      if (said == last) return count;
    }
    ADD_FAILURE() << "never said: " << last;
    return count;
  }

  Pace pace;
  FixedRandom random{5ms};
  TimePoint now{1000s};
};

// ---- asking ----

TEST_F(ClaimMachineTest, AGrantCountsFromTheSendingOfItsQuestion) {
  ClaimMachine claim = asking();
  const TimePoint sent = now;
  EXPECT_EQ(claim.verb_deadline(), now + 2s);
  EXPECT_EQ(claim.timer(), now + 2s);
  now += 300ms;
  const ClaimStep step = claim.on_grant_reply(Granted{7, 16, 20s}, now);
  EXPECT_EQ(shown(step), "granted 7");
  EXPECT_EQ(step.granted->spare, 16u);
  EXPECT_EQ(step.granted->lease, 20s);
  EXPECT_EQ(step.granted->sent, sent);
  EXPECT_EQ(claim.timer(), kNever);
}

TEST_F(ClaimMachineTest, ARefusedClaimWatchesAndAsksOnceMoreThenSleeps) {
  ClaimMachine claim = asking();
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "watch, ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "");
  EXPECT_EQ(claim.verb_deadline(), kNever);
  EXPECT_TRUE(claim.last_refusal().has_value());
}

TEST_F(ClaimMachineTest, ASecondAttemptThatIsGrantedCountsFromItsOwnSending) {
  ClaimMachine claim = asking();
  now += 1s;
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "watch, ask");
  const ClaimStep step = claim.on_grant_reply(granted(), now + 1s);
  EXPECT_EQ(step.granted->sent, now);
}

TEST_F(ClaimMachineTest, AnUnansweredQuestionIsRepeatedAfterAPause) {
  ClaimMachine claim = resting();
  EXPECT_FALSE(claim.knows_busy());
  EXPECT_EQ(claim.timer(), now + 5ms);
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(granted(), now)), "granted 7");
}

TEST_F(ClaimMachineTest, AQuestionIsGivenUpAtItsDeadline) {
  ClaimMachine claim = asking();
  EXPECT_EQ(shown(claim.on_timer(now + 2s - 1ns)), "");
  EXPECT_EQ(next(claim), "");
  EXPECT_EQ(claim.last_silence().why, Errc::unknown);
  EXPECT_EQ(shown(claim.on_grant_reply(granted(), now)), "") << "that answer came too late";
  EXPECT_EQ(next(claim), "ask");
}

TEST_F(ClaimMachineTest, PausesGrowWithEachSilence) {
  random.value = 999'999'937;  // a prime just under a second
  ClaimMachine claim = asking();
  for (const Duration bound : {10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1000ms, 1000ms}) {
    EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "");
    EXPECT_EQ(claim.timer() - now, Duration(999'999'937ns) % bound);
    EXPECT_EQ(next(claim), "ask");
  }
}

TEST_F(ClaimMachineTest, ARefusalEndsTheSeriesOfSilences) {
  ClaimMachine claim = resting();
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "watch, ask");
  EXPECT_TRUE(claim.knows_busy());
}

// ---- sleeping ----

TEST_F(ClaimMachineTest, SleepsUntilTheStoreSuggestsButKeepsItsPlaceAndLooksNowAndThen) {
  const auto slept = [this](Duration lease, Duration retry_after) {
    ClaimMachine claim = asking_again(lease);
    EXPECT_EQ(shown(claim.on_grant_reply(refused(retry_after), now)), "");
    return claim.timer() - now;
  };
  EXPECT_EQ(slept(30s, 3s), 3s);
  EXPECT_EQ(slept(30s, 30s), 5s);  // look_every
  EXPECT_EQ(slept(30s, kForever), 5s);
  EXPECT_EQ(slept(6s, 30s), Pace::line_for(6s) / 3);  // a third of its place's life
  EXPECT_EQ(slept(30s, 0s), 1ms);                     // never a busy loop
  EXPECT_EQ(slept(30s, -1s), 1ms);
}

TEST_F(ClaimMachineTest, AsksWhenItHasSleptEnough) {
  ClaimMachine claim = sleeping();
  EXPECT_EQ(shown(claim.on_timer(now + 1s)), "");
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "") << "it watches already";
}

TEST_F(ClaimMachineTest, AWakeEndsTheSleep) {
  ClaimMachine claim = sleeping();
  EXPECT_EQ(shown(claim.on_wake(look(), now)), "ask");
  EXPECT_EQ(claim.timer(), now + 2s);
}

TEST_F(ClaimMachineTest, AWakeMaySayWhenToLook) {
  ClaimMachine claim = sleeping();
  EXPECT_EQ(shown(claim.on_wake(look(1s), now)), "");
  EXPECT_EQ(claim.timer(), now + 1s);
  EXPECT_EQ(shown(claim.on_wake(look(20s), now)), "");
  EXPECT_EQ(claim.timer(), now + 1s) << "later than planned already is no news";
  EXPECT_EQ(next(claim), "ask");
}

TEST_F(ClaimMachineTest, AWakeEndsARest) {
  ClaimMachine claim = resting();
  EXPECT_EQ(shown(claim.on_wake(look(), now)), "ask");
  ClaimMachine offered = resting();
  EXPECT_EQ(shown(offered.on_wake(offer(9), now)), "confirm");
  ClaimMachine told_when = resting();
  EXPECT_EQ(shown(told_when.on_wake(look(1ms), now)), "");
  EXPECT_EQ(told_when.timer(), now + 1ms);
}

// ---- kept wakes ----

TEST_F(ClaimMachineTest, AWakeDuringAQuestionIsKeptForARefusal) {
  ClaimMachine claim = asking_again();
  EXPECT_EQ(shown(claim.on_wake(look(), now)), "");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "") << "a wake is used once";
}

TEST_F(ClaimMachineTest, AnOfferDuringAQuestionIsConfirmedAfterARefusal) {
  ClaimMachine claim = asking_again();
  EXPECT_EQ(shown(claim.on_wake(offer(9), now)), "");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "confirm");
  EXPECT_EQ(claim.offer().fence, 9u);
}

TEST_F(ClaimMachineTest, AWakeDuringAQuestionIsKeptForASilence) {
  ClaimMachine claim = asking_again();
  claim.on_wake(look(), now);
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "ask");
  ClaimMachine offered = asking_again();
  offered.on_wake(offer(9), now);
  EXPECT_EQ(shown(offered.on_grant_reply(silence(), now)), "confirm");
}

TEST_F(ClaimMachineTest, AKeptWakeThatSaysWhenShortensTheSleep) {
  ClaimMachine claim = asking_again();
  claim.on_wake(look(1s), now);
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "");
  EXPECT_EQ(claim.timer(), now + 1s);
}

TEST_F(ClaimMachineTest, AGrantMakesAKeptWakeMeaningless) {
  ClaimMachine claim = asking_again();
  claim.on_wake(offer(9), now);
  EXPECT_EQ(shown(claim.on_grant_reply(granted(9), now)), "granted 9");
  EXPECT_EQ(shown(claim.on_wake(offer(9), now)), "");
}

TEST_F(ClaimMachineTest, AnOfferReplacesAKeptWakeAndIsNotReplacedByOne) {
  ClaimMachine claim = asking_again();
  claim.on_wake(look(), now);
  claim.on_wake(offer(9), now);
  claim.on_wake(look(), now);
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "confirm");
}

TEST_F(ClaimMachineTest, KeepsTheMostUrgentOfTwoWakes) {
  ClaimMachine claim = asking_again();
  claim.on_wake(look(4s), now);
  claim.on_wake(look(), now);
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "ask");
}

TEST_F(ClaimMachineTest, AnOldOfferThatComesTwiceDoesNotReplaceANewOne) {
  ClaimMachine claim = confirming(5);
  EXPECT_EQ(shown(claim.on_confirm_reply(Gone{}, now)), "ask");
  claim.on_wake(offer(9), now);
  claim.on_wake(offer(5), now);
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "confirm");
  EXPECT_EQ(claim.offer().fence, 9u);
}

// ---- confirming ----

TEST_F(ClaimMachineTest, AConfirmedOfferCountsFromTheConfirmingRenewal) {
  ClaimMachine claim = sleeping();
  now += 1s;
  EXPECT_EQ(shown(claim.on_wake(offer(9, 4), now)), "confirm");
  EXPECT_EQ(claim.verb_deadline(), now + 2s);
  const ClaimStep step = claim.on_confirm_reply(Renewed{25s}, now + 100ms);
  EXPECT_EQ(shown(step), "granted 9");
  EXPECT_EQ(step.granted->spare, 4u);
  EXPECT_EQ(step.granted->lease, 25s);
  EXPECT_EQ(step.granted->sent, now);
}

TEST_F(ClaimMachineTest, AnOfferThatIsGoneIsAskedForAgain) {
  ClaimMachine claim = confirming(7);
  EXPECT_EQ(shown(claim.on_confirm_reply(Gone{}, now)), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "");
  EXPECT_EQ(shown(claim.on_wake(offer(7), now)), "") << "the same wake a second time";
  EXPECT_EQ(shown(claim.on_wake(offer(6), now)), "") << "or an older one";
  EXPECT_EQ(claim.timer(), now + 5s);
  EXPECT_EQ(shown(claim.on_wake(offer(8), now)), "confirm");
}

TEST_F(ClaimMachineTest, AStaleOfferThatWasKeptDoesNotShortenTheRest) {
  ClaimMachine claim = confirming(7);
  claim.on_wake(offer(7), now);  // doubled
  EXPECT_EQ(shown(claim.on_confirm_reply(Gone{}, now)), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "");
  EXPECT_EQ(claim.timer(), now + 5ms);
  EXPECT_EQ(next(claim), "ask");
}

TEST_F(ClaimMachineTest, AStaleOfferThatWasKeptDoesNotHideAWake) {
  ClaimMachine claim = confirming(7);
  claim.on_wake(offer(7), now);  // doubled
  EXPECT_EQ(shown(claim.on_confirm_reply(Gone{}, now)), "ask");
  claim.on_wake(look(), now);
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "ask");
}

TEST_F(ClaimMachineTest, AConfirmationThatIsNotAnsweredIsSettledByAsking) {
  ClaimMachine claim = confirming(7);
  EXPECT_EQ(shown(claim.on_confirm_reply(silence(), now)), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7), now)), "granted 7");

  ClaimMachine hung = confirming(7);
  EXPECT_EQ(next(hung), "ask");
  EXPECT_EQ(shown(hung.on_confirm_reply(Renewed{30s}, now)), "") << "that answer came too late";
}

TEST_F(ClaimMachineTest, AWakeDuringAConfirmationIsKept) {
  ClaimMachine claim = confirming(7);
  EXPECT_EQ(shown(claim.on_wake(look(), now)), "");
  EXPECT_EQ(shown(claim.on_confirm_reply(Gone{}, now)), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "ask");
}

// ---- answers that took too long ----

TEST_F(ClaimMachineTest, AGrantOlderThanItsLeaseIsWorthlessAndAskedForAgain_F018) {
  ClaimMachine claim = asking(1s);
  const Duration usable = 1s - pace.drift.allowance(1s);
  ClaimMachine in_time = claim;
  EXPECT_EQ(shown(in_time.on_grant_reply(granted(7, 1s), now + usable - 1ns)), "granted 7");
  now += usable;
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7, 1s), now)), "");
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7, 1s), now)), "granted 7");
}

TEST_F(ClaimMachineTest, WhatTheStoreGaveDecidesWhetherAGrantIsTooOld) {
  ClaimMachine claim = asking(30s);
  now += 500ms;
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7, 400ms), now)), "");
}

TEST_F(ClaimMachineTest, AConfirmationOlderThanItsLeaseIsWorthless_F018) {
  ClaimMachine claim = confirming(7);
  now += 1s;
  EXPECT_EQ(shown(claim.on_confirm_reply(Renewed{1s}, now)), "");
  EXPECT_EQ(next(claim), "ask");
}

TEST_F(ClaimMachineTest, AGrantThatIsTooOldIsWithdrawnIfItsWaiterLeft) {
  ClaimMachine claim = asking(1s);
  claim.give_up(Errc::cancelled, now);
  now += 990ms;
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7, 1s), now)), "withdraw");
}

// ---- giving up ----

TEST_F(ClaimMachineTest, GivingUpDuringAQuestionWaitsForTheAnswerAndTakesAGrant) {
  ClaimMachine claim = asking();
  EXPECT_EQ(shown(claim.give_up(Errc::timed_out, now)), "");
  EXPECT_TRUE(claim.gave_up());
  EXPECT_EQ(claim.timer(), now + 1s) << "the answer gets half of the time";
  EXPECT_EQ(shown(claim.on_grant_reply(granted(), now)), "granted 7");
}

TEST_F(ClaimMachineTest, GivingUpDuringAQuestionWithdrawsAfterARefusal) {
  ClaimMachine claim = asking();
  claim.give_up(Errc::timed_out, now);
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "withdraw") << "and does not watch";
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell timed_out, ended");
}

TEST_F(ClaimMachineTest, GivingUpDuringAQuestionWithdrawsAfterASilence) {
  ClaimMachine claim = asking();
  claim.give_up(Errc::timed_out, now);
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "withdraw");
  ClaimMachine hung = asking();
  hung.give_up(Errc::timed_out, now);
  EXPECT_EQ(next(hung), "withdraw");
}

TEST_F(ClaimMachineTest, GivingUpEndsAtOnceIfTheStoreNeverSawTheClaim) {
  ClaimMachine claim = asking();
  claim.give_up(Errc::cancelled, now);
  EXPECT_EQ(shown(claim.on_grant_reply(silence(false), now)), "tell cancelled, ended");
  ClaimMachine rested = resting(false);
  EXPECT_EQ(shown(rested.give_up(Errc::cancelled, now)), "tell cancelled, ended");
  EXPECT_EQ(rested.timer(), kNever);
}

TEST_F(ClaimMachineTest, GivingUpDuringARestOrASleepWithdraws) {
  ClaimMachine rested = resting();
  EXPECT_EQ(shown(rested.give_up(Errc::cancelled, now)), "withdraw");
  ClaimMachine slept = sleeping();
  EXPECT_EQ(shown(slept.give_up(Errc::cancelled, now)), "withdraw");
}

TEST_F(ClaimMachineTest, GivingUpDuringAConfirmationWaitsForTheAnswer) {
  ClaimMachine yes = confirming();
  EXPECT_EQ(shown(yes.give_up(Errc::cancelled, now)), "");
  EXPECT_EQ(shown(yes.on_confirm_reply(Renewed{30s}, now)), "granted 7");

  ClaimMachine lapsed = confirming();
  lapsed.give_up(Errc::cancelled, now);
  EXPECT_EQ(shown(lapsed.on_confirm_reply(Gone{}, now)), "withdraw");

  ClaimMachine silent = confirming();
  silent.give_up(Errc::cancelled, now);
  EXPECT_EQ(shown(silent.on_confirm_reply(silence(), now)), "withdraw");

  ClaimMachine hung = confirming();
  hung.give_up(Errc::cancelled, now);
  EXPECT_EQ(hung.timer(), now + 1s);
  EXPECT_EQ(next(hung), "withdraw");
}

TEST_F(ClaimMachineTest, GivingUpTwiceChangesNothing) {
  ClaimMachine claim = withdrawing(Errc::timed_out);
  const TimePoint timer = claim.timer();
  EXPECT_EQ(shown(claim.give_up(Errc::cancelled, now + 1s)), "");
  EXPECT_EQ(claim.timer(), timer);
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell timed_out, ended");
}

TEST_F(ClaimMachineTest, AWakeOfSomebodyWhoGaveUpIsDropped) {
  ClaimMachine claim = asking_again();
  claim.give_up(Errc::cancelled, now);
  EXPECT_EQ(shown(claim.on_wake(offer(9), now)), "");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "withdraw");
}

TEST_F(ClaimMachineTest, TheWaiterIsToldWithinOneAnswerTimeOfGivingUp) {
  ClaimMachine claim = asking();
  now += 500ms;
  claim.give_up(Errc::cancelled, now);
  const TimePoint given_up = now;
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(next(claim), "tell unknown");
  EXPECT_EQ(now, given_up + 2s);
  EXPECT_EQ(next(claim), "") << "the withdraw's own deadline: told once is enough";
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "ended");
}

TEST_F(ClaimMachineTest, AWithdrawAnsweredInTimeTellsWhyItWasGivenUp) {
  ClaimMachine claim = withdraw_resting();
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell cancelled, ended");
}

TEST_F(ClaimMachineTest, ALateTimerDoesEverythingThatIsOverdueAtOnce) {
  ClaimMachine claim = asking();
  claim.give_up(Errc::cancelled, now);
  now += 60s;
  EXPECT_EQ(shown(claim.on_timer(now)), "withdraw, tell unknown");
}

// ---- withdrawing ----

TEST_F(ClaimMachineTest, NothingBecomesAHoldOnceAWithdrawHasLeft) {
  for (ClaimMachine claim : {withdrawing(), withdraw_resting()}) {
    const TimePoint timer = claim.timer();
    EXPECT_EQ(shown(claim.on_wake(look(), now)), "");
    EXPECT_EQ(shown(claim.on_wake(offer(9), now)), "");
    EXPECT_EQ(shown(claim.on_grant_reply(granted(), now)), "");
    EXPECT_EQ(shown(claim.on_confirm_reply(Renewed{30s}, now)), "");
    EXPECT_EQ(claim.timer(), timer);
  }
}

TEST_F(ClaimMachineTest, AnUnansweredWithdrawIsRepeated) {
  ClaimMachine claim = withdrawing();
  EXPECT_EQ(shown(claim.on_withdraw_reply(silence(), now)), "");
  EXPECT_EQ(claim.timer(), now + 5ms);
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(silence(), now)), "");
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell cancelled, ended");
}

TEST_F(ClaimMachineTest, AWithdrawIsRepeatedUntilNothingCanBeLeftAnyMore) {
  ClaimMachine claim = withdrawing();
  const TimePoint asked = now;
  EXPECT_GT(run_until(claim, "ended", "withdraw"), 10);
  EXPECT_GE(now, asked + 30s + 2s);
  EXPECT_LT(now, asked + 30s + 2s + 3s);
  EXPECT_EQ(claim.timer(), kNever);
}

// Confirming an offer restarts its lease in the store, as asking does.
TEST_F(ClaimMachineTest, AWithdrawIsRepeatedForALeaseAfterAnUnansweredConfirmation) {
  ClaimMachine claim = sleeping();
  now += 4s;
  EXPECT_EQ(shown(claim.on_wake(offer(9), now)), "confirm");
  const TimePoint confirmed = now;
  claim.give_up(Errc::cancelled, now);
  EXPECT_EQ(next(claim), "withdraw");
  run_until(claim, "ended");
  EXPECT_GE(now, confirmed + 30s);
}

TEST_F(ClaimMachineTest, ALateAnswerWhileWithdrawingIsWithdrawnToo) {
  ClaimMachine claim = withdrawing();
  claim.on_late_answer(now);
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell cancelled, ended");
}

TEST_F(ClaimMachineTest, ALateAnswerBeforeARepeatedWithdrawIsCoveredByIt) {
  ClaimMachine claim = withdraw_resting();
  claim.on_late_answer(now);
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell cancelled, ended");
}

TEST_F(ClaimMachineTest, AWithdrawIsRepeatedForALeaseAfterALateAnswer) {
  ClaimMachine claim = withdrawing();
  while (now < TimePoint(1020s)) next(claim);
  claim.on_late_answer(now);
  const TimePoint answered = now;
  run_until(claim, "ended");
  EXPECT_GE(now, answered + 30s);
}

TEST_F(ClaimMachineTest, AWithdrawIsRepeatedForALeaseAfterALateAnswerThatCameWhileItWaited) {
  ClaimMachine claim = sleeping();
  now += 4s;
  claim.on_late_answer(now);
  const TimePoint answered = now;
  EXPECT_EQ(shown(claim.give_up(Errc::cancelled, now)), "withdraw");
  run_until(claim, "ended");
  EXPECT_GE(now, answered + 30s);
}

TEST_F(ClaimMachineTest, ALateAnswerOfAClaimThatWaitsIsNoReasonToWithdrawTwice) {
  ClaimMachine claim = sleeping();
  claim.on_late_answer(now);
  EXPECT_EQ(shown(claim.give_up(Errc::cancelled, now)), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell cancelled, ended");
}

TEST_F(ClaimMachineTest, AClaimThatIsDoneDoesNothingMore) {
  ClaimMachine granted_one = asking();
  granted_one.on_grant_reply(granted(), now);
  ClaimMachine ended = withdrawing();
  ended.on_withdraw_reply(Withdrawn{}, now);
  for (ClaimMachine claim : {granted_one, ended}) {
    EXPECT_EQ(shown(claim.on_wake(offer(9), now)), "");
    EXPECT_EQ(shown(claim.give_up(Errc::cancelled, now)), "");
    EXPECT_EQ(shown(claim.on_grant_reply(granted(), now)), "");
    EXPECT_EQ(shown(claim.on_confirm_reply(Gone{}, now)), "");
    EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "");
    EXPECT_EQ(claim.timer(), kNever);
  }
}

// ---- patience ----

TEST_F(ClaimMachineTest, GivesUpWhenTheStoreWasSilentForTooLong) {
  ClaimMachine claim = asking();
  const TimePoint began = now;
  run_until(claim, "withdraw");
  EXPECT_GE(now, began + 10s);
  EXPECT_LE(now, began + 12s);
  EXPECT_EQ(next(claim), "tell unknown") << "it may have been granted";
  EXPECT_LE(now, began + 14s);
}

TEST_F(ClaimMachineTest, AStoreThatCannotBeReachedIsUnavailable) {
  ClaimMachine claim = asking();
  const TimePoint began = now;
  std::string said;
  while (said.empty()) {
    ASSERT_LT(now, began + 60s);
    said = shown(claim.on_grant_reply(silence(false), now));
    if (said.empty()) {
      EXPECT_EQ(next(claim), "ask");
    }
  }
  EXPECT_EQ(said, "tell unavailable, ended");
  EXPECT_GE(now, began + 10s);
  EXPECT_LT(now, began + 11s);
}

TEST_F(ClaimMachineTest, ARefusalRenewsThePatience) {
  ClaimMachine claim = asking();
  now += 9s;
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "");
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "watch, ask");
  now += 2s;
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "") << "silent for 2 s only";
}

TEST_F(ClaimMachineTest, ErrorsThatWouldComeAgainAreFinal) {
  for (const Errc why : {Errc::permission, Errc::protocol, Errc::store_full, Errc::store_corrupt}) {
    ClaimMachine unseen = asking();
    EXPECT_EQ(shown(unseen.on_grant_reply(silence(false, why), now)),
              "tell " + std::string(name_of(why)) + ", ended");
    ClaimMachine seen = asking();
    EXPECT_EQ(shown(seen.on_grant_reply(silence(true, why), now)), "withdraw");
    EXPECT_EQ(shown(seen.on_withdraw_reply(Withdrawn{}, now)),
              "tell " + std::string(name_of(why)) + ", ended");
  }
}

TEST_F(ClaimMachineTest, AQuestionThatMakesNoSenseEndsTheClaim) {
  ClaimMachine claim = asking();
  EXPECT_EQ(shown(claim.on_grant_reply(Rejected{Errc::invalid_argument, "a semaphore"}, now)),
            "tell invalid_argument, ended");
  EXPECT_EQ(claim.last_silence().text, "a semaphore");
}

TEST_F(ClaimMachineTest, ARejectionAfterASilenceWithdrawsWhatMayBeLeft) {
  ClaimMachine claim = resting();
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(Rejected{}, now)), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell invalid_argument, ended");
}

TEST_F(ClaimMachineTest, ARejectionIsToldInTimeThoughTheWithdrawIsNotAnswered) {
  ClaimMachine claim = resting();
  EXPECT_EQ(next(claim), "ask");
  const TimePoint rejected = now;
  EXPECT_EQ(shown(claim.on_grant_reply(Rejected{}, now)), "withdraw");
  bool told = false;
  while (!told && claim.timer() <= rejected + pace.answer_within) {
    told = next(claim).find("tell") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(ClaimMachineTest, ARejectionOfAClaimThatWasGivenUpEndsIt) {
  ClaimMachine claim = asking();
  claim.give_up(Errc::cancelled, now);
  const ClaimStep step = claim.on_grant_reply(Rejected{}, now);
  EXPECT_TRUE(step.ended);
  EXPECT_TRUE(step.tell.has_value());
}

// ---- one attempt ----

TEST_F(ClaimMachineTest, ASingleAttemptThatIsRefusedIsBusy) {
  ClaimMachine claim = single();
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "tell busy, ended") << "without a watch";
}

TEST_F(ClaimMachineTest, ASingleAttemptIsRepeatedOnceIfUnanswered) {
  ClaimMachine claim = single();
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "");
  EXPECT_EQ(next(claim), "ask");
  ClaimMachine granted_then = claim;
  EXPECT_EQ(shown(granted_then.on_grant_reply(granted(), now)), "granted 7");
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "withdraw");
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell unavailable, ended");
}

TEST_F(ClaimMachineTest, ARefusalAfterASilenceIsBusyOnceNothingCanBeLeft) {
  ClaimMachine claim = single();
  claim.on_grant_reply(silence(), now);
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "withdraw");
  ClaimMachine silent = claim;
  EXPECT_EQ(shown(claim.on_withdraw_reply(Withdrawn{}, now)), "tell busy, ended");
  EXPECT_EQ(next(silent), "tell unknown") << "in time";

  ClaimMachine unseen = single();
  unseen.on_grant_reply(silence(false), now);
  EXPECT_EQ(next(unseen), "ask");
  EXPECT_EQ(shown(unseen.on_grant_reply(refused(), now)), "tell busy, ended");
}

TEST_F(ClaimMachineTest, ASingleAttemptThatCannotLeaveEndsWithoutAWithdraw) {
  ClaimMachine claim = single();
  EXPECT_EQ(shown(claim.on_grant_reply(silence(false), now)), "");
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(silence(false), now)), "tell unavailable, ended");
}

TEST_F(ClaimMachineTest, BothTriesOfASingleAttemptShareOneAnswerTime) {
  ClaimMachine claim = single();
  const TimePoint began = now;
  now += 1500ms;
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "");
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(claim.verb_deadline(), began + 2s);
  EXPECT_EQ(next(claim), "withdraw");
  EXPECT_EQ(now, began + 2s);
}

TEST_F(ClaimMachineTest, ASingleAttemptThatTookAllItsTimeIsNotRepeated) {
  ClaimMachine claim = single();
  EXPECT_EQ(next(claim), "withdraw");
}

TEST_F(ClaimMachineTest, ASingleAttemptIsNotRepeatedWhenThePauseUsesUpItsTime) {
  ClaimMachine claim = single();
  now += 1999ms;
  const std::string said = shown(claim.on_grant_reply(silence(), now));
  EXPECT_EQ(said.empty() ? next(claim) : said, "withdraw")
      << "a question without time to be answered";
}

TEST_F(ClaimMachineTest, ASingleAttemptIsNotRepeatedByAProcessThatWasStoppedMeanwhile) {
  ClaimMachine claim = single();
  EXPECT_EQ(shown(claim.on_grant_reply(silence(), now)), "");
  now += 40s;
  EXPECT_EQ(shown(claim.on_timer(now)).substr(0, 8), "withdraw");
}

TEST_F(ClaimMachineTest, ASingleAttemptThatIsGivenUpSaysWhy) {
  ClaimMachine claim = single();
  EXPECT_EQ(shown(claim.give_up(Errc::cancelled, now)), "");
  EXPECT_EQ(shown(claim.on_grant_reply(refused(), now)), "tell cancelled, ended");
  ClaimMachine won = single();
  won.give_up(Errc::cancelled, now);
  EXPECT_EQ(shown(won.on_grant_reply(granted(), now)), "granted 7");
}

TEST_F(ClaimMachineTest, ASingleAttemptWhoseGrantCameTooLateIsRepeatedOnce) {
  ClaimMachine claim = single();
  now += 1s;
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7, 500ms), now)), "");
  EXPECT_EQ(next(claim), "ask");
  EXPECT_EQ(shown(claim.on_grant_reply(granted(7, 500ms), now)), "granted 7");
}

// ---- no memory for what a step leads to ----

TEST_F(ClaimMachineTest, AsksAgainIfThereWasNoMemoryForItsGrant_F044) {
  ClaimMachine machine = asking();
  EXPECT_EQ(shown(machine.on_grant_reply(granted(), now)), "granted 7");
  machine.try_again(false, now + 10ms);
  EXPECT_EQ(machine.timer(), now + 10ms);
  EXPECT_EQ(shown(machine.on_timer(now + 10ms)), "ask");
  EXPECT_EQ(shown(machine.on_grant_reply(granted(), now + 11ms)), "granted 7");
}

TEST_F(ClaimMachineTest, WithdrawsAgainIfThereWasNoMemoryToTellItsEnd_F044) {
  ClaimMachine machine = asking();
  machine.on_grant_reply(silence(), now);
  EXPECT_EQ(shown(machine.give_up(Errc::timed_out, now)), "withdraw");
  EXPECT_EQ(shown(machine.on_withdraw_reply(Withdrawn{}, now)), "tell timed_out, ended");
  machine.try_again(false, now + 10ms);
  EXPECT_EQ(shown(machine.on_timer(now + 10ms)), "withdraw");
  EXPECT_EQ(shown(machine.on_withdraw_reply(Withdrawn{}, now + 11ms)), "tell timed_out, ended");
}

}  // namespace
}  // namespace holdfast::core
