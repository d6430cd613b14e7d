#include "conformance/rule.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Link;

namespace {

// A holder and claims in the line behind it, all of them watching.
struct Queue {
  Queue(Bench& on, int waiters, const How& how) : holder(on.claimant()), held(holder.granted()) {
    for (int i = 0; i < waiters; ++i) {
      line.push_back(&on.claimant());
      line.back()->watch();
      line.back()->refused(how);
    }
  }
  Claimant& head() { return *line.front(); }

  Claimant& holder;
  Granted held;
  std::vector<Claimant*> line;
};

How confirming_within(Duration time) { return {.line_up = true, .confirm_within = time}; }

}  // namespace

HOLDFAST_RULE(ReleaseOffersTheLockToTheHead) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, in_line());
  EXPECT_FALSE(queue.head().wake());
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  const Wake::Offer offer = queue.head().offered();
  EXPECT_TRUE(queue.head().renews(offer.fence));
}

HOLDFAST_RULE(AHandOverGivesAFreshFence) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 3, in_line());
  Claimant* holder = &queue.holder;
  std::uint64_t fence = queue.held.fence;
  for (Claimant* next : queue.line) {
    EXPECT_TRUE(holder->releases(fence));
    const Wake::Offer offer = next->offered();
    EXPECT_GT(offer.fence, fence) << "a hand-over kept the old fence";
    EXPECT_TRUE(next->renews(offer.fence));
    holder = next;
    fence = offer.fence;
  }
}

HOLDFAST_RULE(AHandOverReservesTheSparesAskedFor) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 0, {});
  Claimant& bob = on.claimant();
  Claimant& carol = on.claimant();
  bob.watch();
  bob.refused({.line_up = true, .spare = 5});
  carol.watch();
  carol.refused(in_line());
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  const Wake::Offer offer = bob.offered();
  EXPECT_LE(offer.spare, 5U);
  EXPECT_TRUE(bob.releases(offer.fence));
  EXPECT_GT(carol.offered().fence, offer.fence + offer.spare);
}

HOLDFAST_RULE(AnOfferIsAboveTheFenceCounterOfEveryEarlierRefusal) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted({.spare = 4});
  bob.watch();
  const Refused refused = bob.refused(in_line());
  EXPECT_GE(refused.fence_counter, granted.fence);
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_GT(bob.offered().fence, refused.fence_counter);
}

HOLDFAST_RULE(AnOfferIsConfirmedByRenewingIt) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  const Wake::Offer offer = queue.head().offered();
  on.let_nearly_lapse(on.lease() / 4);
  EXPECT_TRUE(queue.head().renews(offer.fence));
  on.let_nearly_lapse(on.lease());
  on.claimant().refused();
  EXPECT_TRUE(queue.head().releases(offer.fence));
}

HOLDFAST_RULE(AnOfferIsConfirmedByAskingAgain_F066) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, confirming_within(on.lease() / 4));
  queue.head().link().set(Link::deaf);  // the wake is lost; a store may tell it again
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  queue.head().link().set(Link::up);
  on.let_nearly_lapse(on.lease() / 4);
  const Granted granted = queue.head().granted(in_line());
  EXPECT_GT(granted.fence, queue.held.fence);
  EXPECT_EQ(queue.head().granted(in_line()).fence, granted.fence);
  on.let_nearly_lapse(on.lease());
  on.claimant().refused();
}

HOLDFAST_RULE(AskingAgainConfirmsTheVeryFenceThatWasOffered) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, in_line());
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  EXPECT_EQ(queue.head().granted(in_line()).fence, queue.head().offered().fence);
}

HOLDFAST_RULE(AnOfferKeepsEverybodyElseOut) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 2, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  on.let_nearly_lapse(on.lease() / 4);
  const Refused refused = on.claimant().refused();
  ASSERT_TRUE(refused.holder);
  EXPECT_EQ(*refused.holder, queue.head().record());
  queue.line[1]->refused(in_line());
  queue.holder.refused();
}

