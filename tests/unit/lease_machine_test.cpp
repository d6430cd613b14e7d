#include "core/lease_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine_probe.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

// Leases of 30 s, granted at second 1000: renewed from 1010, at the latest at 1011.
class LeaseMachineTest : public testing::Test {
 protected:
  using Terms = LeaseMachine::Terms;

  LeaseMachine granted(Terms terms = {.lease = 30s}) { return granted(terms, terms.lease); }
  LeaseMachine granted(Terms terms, Duration given) {
    return LeaseMachine(pace, random, terms, GrantInHand{7, 0, given, kSent});
  }
  // One renewal that leaves now and is answered a little later.
  Duration renew(LeaseMachine& lease) {
    const Duration asked = lease.start_renewal(now);
    lease.on_renewed({.sent = now, .asked = asked, .given = asked}, now + 5ms);
    return asked;
  }
  // Until when the store is sure to keep what was asked for now, by the holder's clock.
  TimePoint kept_until(Duration asked) const { return pace.drift.valid_until(now, asked, asked); }

  static constexpr TimePoint kSent{1000s};
  static constexpr Duration kAllowance = 302ms;
  Pace pace;
  FixedRandom random{5ms};
  TimePoint now = kSent;
};

// ---- until when ----

TEST_F(LeaseMachineTest, IsValidFromTheSendingForTheShorterOfAskedAndGiven) {
  EXPECT_EQ(granted().valid_until(), kSent + 30s - kAllowance);
  EXPECT_EQ(granted({.lease = 30s}, 20s).valid_until(), kSent + 20s - 202ms);
  EXPECT_EQ(granted({.lease = 30s}, 40s).valid_until(), kSent + 30s - kAllowance);
}

TEST_F(LeaseMachineTest, TurnsInvalidAtItsDeadlineByItself) {
  const LeaseMachine lease = granted();
  EXPECT_TRUE(lease.valid(lease.valid_until() - 1ns));
  EXPECT_FALSE(lease.valid(lease.valid_until()));
  EXPECT_EQ(lease.why_lost(lease.valid_until()), LostWhy::expired);
}

TEST_F(LeaseMachineTest, TheDriftAllowanceIsAnOption_F022) {
  pace.drift = {.ppm = 100'000, .constant = 0ms};
  EXPECT_EQ(granted().valid_until(), kSent + 27s);
}

// ---- renewing ----

TEST_F(LeaseMachineTest, RenewsAtAThirdAndWaitsALittleForCompany) {
  const LeaseMachine lease = granted();
  EXPECT_EQ(lease.renew_from(), kSent + 10s);
  EXPECT_EQ(lease.renew_by(), kSent + 11s);
  EXPECT_EQ(lease.renewal_deadline(), kNever);
}

TEST_F(LeaseMachineTest, ARenewalCountsFromItsSending) {
  LeaseMachine lease = granted();
  now = kSent + 11s;
  EXPECT_EQ(lease.start_renewal(now), 30s);
  EXPECT_EQ(lease.renew_from(), kNever) << "one at a time";
  EXPECT_EQ(lease.renew_by(), kNever);
  EXPECT_EQ(lease.renewal_deadline(), now + 2s);
  lease.on_renewed({.sent = now, .asked = 30s, .given = 30s}, now + 1s);
  EXPECT_EQ(lease.valid_until(), now + 30s - kAllowance);
  EXPECT_EQ(lease.renew_from(), now + 10s);
  EXPECT_EQ(lease.renewal_deadline(), kNever);
}

TEST_F(LeaseMachineTest, AShortLeaseWaitsLessForTheAnswer) {
  LeaseMachine lease = granted({.lease = 600ms});
  lease.start_renewal(now);
  EXPECT_EQ(lease.renewal_deadline(), now + 100ms);
}

TEST_F(LeaseMachineTest, ARenewalThatGivesLessCountsLess) {
  LeaseMachine lease = granted();
  now = kSent + 10s;
  lease.start_renewal(now);
  lease.on_renewed({.sent = now, .asked = 30s, .given = 25s}, now);
  EXPECT_EQ(lease.valid_until(), now + 25s - 252ms);
}

TEST_F(LeaseMachineTest, AStoreThatGivesLessThanBeforeIsBelieved) {
  LeaseMachine lease = granted();
  now = kSent + 10s;
  lease.start_renewal(now);
  lease.on_renewed({.sent = now, .asked = 30s, .given = 5s}, now);
  EXPECT_EQ(lease.valid_until(), now + 5s - 52ms);
}

TEST_F(LeaseMachineTest, RenewsInTimeWhenTheStoreGaveLessThanAsked) {
  const LeaseMachine lease = granted({.lease = 30s}, 9s);
  EXPECT_LT(lease.renew_by(), lease.valid_until());
  LeaseMachine renewed = granted();
  now = kSent + 21s;
  renewed.start_renewal(now);
  renewed.on_renewed({.sent = now, .asked = 30s, .given = 9s}, now);
  EXPECT_LT(renewed.renew_by(), renewed.valid_until());
}

TEST_F(LeaseMachineTest, OneHundredPeriodsAreOneHundredRenewals) {
  LeaseMachine lease = granted();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(lease.renew_by() - now, 11s);
    now = lease.renew_by();
    ASSERT_TRUE(lease.valid(now));
    renew(lease);
  }
}

