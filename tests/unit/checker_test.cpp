// For each rule of the checker: a history that keeps it, and one that breaks each of its clauses.
#include "checker/checker.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace holdfast::check {
namespace {

// A store grant to `client`, valid in [returned, valid_end) and then released.
Acquire store_grant(std::uint32_t client, Time returned, Time valid_end, std::uint64_t fence) {
  return {.client = client,
          .op = fence,
          .name = "jobs",
          .owner = fence,
          .invoked = returned - 5,
          .returned = returned,
          .outcome = Outcome::granted,
          .fence = fence,
          .grant_fence = fence,
          .valid_end = valid_end,
          .released = valid_end};
}

// The hold after `before`, without asking the store.
Acquire hand_off(const Acquire& before, Time returned, Time valid_end, std::uint64_t fence) {
  Acquire next = store_grant(before.client, returned, valid_end, fence);
  next.grant_fence = before.grant_fence;
  next.spare = before.spare;
  return next;
}

Acquire with_spare(Acquire grant, std::uint64_t spare) {
  grant.spare = spare;
  return grant;
}

Acquire granted_by_store_at(Acquire grant, Time store_granted) {
  grant.store_granted = store_granted;
  return grant;
}

Acquire waiting(std::uint32_t client, Time invoked, Time wait_limit = kNever) {
  return {.client = client,
          .op = 99,
          .name = "jobs",
          .owner = 99,
          .invoked = invoked,
          .wait_limit = wait_limit};
}

Acquire ended(Acquire claim, Outcome outcome, Time returned) {
  claim.outcome = outcome;
  claim.returned = returned;
  return claim;
}

Acquire crashed(Acquire claim, Time when) {
  claim.crashed = true;
  if (claim.outcome == Outcome::granted) claim.valid_end = when;
  claim.released = kNever;
  return claim;
}

History with(std::vector<Acquire> acquires) {
  History history;
  history.acquires = std::move(acquires);
  return history;
}

// How often the rule was broken; fails the test if another rule was broken too.
std::size_t broken(const History& history, Rule rule) {
  const Report report = check(history);
  std::size_t number = 0;
  for (const Violation& violation : report.violations) {
    EXPECT_EQ(violation.rule, rule) << violation.text;
    if (violation.rule == rule) ++number;
  }
  return number;
}

// How often this rule was broken, whatever else was.
std::size_t broken_among_others(const History& history, Rule rule) {
  const Tally tally = check(history).tally(rule);
  return tally.violated + tally.excused;
}

// C0

TEST(CheckerForm, AcceptsAnEmptyHistory) {
  const Report report = check({});
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.violations.empty());
}

TEST(CheckerForm, RefusesAnAcquireThatContradictsItself) {
  const Acquire good = store_grant(1, 10, 20, 1);
  EXPECT_EQ(broken(with({good}), Rule::form), 0u);

  std::vector<Acquire> bad(8, good);
  bad[0].invoked = 11;
  bad[1].outcome = Outcome::pending;
  bad[2].returned = kNever;
  bad[3].released = 9;
  bad[4].valid_end = 21;
  bad[5].store_granted = 11;
  bad[6].lined_up = -1;
  bad[7].lease_ns = -1;
  for (const Acquire& acquire : bad) EXPECT_EQ(broken(with({acquire}), Rule::form), 1u);

  Acquire undead = crashed(good, kNever);
  EXPECT_EQ(broken(with({undead}), Rule::form), 1u);
}

TEST(CheckerForm, RefusesARenewalThatContradictsItself) {
  const Renewal good{
      .name = "jobs", .sent = 1, .answered = 2, .outcome = Renewed::renewed, .lease_ns = 30};
  History history;
  history.renewals = {good};
  EXPECT_EQ(broken(history, Rule::form), 0u);

  std::vector<Renewal> bad(5, good);
  bad[0].answered = 0;
  bad[1].answered = kNever;
  bad[2].lease_ns = 0;
  bad[3].sent = -1;
  bad[4].sent = bad[4].answered = kNever;
  history.renewals = bad;
  EXPECT_EQ(broken(history, Rule::form), 5u);
}

TEST(CheckerForm, RefusesBadTermsAndReleases) {
  History history;
  history.terms.drift_ppm = 1'000'001;
  EXPECT_EQ(broken(history, Rule::form), 1u);
  history.terms.drift_ppm = 0;
  history.terms.slack = -1;
  EXPECT_EQ(broken(history, Rule::form), 1u);
  history.terms.slack = 0;
  history.releases = {{.name = "jobs", .sent = -1}};
  EXPECT_EQ(broken(history, Rule::form), 1u);
}

TEST(CheckerForm, RefusesLeftoversThatWereNotSeenAtRest) {
  History history = with({store_grant(1, 10, 20, 1)});
  history.terms.longest_lease = 30;
  history.leftovers = {{.name = "jobs", .client = 1, .owner = 1, .holds = true}};
  history.terms.ended = 49;
  EXPECT_EQ(broken(history, Rule::form), 1u);
  history.terms.ended = 50;
  EXPECT_EQ(broken(history, Rule::no_ghosts), 1u);
  history.terms.last_fault = 21;
  EXPECT_EQ(broken(history, Rule::form), 1u);
}

TEST(CheckerForm, LeavesTheOtherRulesAloneInAHistoryThatMakesNoSense) {
  Acquire bad = store_grant(1, 10, 20, 1);
  bad.invoked = -1;
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 1), store_grant(2, 10, 20, 1), bad}), Rule::form),
            1u);
}

// C1

TEST(CheckerExclusion, AcceptsHoldsThatTouch) {
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 1), store_grant(2, 20, 30, 2)}), Rule::exclusion),
            0u);
}

