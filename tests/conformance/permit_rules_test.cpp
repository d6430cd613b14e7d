#include <algorithm>

#include "conformance/rule.hpp"

// Permits of a semaphore.
namespace holdfast::conformance {

using namespace store;

namespace {

Claimant& taker(Bench& on, std::uint32_t take, std::uint32_t of) {
  return on.claimant().as(Kind::semaphore, Shape::permits(take, of));
}

Errc why_rejected(const GrantReply& reply) {
  const auto* rejected = std::get_if<Rejected>(&reply);
  if (rejected != nullptr) return rejected->why;
  ADD_FAILURE() << "should have been rejected: " << show(reply);
  return {};
}

}  // namespace

HOLDFAST_RULE(NoMorePermitsAreHeldThanThereAre_S24) {
  HOLDFAST_NEEDS(permits);
  Claimant &alice = taker(on, 1, 2), &bob = taker(on, 1, 2), &carol = taker(on, 1, 2);
  const Granted first = alice.granted(), second = bob.granted();
  EXPECT_GT(second.fence, first.fence);
  carol.refused();
  EXPECT_TRUE(alice.releases(first.fence));
  EXPECT_GT(carol.granted().fence, second.fence);
  taker(on, 1, 2).refused();
}

HOLDFAST_RULE(SeveralPermitsAreTakenTogetherOrNotAtAll_S25) {
  HOLDFAST_NEEDS(permits);
  Claimant &alice = taker(on, 2, 3), &bob = taker(on, 2, 3), &carol = taker(on, 1, 3);
  const Granted held = alice.granted();
  bob.refused();
  EXPECT_TRUE(carol.releases(carol.granted().fence));
  EXPECT_TRUE(alice.releases(held.fence));
  bob.granted();
}

HOLDFAST_RULE(TwoThatWantAllPermitsAreServedInTurn_S25) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = taker(on, 2, 2), &bob = taker(on, 2, 2);
  const Granted held = alice.granted();
  bob.watch();
  bob.refused(in_line());
  EXPECT_TRUE(alice.releases(held.fence));
  EXPECT_TRUE(bob.renews(bob.offered().fence));
  alice.refused(in_line());
}

HOLDFAST_RULE(NobodyOvertakesAHeadThatWantsMany) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = taker(on, 1, 2), &many = taker(on, 2, 2), &one = taker(on, 1, 2);
  const Granted held = alice.granted();
  many.watch();
  many.refused(in_line());
  EXPECT_EQ(one.refused(in_line()).ahead, 1U);
  EXPECT_TRUE(alice.releases(held.fence));
  EXPECT_TRUE(many.renews(many.offered().fence));
}

HOLDFAST_RULE(PermitsThatComeBackServeAllForWhomTheyDo) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(hand_over);
  Claimant &all = taker(on, 3, 3), &one = taker(on, 1, 3), &two = taker(on, 2, 3);
  const Granted held = all.granted();
  for (Claimant* each : {&one, &two}) {
    each->watch();
    each->refused(in_line());
  }
  EXPECT_TRUE(all.releases(held.fence));
  for (Claimant* each : {&one, &two}) EXPECT_TRUE(each->renews(each->offered().fence));
}

HOLDFAST_RULE(PermitsOfADeadHolderComeBackAndItsReleaseIsRefused_S26) {
  HOLDFAST_NEEDS(permits);
  Claimant &alice = taker(on, 2, 2), &bob = taker(on, 2, 2);
  const Granted held = alice.granted();
  on.let_lapse(on.lease());
  const Granted next = bob.granted();
  EXPECT_FALSE(alice.releases(held.fence));
  EXPECT_TRUE(bob.renews(next.fence));
}

HOLDFAST_RULE(NoTwoHoldsHaveTheSameSlot) {
  HOLDFAST_NEEDS(permits);
  Claimant &alice = taker(on, 2, 4), &bob = taker(on, 1, 4), &carol = taker(on, 1, 4);
  const Granted first = alice.granted();
  if (first.slots.empty()) GTEST_SKIP() << "the store does not tell permits apart";
  const Granted second = bob.granted();
  EXPECT_TRUE(alice.releases(first.fence));
  const Granted third = carol.granted();
  const Granted fourth = taker(on, 2, 4).granted();
  std::vector<std::uint32_t> slots;
  for (const Granted* each : {&second, &third, &fourth}) {
    slots.insert(slots.end(), each->slots.begin(), each->slots.end());
  }
  std::sort(slots.begin(), slots.end());
  EXPECT_EQ(slots, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(bob.granted().slots, second.slots) << "asked again";
}

HOLDFAST_RULE(AnOfferNamesItsSlots) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = taker(on, 1, 2), &bob = taker(on, 1, 2), &carol = taker(on, 1, 2);
  const Granted first = alice.granted();
  if (first.slots.empty()) GTEST_SKIP() << "the store does not tell permits apart";
  bob.granted();
  carol.watch();
  carol.refused(in_line());
  EXPECT_TRUE(alice.releases(first.fence));
  EXPECT_EQ(carol.offered().slots, first.slots);
}

HOLDFAST_RULE(AnotherNumberOfPermitsIsAMismatch) {
  HOLDFAST_NEEDS(permits);
  Claimant& alice = taker(on, 1, 2);
  const Granted held = alice.granted();
  EXPECT_EQ(why_rejected(taker(on, 1, 3).ask()), Errc::size_mismatch);
  EXPECT_EQ(why_rejected(taker(on, 3, 2).ask()), Errc::size_mismatch);
  EXPECT_TRUE(alice.renews(held.fence));
  EXPECT_TRUE(alice.releases(held.fence));
  taker(on, 1, 3).granted();
}

HOLDFAST_RULE(NoPermitsAtAllAndFarTooManyMakeNoSense) {
  HOLDFAST_NEEDS(permits);
  EXPECT_EQ(why_rejected(taker(on, 0, 2).ask()), Errc::invalid_argument);
  EXPECT_EQ(why_rejected(taker(on, 1, kMaxPermits + 1).ask()), Errc::invalid_argument);
}

}  // namespace holdfast::conformance