// ---- silence ----

TEST_F(LeaseMachineTest, AnUnansweredRenewalIsRepeatedAtOnceThenAfterAPause_F005) {
  LeaseMachine lease = granted();
  now = kSent + 11s;
  lease.start_renewal(now);
  now += 2s;
  lease.on_no_answer(now);
  EXPECT_EQ(lease.renew_from(), now);
  EXPECT_EQ(lease.renew_by(), now) << "it does not wait for company";
  EXPECT_EQ(lease.renewal_deadline(), kNever);
  lease.start_renewal(now);
  lease.on_no_answer(now);
  EXPECT_EQ(lease.renew_from(), now + 5ms);
  EXPECT_EQ(lease.renew_by(), now + 5ms);
}

TEST_F(LeaseMachineTest, ThePauseIsShortAgainstTheLease) {
  random.value = 999'999'937;
  LeaseMachine lease = granted({.lease = 120ms});
  for (int i = 0; i < 10; ++i) {
    lease.start_renewal(now);
    lease.on_no_answer(now);
    EXPECT_LE(lease.renew_from(), now + 10ms);
  }
}

TEST_F(LeaseMachineTest, AnAnswerEndsTheSeriesOfSilences) {
  LeaseMachine lease = granted();
  now = kSent + 11s;
  lease.start_renewal(now);
  lease.on_no_answer(now);
  renew(lease);
  EXPECT_EQ(lease.renew_by(), now + 11s) << "in company again";
  now = lease.renew_by();
  lease.start_renewal(now);
  lease.on_no_answer(now);
  EXPECT_EQ(lease.renew_from(), now) << "at once, being the first again";
}

TEST_F(LeaseMachineTest, ALateAnswerCountsFromItsOwnSending) {
  LeaseMachine lease = granted();
  const TimePoint first = now = kSent + 11s;
  lease.start_renewal(first);
  now += 2s;
  lease.on_no_answer(now);
  lease.start_renewal(now);
  lease.on_renewed({.sent = first, .asked = 30s, .given = 30s, .late = true}, now + 1s);
  EXPECT_EQ(lease.valid_until(), first + 30s - kAllowance);
  EXPECT_EQ(lease.renewal_deadline(), now + 2s) << "the second is still on its way";
  lease.on_renewed({.sent = now, .asked = 30s, .given = 30s}, now + 1s);
  EXPECT_EQ(lease.valid_until(), now + 30s - kAllowance);
}

TEST_F(LeaseMachineTest, ALateAnswerDuringThePauseMakesTheRepetitionNeedless) {
  LeaseMachine lease = granted();
  const TimePoint first = now = kSent + 11s;
  lease.start_renewal(first);
  now += 2s;
  lease.on_no_answer(now);
  lease.on_renewed({.sent = first, .asked = 30s, .given = 30s, .late = true}, now);
  EXPECT_EQ(lease.renew_from(), first + 10s);
  EXPECT_EQ(lease.renew_by(), first + 11s);
}

TEST_F(LeaseMachineTest, ALateAnswerDoesNotTakeAnythingBack) {
  LeaseMachine lease = granted();
  const TimePoint first = now = kSent + 11s;
  lease.start_renewal(first);
  now += 2s;
  lease.on_no_answer(now);
  renew(lease);
  const TimePoint until = lease.valid_until();
  lease.on_renewed({.sent = first, .asked = 30s, .given = 30s, .late = true}, now + 1s);
  EXPECT_EQ(lease.valid_until(), until);
  EXPECT_EQ(lease.renew_from(), now + 10s);
}