TEST(CheckerExclusion, AcceptsOverlapOfDifferentLocks) {
  Acquire other = store_grant(2, 15, 30, 1);
  other.name = "mail";
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 1), other}), Rule::exclusion), 0u);
}

TEST(CheckerExclusion, AcceptsAHoldThatWasDeadOnArrival) {
  Acquire dead = store_grant(2, 15, 12, 2);
  dead.released = kNever;
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 1), dead}), Rule::exclusion), 0u);
}

TEST(CheckerExclusion, RefusesTwoValidHolds) {
  const History history = with({store_grant(1, 10, 20, 1), store_grant(2, 19, 30, 2)});
  EXPECT_EQ(broken_among_others(history, Rule::exclusion), 1u);
}

Acquire in_mode(Mode mode, Acquire hold, std::uint32_t take = 1, std::uint32_t of = 1) {
  hold.mode = mode;
  hold.take = take;
  hold.of = of;
  return hold;
}

TEST(CheckerExclusion, AcceptsReadersTogether) {
  EXPECT_EQ(broken(with({in_mode(Mode::shared, store_grant(1, 10, 20, 1)),
                         in_mode(Mode::upgradeable, store_grant(2, 12, 30, 2)),
                         in_mode(Mode::shared, store_grant(3, 15, 25, 3))}),
                   Rule::exclusion),
            0u);
}

TEST(CheckerExclusion, RefusesAWriterBesideAReader) {
  const Acquire reader = in_mode(Mode::shared, store_grant(1, 10, 20, 1));
  EXPECT_EQ(broken_among_others(with({reader, store_grant(2, 19, 30, 2)}), Rule::exclusion), 1u);
  EXPECT_EQ(broken_among_others(
                with({store_grant(1, 10, 20, 1), in_mode(Mode::shared, store_grant(2, 15, 30, 2))}),
                Rule::exclusion),
            1u);
}

TEST(CheckerExclusion, RefusesTwoUpgradeableReaders) {
  EXPECT_EQ(broken_among_others(with({in_mode(Mode::upgradeable, store_grant(1, 10, 20, 1)),
                                      in_mode(Mode::upgradeable, store_grant(2, 15, 30, 2))}),
                                Rule::exclusion),
            1u);
}

TEST(CheckerExclusion, CountsPermits) {
  const auto taken = [](std::uint32_t take) {
    return with({in_mode(Mode::permits, store_grant(1, 10, 20, 1), 1, 3),
                 in_mode(Mode::permits, store_grant(2, 12, 20, 2), 1, 3),
                 in_mode(Mode::permits, store_grant(3, 15, 25, 3), take, 3)});
  };
  EXPECT_EQ(broken(taken(1), Rule::exclusion), 0u);
  EXPECT_EQ(broken_among_others(taken(2), Rule::exclusion), 1u);
}

TEST(CheckerExclusion, SeesALongHoldBehindAShortOne) {
  const History history =
      with({store_grant(1, 10, 50, 1), store_grant(2, 12, 14, 2), store_grant(3, 30, 40, 3)});
  EXPECT_EQ(broken_among_others(history, Rule::exclusion), 2u);
}

TEST(CheckerExclusion, RefusesAnyHoldBesideOneThatNeverEnds) {
  Acquire endless = store_grant(1, 10, kNever, 1);
  EXPECT_EQ(broken_among_others(with({endless, store_grant(2, 1'000'000, 1'000'001, 2)}),
                                Rule::exclusion),
            1u);
}

TEST(CheckerExclusion, NamesBothHoldsInItsText) {
  const Report report = check(with({store_grant(1, 10, 20, 7), store_grant(2, 19, 30, 8)}));
  ASSERT_FALSE(report.violations.empty());
  EXPECT_EQ(report.violations[0].text,
            "client 2 op 8 lock jobs fence 8 valid from 19 to 30 overlaps client 1 op 7 lock jobs "
            "fence 7 valid from "
            "10 to 20");
  EXPECT_EQ(report.violations[0].client, 2u);
  EXPECT_EQ(report.violations[0].op, 8u);
}

// C2

TEST(CheckerFenceOrder, AcceptsGrantsAndHandOffsThatGrow) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 1), 3);
  const History history = with(
      {first, hand_off(first, 21, 22, 2), hand_off(first, 23, 24, 4), store_grant(2, 30, 40, 5)});
  EXPECT_EQ(broken(history, Rule::fence_order), 0u);
  EXPECT_EQ(check(history).figures.grants, 2u);
  EXPECT_EQ(check(history).figures.hand_offs, 2u);
}

TEST(CheckerFenceOrder, AcceptsAnyOrderOfGrantsThatWereUnderWayTogether) {
  Acquire second = store_grant(2, 20, 30, 1);
  second.invoked = 10;  // the very moment at which the first returned
  EXPECT_EQ(broken(with({store_grant(1, 10, 15, 2), second}), Rule::fence_order), 0u);
}

TEST(CheckerFenceOrder, RefusesALaterGrantWithASmallerFence) {
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 2), store_grant(2, 30, 40, 1)}), Rule::fence_order),
            1u);
}

TEST(CheckerFenceOrder, RemembersTheHighestFenceNotTheLast) {
  Acquire middle = store_grant(2, 30, 40, 2);
  middle.invoked = 9;
  const History history = with({store_grant(1, 10, 20, 5), middle, store_grant(3, 50, 60, 3)});
  EXPECT_EQ(broken(history, Rule::fence_order), 1u);
}

