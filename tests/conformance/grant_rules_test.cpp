#include <algorithm>

#include "conformance/rule.hpp"
#include "holdfast/fence.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;
using test::Link;

HOLDFAST_RULE(AFreeLockIsGranted) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_GE(granted.fence, 1U);
  EXPECT_LE(granted.fence, kMaxFence);
  EXPECT_GT(granted.lease, Duration::zero());
}

HOLDFAST_RULE(AHeldLockIsRefusedAndItsHolderNamed) {
  Claimant& alice = on.claimant();
  alice.granted({.reason = "nightly invoices"});
  const Refused refused = on.claimant().refused();
  ASSERT_TRUE(refused.holder);
  EXPECT_EQ(*refused.holder, alice.record("nightly invoices"));
  EXPECT_LE(refused.lease_left, on.lease() + on.pace().slack);
  EXPECT_GE(refused.lease_left, on.lease() - on.pace().slack);
}

HOLDFAST_RULE(EveryClientSeesTheLockHeldAndThenFree) {
  Claimant& alice = on.claimant();
  Claimant& same_client = on.claimant_beside(alice);
  Claimant& other_client = on.claimant();
  const Granted granted = alice.granted();
  same_client.refused();
  other_client.refused();
  EXPECT_TRUE(alice.releases(granted.fence));
  const Granted next = other_client.granted();
  same_client.refused();
  EXPECT_TRUE(other_client.releases(next.fence));
  same_client.granted();
}

HOLDFAST_RULE(TwoClaimsOfOneClientExcludeEachOther) {
  Claimant& alice = on.claimant();
  alice.granted();
  on.claimant_beside(alice).refused();
}

HOLDFAST_RULE(LocksOfOtherNamesAreIndependent) {
  Claimant& alice = on.claimant("one");
  Claimant& bob = on.claimant("two");
  const Granted one = alice.granted();
  const Granted two = bob.granted();
  EXPECT_TRUE(alice.releases(one.fence));
  EXPECT_TRUE(bob.renews(two.fence));
}

HOLDFAST_RULE(TheSameOwnerAskingAgainGetsTheSameFence_F001) {
  Claimant& alice = on.claimant();
  const Granted first = alice.granted({.spare = 3});
  const Granted again = alice.granted({.spare = 3});
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.spare, first.spare);
  EXPECT_TRUE(alice.renews(first.fence));
}

HOLDFAST_RULE(AskingAgainRestartsTheLease) {
  Claimant& alice = on.claimant();
  const Granted first = alice.granted();
  on.let_pass(on.lease() / 2);
  EXPECT_EQ(alice.granted().fence, first.fence);
  on.let_nearly_lapse(on.lease());
  on.claimant().refused();
}

HOLDFAST_RULE(TheStoreNeverCountsSoOneReleaseIsEnough) {
  Claimant& alice = on.claimant();
  const Granted first = alice.granted();
  alice.granted();
  EXPECT_TRUE(alice.releases(first.fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AGrantWhoseReplyWasLostIsFoundByAskingAgain_F001) {
  Claimant& alice = on.claimant();
  alice.link().set(Link::deaf);
  const GrantReply lost = alice.ask();
  ASSERT_TRUE(std::holds_alternative<NoAnswer>(lost)) << show(lost);
  EXPECT_TRUE(std::get<NoAnswer>(lost).executed);
  on.claimant().refused();

  alice.link().set(Link::up);
  const Granted found = alice.granted();
  EXPECT_TRUE(alice.releases(found.fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AQuestionLostOnItsWayLeavesNothing_F003) {
  Claimant& alice = on.claimant();
  alice.link().set(Link::down);
  const GrantReply lost = alice.ask(in_line());
  ASSERT_TRUE(std::holds_alternative<NoAnswer>(lost)) << show(lost);
  EXPECT_FALSE(std::get<NoAnswer>(lost).executed);
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ALateGrantCanBeGivenBack_F004) {
  Claimant& alice = on.claimant();
  Answer<GrantReply> late;
  alice.link().set(Link::paused);
  alice.link().try_grant(alice.request(), late.call());
  alice.link().set(Link::up);
  EXPECT_TRUE(on.is_free());

  alice.link().let_go();
  const auto* granted = late.get<Granted>();
  ASSERT_NE(granted, nullptr) << show(late.reply());
  on.claimant().refused();
  EXPECT_TRUE(alice.releases(granted->fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ALateGrantThatNobodyGivesBackDiesWithItsLease_F004) {
  Claimant& alice = on.claimant();
  Answer<GrantReply> late;
  alice.link().set(Link::paused);
  alice.link().try_grant(alice.request(), late.call());
  alice.link().let_go();
  EXPECT_NE(late.get<Granted>(), nullptr) << show(late.reply());
  on.let_lapse(on.lease());
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(TheLeaseOfASilentHolderLapses_F028) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted dead = alice.granted();
  on.let_nearly_lapse(on.lease());
  bob.refused();
  on.let_lapse(on.pace().slack + Duration(1));
  EXPECT_GT(bob.granted().fence, dead.fence);
}

HOLDFAST_RULE(ALapsedOwnerAskingAgainGetsAFreshFence) {
  Claimant& alice = on.claimant();
  const Granted first = alice.granted();
  on.let_lapse(on.lease());
  EXPECT_GT(alice.granted().fence, first.fence);
  EXPECT_FALSE(alice.renews(first.fence));
}

HOLDFAST_RULE(ARefusalSaysWhenLookingAgainMakesSense) {
  on.claimant().granted();
  Claimant& bob = on.claimant();
  on.let_pass(on.lease() / 3);
  const Refused refused = bob.refused();
  const Duration left = on.pace().leases_are_seen ? on.lease() * 2 / 3 : on.lease();
  EXPECT_LE(refused.retry_after, left + on.pace().slack + Duration(1));
  on.let_pass(refused.retry_after);
  bob.granted();
}

HOLDFAST_RULE(ALongLeaseIsGivenInFull) {
  const Duration hour = std::chrono::hours(1);
  Claimant& alice = on.claimant();
  const Duration given = alice.granted({.lease = hour}).lease;
  EXPECT_GE(given, std::min(hour, on.pace().longest_lease));
  EXPECT_GE(on.claimant().refused().lease_left, given - on.pace().slack);
}

HOLDFAST_RULE(BothOrdersAreTheSameLock) {
  HOLDFAST_NEEDS(mutex_any);
  HOLDFAST_NEEDS(mutex_fifo);
  on.claimant().granted({.order = Order::any});
  on.claimant().refused({.order = Order::fifo});
}

}  // namespace holdfast::conformance