TEST_F(LeaseMachineTest, AnAnswerAfterTheDeadlineDoesNotRevive_F006) {
  for (const bool late : {false, true}) {
    LeaseMachine lease = granted();
    now = kSent + 29s;
    lease.start_renewal(now);
    const TimePoint end = lease.valid_until();
    LeaseMachine in_time = lease;
    in_time.on_renewed({.sent = now, .asked = 30s, .given = 30s, .late = late}, end - 1ns);
    EXPECT_EQ(in_time.valid_until(), now + 30s - kAllowance);
    lease.on_renewed({.sent = now, .asked = 30s, .given = 30s, .late = late}, end);
    EXPECT_FALSE(lease.valid(end));
    EXPECT_EQ(lease.valid_until(), end);
  }
}

// ---- max_hold ----

TEST_F(LeaseMachineTest, MaxHoldEndsTheLease) {
  const LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 20s});
  EXPECT_EQ(lease.valid_until(), kSent + 20s);
  EXPECT_EQ(lease.why_lost(kSent + 20s), LostWhy::max_hold);
}

TEST_F(LeaseMachineTest, ALeaseThatReachesTheEndOfMaxHoldIsNotRenewed) {
  EXPECT_EQ(granted({.lease = 30s, .hold_until = kSent + 30s - kAllowance}).renew_from(), kNever);
  EXPECT_EQ(granted({.lease = 30s, .hold_until = kSent + 30s}).renew_from(), kSent + 10s);
}

TEST_F(LeaseMachineTest, TheLastRenewalAsksOnlyForWhatIsLeft) {
  LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 35s});
  now = kSent + 11s;
  EXPECT_EQ(renew(lease), 24s + kAllowance);
  EXPECT_EQ(lease.valid_until(), kSent + 35s);
  EXPECT_EQ(lease.renew_from(), kNever) << "nothing is left to gain";
}

TEST_F(LeaseMachineTest, EarlierRenewalsAskForAWholeLease) {
  LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 60s});
  now = kSent + 11s;
  EXPECT_EQ(renew(lease), 30s);
  now = lease.renew_by();
  EXPECT_EQ(renew(lease), 30s);
  now = lease.renew_by();
  EXPECT_EQ(renew(lease), 27s + kAllowance);
  EXPECT_EQ(lease.valid_until(), kSent + 60s);
}

TEST_F(LeaseMachineTest, ARenewalNeverAsksForMoreThanALease) {
  LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 40s});
  now = kSent + 10'100ms;
  EXPECT_EQ(lease.start_renewal(now), 30s);
}

TEST_F(LeaseMachineTest, TheNextHolderHasItsOwnMaxHold) {
  LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 20s});
  lease.limit(kNever);
  EXPECT_EQ(lease.valid_until(), kSent + 30s - kAllowance);
  EXPECT_EQ(lease.renew_from(), kSent + 10s);
  lease.limit(kSent + 5s);
  EXPECT_EQ(lease.valid_until(), kSent + 5s);
}

// The store forgets a longer lease when it is asked for a shorter one, answered or not.
TEST_F(LeaseMachineTest, TheNextHolderDoesNotRelyOnMoreThanTheStoreWasLastAskedFor) {
  LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 20s});
  lease.verify_at(now);
  const Duration asked = lease.start_renewal(now);
  lease.limit(kNever);
  EXPECT_LE(lease.valid_until(), kept_until(asked));
  lease.on_renewed({.sent = now, .asked = asked, .given = asked}, now);
  EXPECT_LE(lease.valid_until(), kept_until(asked));
}

TEST_F(LeaseMachineTest, ALossByExpiryKeepsItsNameWhenNoticedAfterMaxHold) {
  const LeaseMachine lease = granted({.lease = 30s, .hold_until = kSent + 60s});
  EXPECT_EQ(lease.why_lost(kSent + 90s), LostWhy::expired);
}

// ---- no renewal, verification ----

TEST_F(LeaseMachineTest, WithoutRenewalNothingIsSent) {
  const LeaseMachine lease = granted({.lease = 30s, .renew = false});
  EXPECT_EQ(lease.renew_from(), kNever);
  EXPECT_EQ(lease.renew_by(), kNever);
  EXPECT_EQ(lease.valid_until(), kSent + 30s - kAllowance);
}

// A store with sessions gives no more than the session is known to live for.
TEST_F(LeaseMachineTest, WithoutRenewalTheRestOfALeaseThatIsGivenInPartsIsFetched) {
  LeaseMachine lease = granted({.lease = 30s, .renew = false}, 9s);
  const TimePoint end = kSent + 30s - kAllowance;
  EXPECT_EQ(lease.valid_until(), kSent + 9s - 92ms);
  int renewals = 0;
  for (; lease.renew_from() != kNever && renewals < 100; ++renewals) {
    now = lease.renew_by();
    ASSERT_TRUE(lease.valid(now));
    const Duration asked = lease.start_renewal(now);
    EXPECT_LE(now + asked, kSent + 30s) << "and no more than that";
    lease.on_renewed({.sent = now, .asked = asked, .given = std::min<Duration>(asked, 9s)},
                     now + 5ms);
  }
  EXPECT_GT(renewals, 2);
  EXPECT_EQ(lease.valid_until(), end);
  EXPECT_EQ(lease.why_lost(end), LostWhy::expired);
}