TEST(CheckerFenceOrder, RefusesAHandOffOutsideItsGrant) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 5), 3);
  EXPECT_EQ(broken(with({first, hand_off(first, 21, 22, 8)}), Rule::fence_order), 0u);
  EXPECT_EQ(broken(with({first, hand_off(first, 21, 22, 9)}), Rule::fence_order), 1u);
}

TEST(CheckerFenceOrder, RefusesAHandOffBelowItsGrant) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 5), 3);
  // Outside the range, and below the fence handed out before.
  EXPECT_EQ(broken(with({first, hand_off(first, 21, 22, 4)}), Rule::fence_order), 2u);
}

TEST(CheckerFenceOrder, BelievesTheStoreGrantAboutTheSpare) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 5), 3);
  EXPECT_EQ(broken(with({first, with_spare(hand_off(first, 21, 22, 9), 100)}), Rule::fence_order),
            1u);
}

TEST(CheckerFenceOrder, JudgesHandOffsWhoseStoreGrantWasNeverReturned) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 5), 3);
  EXPECT_EQ(
      broken(with({hand_off(first, 21, 22, 6), hand_off(first, 23, 24, 7)}), Rule::fence_order),
      0u);
  EXPECT_EQ(
      broken(with({hand_off(first, 21, 22, 6), hand_off(first, 23, 24, 9)}), Rule::fence_order),
      1u);
  EXPECT_EQ(
      broken(with({hand_off(first, 21, 22, 6), store_grant(2, 30, 40, 4)}), Rule::fence_order), 1u);
}

TEST(CheckerFenceOrder, RefusesHandOffsThatDoNotGrow) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 5), 3);
  EXPECT_EQ(broken(with({first, hand_off(first, 21, 22, 7), hand_off(first, 23, 24, 6)}),
                   Rule::fence_order),
            1u);
}

TEST(CheckerFenceOrder, RefusesAHandOffBeforeItsOwnGrantReturned) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 5), 3);
  EXPECT_EQ(broken(with({first, hand_off(first, 7, 8, 6)}), Rule::fence_order), 1u);
}

TEST(CheckerFenceOrder, RefusesRangesThatOverlap) {
  Acquire second = store_grant(2, 30, 40, 8);
  EXPECT_EQ(broken(with({with_spare(store_grant(1, 10, 20, 5), 2), second}), Rule::fence_order),
            0u);
  EXPECT_EQ(broken(with({with_spare(store_grant(1, 10, 20, 5), 3), second}), Rule::fence_order),
            1u);
}

TEST(CheckerFenceOrder, SeesAWideRangeBehindANarrowOne) {
  const History history = with({with_spare(store_grant(1, 10, 20, 5), 9), store_grant(2, 30, 40, 6),
                                store_grant(3, 50, 60, 12)});
  EXPECT_EQ(broken(history, Rule::fence_order), 2u);
}

TEST(CheckerFenceOrder, RefusesALateHandOffAboveALaterStoreGrant) {
  const Acquire stale =
      store_grant(1, 10, 20, 5);  // no spare, yet it hands on after the next grant
  const History history = with({stale, store_grant(2, 30, 40, 6), hand_off(stale, 50, 60, 7)});
  // Outside its range, and the grant that began after the stale one's return is not above all it
  // gave.
  EXPECT_EQ(broken_among_others(history, Rule::fence_order), 2u);
}

TEST(CheckerFenceOrder, KeepsLocksApart) {
  Acquire other = store_grant(2, 30, 40, 1);
  other.name = "mail";
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 2), other}), Rule::fence_order), 0u);
}

// C3

TEST(CheckerFenceOnce, AcceptsOneFenceForDifferentLocks) {
  Acquire other = store_grant(2, 30, 40, 1);
  other.name = "mail";
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 1), other}), Rule::fence_once), 0u);
}

TEST(CheckerFenceOnce, RefusesAFenceThatTwoClientsGot) {
  EXPECT_EQ(broken_among_others(with({store_grant(1, 10, 20, 1), store_grant(2, 30, 40, 1)}),
                                Rule::fence_once),
            1u);
}

TEST(CheckerFenceOnce, RefusesAFenceThatOneClientGotTwice) {
  EXPECT_EQ(broken_among_others(with({store_grant(1, 10, 20, 1), store_grant(1, 30, 40, 1)}),
                                Rule::fence_once),
            1u);
}

TEST(CheckerFenceOnce, RefusesAHandOffWithTheFenceOfAnotherGrant) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 1), 1);
  const History history = with({first, hand_off(first, 21, 22, 2), store_grant(2, 30, 40, 2)});
  EXPECT_EQ(broken_among_others(history, Rule::fence_once), 1u);
}

TEST(CheckerFenceOnce, IgnoresTheFenceOfAnAcquireThatWasNotGranted) {
  Acquire busy = ended(store_grant(2, 30, 40, 1), Outcome::cancelled, 30);
  EXPECT_EQ(broken(with({store_grant(1, 10, 20, 1), busy}), Rule::fence_once), 0u);
}

// C4

ResourceOp access(bool write, std::uint64_t fence, Time at, bool accepted, std::uint64_t value,
                  std::uint64_t twin) {
  return {.client = static_cast<std::uint32_t>(fence),
          .name = "jobs",
          .fence = fence,
          .at = at,
          .write = write,
          .accepted = accepted,
          .fenced_value = value,
          .twin_value = twin};
}
ResourceOp reads(std::uint64_t fence, Time at, std::uint64_t value) {
  return access(false, fence, at, true, value, value);
}
ResourceOp writes(std::uint64_t fence, Time at, std::uint64_t value) {
  return access(true, fence, at, true, value, value);
}

