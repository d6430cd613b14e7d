#include "conformance/rule.hpp"

namespace holdfast::conformance {

using namespace store;

namespace {

constexpr bool kNow = true;
constexpr bool kRevoke = false;

bool is_forced(const ForceReply& reply) { return std::holds_alternative<Forced>(reply); }
bool has_changed_hands(const ForceReply& reply) {
  return std::holds_alternative<ChangedHands>(reply);
}

void expect_forced_away(Claimant& holder, std::uint64_t fence) {
  const RenewalReply reply = holder.renew(fence);
  ASSERT_TRUE(std::holds_alternative<Gone>(reply)) << "revoked, yet renewed: " << show(reply);
  EXPECT_TRUE(std::get<Gone>(reply).forced);
}

}  // namespace

HOLDFAST_RULE(ARevokedHoldCannotBeRenewed) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  expect_forced_away(alice, granted.fence);
  expect_forced_away(alice, granted.fence);
}

HOLDFAST_RULE(ARevokedLockIsFreeWhenItsHolderReleasesIt) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  on.claimant().refused();
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ARevokedLockIsFreeWhenItsLeaseEnds) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.let_pass(on.lease() / 2);
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  alice.renew(granted.fence);
  on.let_nearly_lapse(on.lease() / 2);
  EXPECT_FALSE(on.is_free()) << "revoking frees a lock no sooner than its lease ends";
  on.let_lapse(on.pace().slack + Duration(1));
  EXPECT_GT(on.claimant().granted().fence, granted.fence);
}

HOLDFAST_RULE(AskingAgainDoesNotRestartARevokedHold) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  on.let_pass(on.lease() / 2);
  alice.refused();
  on.let_lapse(on.lease() / 2);
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ARevokedHolderThatAsksAgainGetsNoPlaceInTheLine) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  EXPECT_EQ(alice.refused(in_line()).waiting, 0U);
  EXPECT_EQ(bob.refused(in_line()).ahead, 0U);
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_TRUE(bob.releases(bob.granted(in_line()).fence));
  EXPECT_TRUE(on.is_free()) << "a claim that held and waited at once left a ghost";
}

HOLDFAST_RULE(TheHolderOfARevokedLockMayTakeItAgainAfterItsLease) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  on.let_lapse(on.lease());
  EXPECT_GT(alice.granted().fence, granted.fence);
}

HOLDFAST_RULE(ARevokedOfferCannotBeConfirmed) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted();
  bob.watch();
  bob.refused(in_line());
  EXPECT_TRUE(alice.releases(granted.fence));
  const Wake::Offer offer = bob.offered();
  EXPECT_TRUE(is_forced(on.force(bob, offer.fence, kRevoke)));
  expect_forced_away(bob, offer.fence);
}

HOLDFAST_RULE(ForcingNowFreesTheLockAtOnce) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kNow)));
  Claimant& bob = on.claimant();
  const Granted next = bob.granted();
  EXPECT_GT(next.fence, granted.fence);
  EXPECT_FALSE(alice.renews(granted.fence)) << "the former holder must be told that it lost";
  EXPECT_FALSE(alice.releases(granted.fence));
  EXPECT_TRUE(bob.renews(next.fence));
}

HOLDFAST_RULE(ForcingNowHandsTheLockToTheHead) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted();
  bob.watch();
  bob.refused(in_line());
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kNow)));
  const Wake::Offer offer = bob.offered();
  EXPECT_GT(offer.fence, granted.fence);
  EXPECT_TRUE(bob.renews(offer.fence));
}

HOLDFAST_RULE(ARevokedHoldMayStillBeForcedNow) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kRevoke)));
  EXPECT_TRUE(is_forced(on.force(alice, granted.fence, kNow)));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ForceLeavesALockAloneThatHasChangedHands_F145) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted shown = alice.granted();
  EXPECT_TRUE(alice.releases(shown.fence));
  const Granted current = bob.granted();
  EXPECT_TRUE(has_changed_hands(on.force(alice, shown.fence, kNow)));
  EXPECT_TRUE(has_changed_hands(on.force(alice, shown.fence, kRevoke)));
  EXPECT_TRUE(bob.renews(current.fence)) << "the wrong hold was forced";
}

HOLDFAST_RULE(ForcingAFreeOrLapsedLockSaysItChangedHands_F145) {
  Claimant& alice = on.claimant();
  EXPECT_TRUE(has_changed_hands(on.force(alice, 1, kNow)));
  const Granted granted = alice.granted();
  on.let_lapse(on.lease());
  EXPECT_TRUE(has_changed_hands(on.force(alice, granted.fence, kRevoke)));
  EXPECT_TRUE(on.is_free());
}

}  // namespace holdfast::conformance