TEST_F(LeaseMachineTest, ALeaseThatWasRoundedIsWhole) {
  const LeaseMachine lease = granted({.lease = 30s, .renew = false}, 30s - 1ms + 1ns);
  EXPECT_EQ(lease.renew_from(), kNever);
}

TEST_F(LeaseMachineTest, ALeaseThatIsGivenInPartsEndsWithMaxHoldIfThatIsFirst) {
  LeaseMachine lease = granted({.lease = 30s, .renew = false, .hold_until = kSent + 12s}, 9s);
  now = lease.renew_by();
  EXPECT_EQ(lease.start_renewal(now), kSent + 12s - now + kAllowance);
  lease.on_renewed({.sent = now, .asked = 9s, .given = 9s}, now + 5ms);
  EXPECT_EQ(lease.renew_from(), kNever);
  EXPECT_EQ(lease.valid_until(), kSent + 12s);
  EXPECT_EQ(lease.why_lost(kSent + 12s), LostWhy::max_hold);
}

TEST_F(LeaseMachineTest, AVerificationLeavesAtOnceAndThePeriodBeginsAnew) {
  LeaseMachine lease = granted();
  now = kSent + 3s;
  lease.verify_at(now);
  EXPECT_EQ(lease.renew_from(), now);
  EXPECT_EQ(lease.renew_by(), now);
  EXPECT_EQ(renew(lease), 30s);
  EXPECT_EQ(lease.valid_until(), now + 30s - kAllowance);
  EXPECT_EQ(lease.renew_by(), now + 11s);
}

TEST_F(LeaseMachineTest, AVerificationDuringARenewalLeavesAfterItsAnswer) {
  LeaseMachine lease = granted();
  now = kSent + 11s;
  lease.start_renewal(now);
  lease.verify_at(now + 1s);
  EXPECT_EQ(lease.renew_from(), kNever) << "one at a time";
  lease.on_renewed({.sent = now, .asked = 30s, .given = 30s}, now + 1s);
  EXPECT_EQ(lease.renew_by(), now + 1s);
  now += 1s;
  renew(lease);
  EXPECT_EQ(lease.renew_by(), now + 11s);
}

TEST_F(LeaseMachineTest, ARepetitionThatLeftAfterTheVerificationWillDo) {
  LeaseMachine lease = granted();
  now = kSent + 11s;
  lease.start_renewal(now);
  lease.verify_at(now);
  now += 2s;
  lease.on_no_answer(now);
  renew(lease);
  EXPECT_EQ(lease.renew_by(), now + 11s);
}

TEST_F(LeaseMachineTest, AVerificationDoesNotPutOffARenewalThatIsDue) {
  LeaseMachine lease = granted();
  lease.verify_at(kSent + 20s);
  EXPECT_EQ(lease.renew_from(), kSent + 10s);
}

TEST_F(LeaseMachineTest, AVerificationDoesNotLengthenWhatIsNotRenewed) {
  LeaseMachine lease = granted({.lease = 30s, .renew = false});
  const TimePoint until = lease.valid_until();
  now = kSent + 3s;
  lease.verify_at(now);
  EXPECT_EQ(lease.renew_by(), now);
  EXPECT_LE(renew(lease), 27s);
  EXPECT_EQ(lease.valid_until(), until);
  EXPECT_EQ(lease.renew_from(), kNever);
  for (int i = 0; i < 100; ++i) {
    now += 100ms;
    lease.verify_at(now);
    EXPECT_LE(now + renew(lease), kSent + 30s) << "nor does the store keep it for longer";
    EXPECT_EQ(lease.valid_until(), until);
  }
}

TEST_F(LeaseMachineTest, AVerificationNeverLetsTheStoreForgetBeforeTheHolderDoes) {
  LeaseMachine lease = granted({.lease = 30s, .renew = false});
  now = kSent + 3s;
  lease.verify_at(now);
  const Duration asked = lease.start_renewal(now);
  EXPECT_GE(kept_until(asked), lease.valid_until());
}

TEST_F(LeaseMachineTest, AVerificationAtTheVeryEndStillAsksForSomething) {
  LeaseMachine lease = granted({.lease = 30s, .renew = false});
  EXPECT_GT(lease.start_renewal(lease.valid_until()), 0ns);
}

}  // namespace
}  // namespace holdfast::core