History resource(std::vector<ResourceOp> ops, std::uint64_t fenced, std::uint64_t twin) {
  History history;
  history.resource_ops = std::move(ops);
  history.final_values = {{.name = "jobs", .fenced = fenced, .twin = twin}};
  return history;
}

TEST(CheckerNoLostUpdate, AcceptsWritesThatBuildOnEachOther) {
  const History history =
      resource({reads(1, 1, 0), writes(1, 2, 1), reads(2, 3, 1), writes(2, 4, 2)}, 2, 2);
  EXPECT_EQ(broken(history, Rule::no_lost_update), 0u);
  EXPECT_EQ(check(history).figures.unfenced_lost_updates, 0u);
}

TEST(CheckerNoLostUpdate, CountsWhatAPausedHolderDoesToTheUnfencedTwin) {
  const History history = resource({reads(1, 1, 0), reads(2, 2, 0), writes(2, 3, 1), reads(2, 4, 1),
                                    writes(2, 5, 2), access(true, 1, 6, false, 1, 1)},
                                   2, 1);
  EXPECT_EQ(broken(history, Rule::no_lost_update), 0u);
  EXPECT_EQ(check(history).figures.refused_stale_writes, 1u);
  EXPECT_EQ(check(history).figures.unfenced_lost_updates, 2u);
}

TEST(CheckerNoLostUpdate, TakesAccessesInTheOrderOfTime) {
  EXPECT_EQ(
      broken(resource({writes(2, 4, 2), reads(2, 3, 1), writes(1, 2, 1), reads(1, 1, 0)}, 2, 2),
             Rule::no_lost_update),
      0u);
}

TEST(CheckerNoLostUpdate, RefusesAWriteThatIsNotBasedOnTheLast) {
  EXPECT_EQ(broken(resource({writes(1, 1, 1), writes(2, 2, 2), writes(3, 3, 2)}, 3, 3),
                   Rule::no_lost_update),
            1u);
}

TEST(CheckerNoLostUpdate, RefusesAFinalValueThatMissesAWrite) {
  EXPECT_EQ(broken(resource({writes(1, 1, 1), writes(2, 2, 2)}, 1, 2), Rule::no_lost_update), 1u);
}

TEST(CheckerNoLostUpdate, RefusesAnOldValueReadFromTheResource) {
  EXPECT_EQ(broken(resource({writes(1, 1, 1), reads(2, 2, 0)}, 1, 1), Rule::no_lost_update), 1u);
}

TEST(CheckerNoLostUpdate, RefusesAResourceThatAcceptsAStaleFence) {
  EXPECT_EQ(broken(resource({reads(2, 1, 0), writes(1, 2, 1)}, 1, 1), Rule::no_lost_update), 1u);
}

TEST(CheckerNoLostUpdate, RefusesAResourceThatRefusesAFreshFence) {
  EXPECT_EQ(broken(resource({access(true, 1, 1, false, 1, 1)}, 0, 1), Rule::no_lost_update), 1u);
}

TEST(CheckerNoLostUpdate, RefusesAResourceWithoutAFinalValue) {
  History history = resource({writes(1, 1, 1)}, 1, 1);
  history.final_values.clear();
  EXPECT_EQ(broken(history, Rule::no_lost_update), 1u);
}

// C5

TEST(CheckerInvalidInTime, AcceptsAStoreGrantAfterTheLastHoldEnded) {
  const History history = with({granted_by_store_at(store_grant(1, 10, 20, 1), 8),
                                granted_by_store_at(store_grant(2, 25, 30, 2), 20)});
  EXPECT_EQ(broken(history, Rule::invalid_in_time), 0u);
}

TEST(CheckerInvalidInTime, RefusesAStoreGrantWhileTheLastHoldIsValid) {
  // The holds do not overlap: only the store was early.
  const History history = with({granted_by_store_at(store_grant(1, 10, 20, 1), 8),
                                granted_by_store_at(store_grant(2, 25, 30, 2), 19)});
  EXPECT_EQ(broken(history, Rule::invalid_in_time), 1u);
}

TEST(CheckerInvalidInTime, RefusesAStoreGrantWhileAHandOffOfTheLastIsValid) {
  const Acquire first = with_spare(granted_by_store_at(store_grant(1, 10, 20, 1), 8), 1);
  const History history =
      with({first, hand_off(first, 20, 23, 2), granted_by_store_at(store_grant(2, 25, 30, 3), 22)});
  EXPECT_EQ(broken(history, Rule::invalid_in_time), 1u);
}

TEST(CheckerInvalidInTime, GoesByTheReturnWhereTheStoresTimeIsNotKnown) {
  EXPECT_EQ(
      broken(with({store_grant(1, 10, 20, 1), store_grant(2, 20, 30, 2)}), Rule::invalid_in_time),
      0u);
  EXPECT_EQ(broken_among_others(with({store_grant(1, 10, 20, 1), store_grant(2, 19, 30, 2)}),
                                Rule::invalid_in_time),
            1u);
}

TEST(CheckerInvalidInTime, IgnoresAHoldThatWasDeadOnArrival) {
  Acquire dead =
      store_grant(1, 30, 15, 1);  // its answer came late; when the store granted it is not known
  dead.released = kNever;
  EXPECT_EQ(broken(with({dead, granted_by_store_at(store_grant(2, 28, 40, 2), 20)}),
                   Rule::invalid_in_time),
            0u);
}

TEST(CheckerInvalidInTime, SeesALongHoldBehindAShortOne) {
  const History history = with({granted_by_store_at(store_grant(1, 10, 50, 1), 8),
                                granted_by_store_at(store_grant(2, 12, 14, 2), 11),
                                granted_by_store_at(store_grant(3, 50, 60, 3), 49)});
  EXPECT_EQ(broken_among_others(history, Rule::invalid_in_time), 2u);
}