HOLDFAST_RULE(AnOfferThatIsNotConfirmedLapses_F029) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  const Wake::Offer offer = queue.head().offered();
  on.let_lapse(on.lease() / 4);
  EXPECT_FALSE(queue.head().renews(offer.fence)) << "an offer outlived confirm_within";
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AnOfferThatIsNotConfirmedGoesToTheNext_F029) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 2, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  const Wake::Offer offer = queue.head().offered();
  on.let_lapse(on.lease() / 4);
  EXPECT_GT(queue.line[1]->granted(in_line()).fence, offer.fence);
  EXPECT_FALSE(queue.head().renews(offer.fence));
}

HOLDFAST_RULE(AMissedOfferCostsThePlace) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 3, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  on.let_lapse(on.lease() / 4);
  const Refused late = queue.head().refused(in_line());
  EXPECT_EQ(late.ahead, 1U) << "the second has the lock, the third is ahead";
  queue.line[1]->granted(in_line());
}

HOLDFAST_RULE(TheSecondIsToldWhenToLookOrOfferedItThen) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 2, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  if (!on.pace().leases_are_seen) {
    EXPECT_FALSE(queue.line[1]->wake()) << "when it is its turn it is told, and no sooner";
    on.let_lapse(on.lease() / 4);
    EXPECT_TRUE(queue.line[1]->renews(queue.line[1]->offered().fence));
    return;
  }
  const auto told = queue.line[1]->wake();
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->offer);
  EXPECT_GE(told->look_after, on.lease() / 4 - on.pace().slack);
  EXPECT_LE(told->look_after, on.lease() / 4 + on.pace().slack);
  on.let_lapse(told->look_after);
  queue.line[1]->granted(in_line());
}

HOLDFAST_RULE(AReleaseWakesNobodyBehindTheSecond_F041) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 5, confirming_within(on.lease() / 4));
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  queue.head().offered();
  EXPECT_FALSE(queue.line[1]->offer());
  for (std::size_t i = 2; i < queue.line.size(); ++i) EXPECT_FALSE(queue.line[i]->wake());
}

HOLDFAST_RULE(AnOfferMayBeReleasedUnconfirmed) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 2, in_line());
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  EXPECT_TRUE(queue.head().releases(queue.head().offered().fence));
  EXPECT_TRUE(queue.line[1]->renews(queue.line[1]->offered().fence));
}

HOLDFAST_RULE(AStrangerServesTheLineOfALapsedHold) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, {.line_up = true, .lease = 2 * on.lease(), .confirm_within = on.lease() / 4});
  on.let_lapse(on.lease());
  const Refused refused = on.claimant().refused(in_line());
  EXPECT_EQ(refused.ahead, 0U);
  EXPECT_EQ(refused.waiting, 1U);
  const Wake::Offer offer = queue.head().offered();
  EXPECT_GT(offer.fence, queue.held.fence);
  EXPECT_TRUE(queue.head().renews(offer.fence));
}

HOLDFAST_RULE(AnEndedWatchIsNotTold) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, in_line());
  queue.head().unwatch();
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  EXPECT_FALSE(queue.head().wake());
}

HOLDFAST_RULE(TheFormerHolderHasNothingOfWhatItHandedOver) {
  HOLDFAST_NEEDS(hand_over);
  Queue queue(on, 1, in_line());
  EXPECT_TRUE(queue.holder.releases(queue.held.fence));
  const Wake::Offer offer = queue.head().offered();
  EXPECT_FALSE(queue.holder.renews(queue.held.fence));
  EXPECT_FALSE(queue.holder.renews(offer.fence));
  EXPECT_FALSE(queue.holder.releases(offer.fence));
  EXPECT_TRUE(queue.head().renews(offer.fence));
}

}  // namespace holdfast::conformance