// C6

TEST(CheckerServed, AcceptsEveryEndOfAWaitThatIsAllowed) {
  History history = with(
      {store_grant(1, 10, 20, 1), ended(waiting(2, 5, 15), Outcome::timed_out, 15),
       ended(waiting(3, 5), Outcome::cancelled, 90), crashed(waiting(4, 5), 50),
       ended(waiting(5, 5), Outcome::unavailable, 30), ended(waiting(6, 5, 5), Outcome::busy, 6)});
  history.terms = {.ended = 100, .last_fault = 20, .served_within = 10, .slack = 1};
  EXPECT_EQ(broken(history, Rule::served), 0u);
}

TEST(CheckerServed, RefusesAWaitWithoutLimitThatNeverEnds) {
  History history = with({waiting(1, 5)});
  history.terms.ended = 100;
  EXPECT_EQ(broken(history, Rule::served), 1u);
}

TEST(CheckerServed, RefusesAWaitWithoutLimitThatGivesUp) {
  EXPECT_EQ(broken(with({ended(waiting(1, 5), Outcome::busy, 6)}), Rule::served), 1u);
  EXPECT_EQ(broken(with({ended(waiting(1, 5), Outcome::timed_out, 6)}), Rule::served), 1u);
}

TEST(CheckerServed, RefusesAFailureAfterHealing) {
  for (const Outcome outcome : {Outcome::unknown, Outcome::unavailable, Outcome::other}) {
    History history = with({ended(waiting(1, 25), outcome, 30)});
    history.terms = {.ended = 100, .last_fault = 20, .served_within = 10};
    EXPECT_EQ(broken(history, Rule::served), 0u);
    history.acquires[0].returned = 31;
    EXPECT_EQ(broken(history, Rule::served), 1u);
  }
}

TEST(CheckerServed, RefusesALimitedWaitThatReturnsLate) {
  History history = with({ended(waiting(1, 5, 15), Outcome::timed_out, 18)});
  history.terms.slack = 3;
  EXPECT_EQ(broken(history, Rule::served), 0u);
  history.terms.slack = 2;
  EXPECT_EQ(broken(history, Rule::served), 1u);
}

TEST(CheckerServed, RefusesALimitedWaitThatIsStillPendingAfterItsLimit) {
  History history = with({waiting(1, 5, 15)});
  history.terms = {.ended = 17, .slack = 2};
  EXPECT_EQ(broken(history, Rule::served), 0u);
  history.terms.ended = 18;
  EXPECT_EQ(broken(history, Rule::served), 1u);
}

TEST(CheckerServed, RefusesAGrantLaterThanServedBy) {
  History history = with({store_grant(1, 50, 60, 1)});
  history.terms.served_by = 50;
  EXPECT_EQ(broken(history, Rule::served), 0u);
  history.terms.served_by = 49;
  EXPECT_EQ(broken(history, Rule::served), 1u);
}

TEST(CheckerServed, AcceptsALongQueueThatMoves) {
  History history =
      with({store_grant(1, 20, 60, 1), store_grant(2, 70, 110, 2), store_grant(3, 120, 130, 3)});
  for (Acquire& acquire : history.acquires) acquire.invoked = 15;
  history.terms = {.ended = 1000, .last_fault = 10, .served_within = 10};
  EXPECT_EQ(broken(history, Rule::served), 0u);
}

TEST(CheckerServed, RefusesAWaitForALockThatNobodyHas) {
  History history = with({store_grant(1, 20, 60, 1), store_grant(2, 71, 110, 2)});
  history.terms = {.ended = 1000, .last_fault = 10, .served_within = 10};
  history.acquires[1].invoked = 61;
  EXPECT_EQ(broken(history, Rule::served), 0u);
  history.acquires[1].invoked = 59;
  EXPECT_EQ(broken(history, Rule::served), 1u);
  history.terms.last_fault = 61;  // until then a fault is to blame
  EXPECT_EQ(broken(history, Rule::served), 0u);
}

TEST(CheckerServed, SeesASecondGapInAWait) {
  History history = with({store_grant(1, 30, 60, 1), store_grant(2, 80, 90, 2)});
  history.acquires[1].invoked = 25;  // five before the first hold, all of the gap after it
  history.terms = {.ended = 1000, .last_fault = 10, .served_within = 10};
  EXPECT_EQ(broken(history, Rule::served), 1u);
}

// C7

History at_rest(std::vector<Acquire> acquires, Leftover leftover) {
  History history = with(std::move(acquires));
  leftover.name = "jobs";
  history.leftovers = {leftover};
  return history;
}

TEST(CheckerNoGhosts, AcceptsAClaimThatStillHolds) {
  EXPECT_EQ(
      broken(at_rest({store_grant(1, 10, kNever, 1)}, {.client = 1, .owner = 1, .holds = true}),
             Rule::no_ghosts),
      0u);
}

TEST(CheckerNoGhosts, AcceptsAClaimThatStillWaits) {
  const History history =
      at_rest({waiting(1, 10, kNever - 1)}, {.client = 1, .owner = 99, .in_line = true});
  EXPECT_EQ(broken_among_others(history, Rule::no_ghosts), 0u);
}

TEST(CheckerNoGhosts, AcceptsAGrantThatItsWaiterHasNotHeardOf) {
  const History history =
      at_rest({waiting(1, 10, kNever - 1)}, {.client = 1, .owner = 99, .holds = true});
  EXPECT_EQ(broken_among_others(history, Rule::no_ghosts), 0u);
}

TEST(CheckerNoGhosts, AcceptsAHandOffHeldInTheNameOfItsStoreGrant) {
  const Acquire first = with_spare(store_grant(1, 10, 20, 1), 1);
  EXPECT_EQ(broken(at_rest({first, hand_off(first, 21, kNever, 2)},
                           {.client = 1, .owner = 1, .holds = true}),
                   Rule::no_ghosts),
            0u);
}

TEST(CheckerNoGhosts, AcceptsAnyLivingClaimWhereTheOwnerIsNotKnown) {
  Acquire held = store_grant(1, 10, kNever, 1);
  EXPECT_EQ(broken(at_rest({held}, {.client = 1, .owner = 0, .holds = true}), Rule::no_ghosts), 0u);
  held.owner = 0;
  EXPECT_EQ(broken(at_rest({held}, {.client = 1, .owner = 5, .holds = true}), Rule::no_ghosts), 0u);
}

TEST(CheckerNoGhosts, RefusesAHolderThatReleased) {
  EXPECT_EQ(broken(at_rest({store_grant(1, 10, 20, 1)}, {.client = 1, .owner = 1, .holds = true}),
                   Rule::no_ghosts),
            1u);
}

TEST(CheckerNoGhosts, RefusesAHolderThatCrashed) {
  EXPECT_EQ(broken(at_rest({crashed(store_grant(1, 10, 20, 1), 15)},
                           {.client = 1, .owner = 1, .holds = true}),
                   Rule::no_ghosts),
            1u);
}

TEST(CheckerNoGhosts, RefusesAPlaceInLineOfAWaitThatEnded) {
  const Acquire gone = ended(waiting(1, 10, 20), Outcome::timed_out, 20);
  EXPECT_EQ(broken(at_rest({gone}, {.client = 1, .owner = 99, .in_line = true}), Rule::no_ghosts),
            1u);
  EXPECT_EQ(
      broken(at_rest({crashed(waiting(1, 10), 20)}, {.client = 1, .owner = 99, .in_line = true}),
             Rule::no_ghosts),
      1u);
}

TEST(CheckerNoGhosts, RefusesAPlaceInLineOfAClaimThatHolds) {
  EXPECT_EQ(broken(at_rest({store_grant(1, 10, kNever, 1)},
                           {.client = 1, .owner = 1, .in_line = true, .holds = true}),
                   Rule::no_ghosts),
            1u);
}

TEST(CheckerNoGhosts, RefusesAClaimThatNobodyMade) {
  const Acquire held = store_grant(1, 10, kNever, 1);
  EXPECT_EQ(broken(at_rest({held}, {.client = 1, .owner = 2, .holds = true}), Rule::no_ghosts), 1u);
  EXPECT_EQ(broken(at_rest({held}, {.client = 2, .owner = 1, .holds = true}), Rule::no_ghosts), 1u);
}

TEST(CheckerNoGhosts, RefusesAnUnknownClaimOfAClientThatHasNoneAlive) {
  Acquire held = store_grant(2, 10, kNever, 1);
  const Leftover leftover{.client = 1, .owner = 0, .holds = true};
  EXPECT_EQ(broken(at_rest({held}, leftover), Rule::no_ghosts), 1u);
  held.client = 1;
  EXPECT_EQ(broken(at_rest({held}, leftover), Rule::no_ghosts), 0u);
  held.name = "mail";
  EXPECT_EQ(broken(at_rest({held}, leftover), Rule::no_ghosts), 1u);
}

// C8

// Invoked at 10 and 30, in line at 20 and 35; the second is served first.
History overtaken() {
  Acquire first = store_grant(1, 60, 70, 2), second = store_grant(2, 40, 50, 1);
  first.order = second.order = Order::fifo;
  first.invoked = 10;
  first.lined_up = 20;
  second.invoked = 30;
  second.lined_up = 35;
  return with({first, second});
}

TEST(CheckerFifo, AcceptsGrantsInTheOrderOfTheLine) {
  History history = overtaken();
  history.acquires[0] = store_grant(1, 40, 50, 1);
  history.acquires[0].order = Order::fifo;
  history.acquires[0].invoked = 10;
  history.acquires[0].lined_up = 20;
  history.acquires[1] = store_grant(2, 60, 70, 2);
  history.acquires[1].order = Order::fifo;
  history.acquires[1].invoked = 30;
  EXPECT_EQ(broken(history, Rule::fifo), 0u);
  EXPECT_EQ(check(history).tally(Rule::fifo).examined, 1u);
}

TEST(CheckerFifo, RefusesAWaiterThatOvertakes) { EXPECT_EQ(broken(overtaken(), Rule::fifo), 1u); }

TEST(CheckerFifo, GoesByTheStoresTimeWhereItIsKnown) {
  History history = overtaken();
  history.acquires[0].store_granted =
      38;  // its answer was slow: dead on arrival, but granted first
  history.acquires[0].valid_end = 39;
  history.acquires[0].released = kNever;
  history.acquires[1].store_granted = 39;
  EXPECT_EQ(broken(history, Rule::fifo), 0u);
}

TEST(CheckerFifo, DoesNotGuessTheOrderOfAHoldThatWasDeadOnArrival) {
  History history = overtaken();
  history.acquires[0].valid_end = 39;
  history.acquires[0].released = kNever;
  EXPECT_EQ(broken(history, Rule::fifo), 0u);
}

TEST(CheckerFifo, AcceptsOvertakingAWaiterThatLostItsPlace) {
  History history = overtaken();
  history.acquires[0].lost_place = true;
  EXPECT_EQ(broken(history, Rule::fifo), 0u);
}

TEST(CheckerFifo, AcceptsOvertakingAWaiterThatLinedUpLater) {
  History history = overtaken();
  history.acquires[0].lined_up = 30;
  EXPECT_EQ(broken(history, Rule::fifo), 0u);
}

TEST(CheckerFifo, AcceptsOvertakingWhereOrderIsNotAskedFor) {
  for (const std::size_t relaxed : {0u, 1u}) {
    History history = overtaken();
    history.acquires[relaxed].order = Order::any;
    EXPECT_EQ(broken(history, Rule::fifo), 0u);
  }
}

TEST(CheckerFifo, AcceptsOvertakingAWaiterThatWasNeverServed) {
  History history = overtaken();
  history.acquires[0] = ended(history.acquires[0], Outcome::cancelled, 60);
  EXPECT_EQ(broken(history, Rule::fifo), 0u);
}

// C9

constexpr std::int64_t kLease = 300;  // a period is 100

Renewal renewal(Time sent, Renewed outcome = Renewed::renewed) {
  return {.client = 1,
          .owner = 1,
          .name = "jobs",
          .grant_fence = 1,
          .sent = sent,
          .answered = outcome == Renewed::no_answer ? kNever : sent + 5,
          .outcome = outcome,
          .lease_ns = kLease};
}

Renewal confirming(Time sent) {
  Renewal confirm = renewal(sent);
  confirm.confirming = true;
  return confirm;
}

// A grant whose request was sent at 1000.
History renewing(std::vector<Renewal> renewals) {
  History history = with({store_grant(1, 1010, 5000, 1)});
  history.acquires[0].sent = 1000;
  history.renewals = std::move(renewals);
  return history;
}

TEST(CheckerRenewals, AcceptsOneRenewalPerPeriod) {
  const History history = renewing({renewal(1100), renewal(1200), renewal(1300)});
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
  EXPECT_EQ(check(history).tally(Rule::renewals).examined, 3u);
  EXPECT_EQ(check(history).figures.renewals, 3u);
}

TEST(CheckerRenewals, RefusesARenewalTooSoonAfterTheGrant) {
  EXPECT_EQ(broken(renewing({renewal(1099)}), Rule::renewals), 1u);
}

TEST(CheckerRenewals, AVerificationWithoutAnAnswerIsRepeatedAtOnce) {
  Renewal verifies = confirming(1110);
  History history = renewing({renewal(1100), verifies, renewal(1120)});
  EXPECT_EQ(broken(history, Rule::renewals), 1u);
  history.renewals[1].answered = kNever;
  history.renewals[1].outcome = Renewed::no_answer;
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
}

TEST(CheckerRenewals, RefusesARenewalTooSoonAfterTheLast) {
  EXPECT_EQ(broken(renewing({renewal(1100), renewal(1199)}), Rule::renewals), 1u);
}

TEST(CheckerRenewals, AllowsForDriftAndJitter) {
  History history = renewing({renewal(1098)});
  history.terms.drift_ppm = 10'000;
  EXPECT_EQ(broken(history, Rule::renewals), 1u);
  history.terms.jitter = 1;
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
}

TEST(CheckerRenewals, AcceptsRetriesOfARenewalWithoutAnAnswer) {
  const std::vector<Renewal> retried{renewal(1100), renewal(1200, Renewed::no_answer),
                                     renewal(1210, Renewed::no_answer), renewal(1220),
                                     renewal(1320)};
  EXPECT_EQ(broken(renewing(retried), Rule::renewals), 0u);
}

TEST(CheckerRenewals, CountsThePeriodFromTheRetryThatSucceeded) {
  EXPECT_EQ(broken(renewing({renewal(1100, Renewed::no_answer), renewal(1110), renewal(1209)}),
                   Rule::renewals),
            1u);
}

TEST(CheckerRenewals, LeavesConfirmingRenewalsOutOfTheRhythmButCountsFromThem) {
  EXPECT_EQ(broken(renewing({confirming(1010), confirming(1011), renewal(1111)}), Rule::renewals),
            0u);
  EXPECT_EQ(broken(renewing({confirming(1010), renewal(1109)}), Rule::renewals), 1u);
}

TEST(CheckerRenewals, CountsAShorterLeaseByItsOwnPeriod) {
  Renewal last = renewal(1150);  // asks only for what is left of max_hold
  last.lease_ns = 30;
  EXPECT_EQ(broken(renewing({renewal(1100), last}), Rule::renewals), 0u);
}

TEST(CheckerRenewals, CountsFromAShorterLeaseByThePeriodOfThat) {
  Renewal brief = renewal(1100);
  brief.lease_ns = 30;
  EXPECT_EQ(broken(renewing({brief, renewal(1110)}), Rule::renewals), 0u);
  EXPECT_EQ(broken(renewing({brief, renewal(1109)}), Rule::renewals), 1u);

  History history = renewing({renewal(1010)});
  history.acquires[0].lease_ns = 30;
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
}

TEST(CheckerRenewals, BlamesARenewalThatIsTooSoonButNotItsRetries) {
  const auto no_answer = Renewed::no_answer;
  EXPECT_EQ(broken(renewing({renewal(1050, no_answer), renewal(1060)}), Rule::renewals), 1u);
}

TEST(CheckerRenewals, CountsNothingFromAConfirmingRenewalWithoutAnAnswer) {
  Renewal unheard = renewal(1050, Renewed::no_answer);
  unheard.confirming = true;
  EXPECT_EQ(broken(renewing({unheard, renewal(1100)}), Rule::renewals), 0u);
}

TEST(CheckerRenewals, RefusesARenewalAfterTheRelease) {
  History history = renewing({renewal(1100), renewal(1200)});
  history.releases = {{.client = 1, .owner = 1, .name = "jobs", .grant_fence = 1, .sent = 1200}};
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
  history.releases[0].sent = 1199;
  EXPECT_EQ(broken(history, Rule::renewals), 1u);
  history.terms.jitter = 1;
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
  history.terms.jitter = 0;
  history.releases[0].grant_fence = 2;
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
}

// A store whose waiters keep their place may give under the fence of an offer that had lapsed.
TEST(CheckerRenewals, AcceptsRenewalsOfWhatWasGrantedAfterItsOfferHadGone) {
  const auto gone = [](Time sent) {
    Renewal late = confirming(sent);
    late.outcome = Renewed::gone;
    return late;
  };
  EXPECT_EQ(broken(renewing({gone(990), renewal(1100)}), Rule::renewals), 0u);
  EXPECT_EQ(broken_among_others(renewing({gone(1001), renewal(1100)}), Rule::renewals), 1u);
}

TEST(CheckerRenewals, RefusesARenewalOfWhatIsGone) {
  EXPECT_EQ(broken(renewing({renewal(1100, Renewed::gone)}), Rule::renewals), 0u);
  History history = renewing({renewal(1100, Renewed::gone), renewal(1106)});
  EXPECT_EQ(broken_among_others(history, Rule::renewals), 1u);
  history.terms.jitter = 1;
  EXPECT_EQ(broken(history, Rule::renewals), 0u);
}

TEST(CheckerRenewals, KeepsHoldsApart) {
  Renewal other = renewal(1150);
  other.owner = 2;
  other.grant_fence = 2;
  EXPECT_EQ(broken(renewing({renewal(1100), other, renewal(1200)}), Rule::renewals), 0u);
}

// Assumptions

// C10

// Client 1 has it from 10 on, client 2 from 30 on; the former asks whether it is still its own.
History verifying(Verification asked) {
  History history = with({store_grant(1, 10, 20, 1), store_grant(2, 30, 40, 2)});
  history.acquires[0].store_granted = 9;
  history.acquires[1].store_granted = 29;
  asked.client = 1;
  asked.name = history.acquires[0].name;
  asked.grant_fence = 1;
  history.verifications = {asked};
  return history;
}

TEST(CheckerVerified, AcceptsAYesToAQuestionFromBeforeTheNextGrant) {
  const History history = verifying({.invoked = 28, .returned = 35, .confirmed = true});
  EXPECT_EQ(broken(history, Rule::verified), 0u);
  EXPECT_EQ(check(history).tally(Rule::verified).examined, 1u);
}

TEST(CheckerVerified, RefusesAYesToAQuestionAfterIt) {
  EXPECT_EQ(broken(verifying({.invoked = 30, .returned = 35, .confirmed = true}), Rule::verified),
            1u);
}

TEST(CheckerVerified, AcceptsANoAtAnyTime) {
  EXPECT_EQ(broken(verifying({.invoked = 30, .returned = 35}), Rule::verified), 0u);
}

TEST(CheckerVerified, AHandOffIsVerifiedByItsGrant) {
  History history = verifying({.invoked = 30, .returned = 35, .confirmed = true});
  history.verifications[0].client = 2;
  history.verifications[0].grant_fence = 2;
  EXPECT_EQ(broken(history, Rule::verified), 0u);
}

TEST(CheckerVerified, AnAnswerWithoutATimeContradictsItself) {
  EXPECT_EQ(broken(verifying({.invoked = 30, .confirmed = true}), Rule::form), 1u);
  EXPECT_EQ(broken(verifying({.invoked = 30, .returned = 29}), Rule::form), 1u);
}

TEST(CheckerAssumptions, DecideWhichRulesCount) {
  const Assumptions all{}, timing_off{.timing = false}, amnesia{.store_keeps_data = false},
      amnesia_and_restart{.store_keeps_data = false, .plain_counter = true},
      counter_only{.plain_counter = true};
  for (std::size_t i = 0; i < kRules; ++i) {
    const Rule rule = static_cast<Rule>(i);
    const bool always = rule == Rule::form || rule == Rule::fence_once || rule == Rule::renewals ||
                        rule == Rule::verified;
    const bool by_fence = rule == Rule::fence_order || rule == Rule::no_lost_update;
    EXPECT_TRUE(counts_under(all, rule)) << name_of(rule);
    EXPECT_TRUE(counts_under(counter_only, rule)) << name_of(rule);
    EXPECT_EQ(counts_under(timing_off, rule), always || by_fence) << name_of(rule);
    EXPECT_EQ(counts_under(amnesia, rule), always || by_fence) << name_of(rule);
    EXPECT_EQ(counts_under(amnesia_and_restart, rule), always) << name_of(rule);
  }
}

TEST(CheckerAssumptions, ExcuseAViolationButStillReportIt) {
  History history = with({store_grant(1, 10, 20, 1), store_grant(2, 19, 30, 2)});
  EXPECT_FALSE(check(history).ok());
  history.terms.assumptions.timing = false;
  const Report report = check(history);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.tally(Rule::exclusion).excused, 1u);
  EXPECT_EQ(report.tally(Rule::exclusion).violated, 0u);
  EXPECT_NE(to_text(report).find("(does not count) client 2 op 2"), std::string::npos)
      << to_text(report);
}

// Text

TEST(CheckerText, ShowsOnlyTheFirstViolationsOfARule) {
  History history;
  for (std::uint32_t client = 0; client < 25; ++client)
    history.acquires.push_back(waiting(client, 5));
  const std::string text = to_text(check(history));
  EXPECT_NE(text.find("C6 served: examined 25, violated 25, excused 0\n  client 0 op 99 lock jobs"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  and 15 more\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("client 10 "), std::string::npos) << text;
}

}  // namespace
}  // namespace holdfast::check
