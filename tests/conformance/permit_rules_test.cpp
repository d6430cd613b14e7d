#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conformance/rule.hpp"
#include "holdfast/store/cells.hpp"
#include "support/answer.hpp"

// Permits of a semaphore.
namespace holdfast::conformance {

using namespace store;
using test::Answer;

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

// As the operator of a store would: whatever it was before.
void set_size(Bench& on, std::string value) {
  Claimant& setter = on.claimant();
  Cells& cells = *setter.link().cells();
  const CellKey key{CellKind::size, setter.key().name};
  Answer<CellReply> before;
  cells.read(key, before.call());
  Answer<CellReply> after;
  cells.write({key,
               std::get<CellState>(before.reply()).version,
               std::move(value),
               {setter.owner().client, 1}},
              after.call());
  const CellReply reply = after.reply();
  EXPECT_TRUE(std::holds_alternative<CellState>(reply)) << "alternative " << reply.index();
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

HOLDFAST_RULE(AnotherNumberOfPermitsIsAMismatch_F135) {
  HOLDFAST_NEEDS(permits);
  Claimant& alice = taker(on, 1, 2);
  const Granted held = alice.granted();
  EXPECT_EQ(why_rejected(taker(on, 1, 3).ask()), Errc::size_mismatch);
  EXPECT_EQ(why_rejected(taker(on, 3, 2).ask()), Errc::size_mismatch);
  EXPECT_TRUE(alice.renews(held.fence));
  EXPECT_TRUE(alice.releases(held.fence));
  taker(on, 1, 3).granted();
}

HOLDFAST_RULE(NoPermitsAtAllAndFarTooManyMakeNoSense_F135) {
  HOLDFAST_NEEDS(permits);
  EXPECT_EQ(why_rejected(taker(on, 0, 2).ask()), Errc::invalid_argument);
  EXPECT_EQ(why_rejected(taker(on, 1, kMaxPermits + 1).ask()), Errc::invalid_argument);
}

// --- a size that was set ---

HOLDFAST_RULE(ASetSizeCountsWhateverTheClaimsSay_S27) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(cells);
  set_size(on, "2");
  taker(on, 1, 5).granted();
  const Granted second = taker(on, 1, 1).granted();
  EXPECT_EQ(second.slots, std::vector<std::uint32_t>{1});
  taker(on, 1, 5).refused();
  EXPECT_EQ(why_rejected(taker(on, 3, 5).ask()), Errc::size_mismatch);
}

HOLDFAST_RULE(ABiggerSizeServesTheLine_S27) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(cells);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = taker(on, 1, 1), &bob = taker(on, 1, 1), &carol = taker(on, 1, 1);
  alice.granted();
  for (Claimant* waiter : {&bob, &carol}) {
    waiter->watch();
    waiter->refused(in_line());
  }
  set_size(on, "3");
  EXPECT_TRUE(bob.renews(bob.offered().fence));
  EXPECT_TRUE(carol.renews(carol.offered().fence));
  taker(on, 1, 1).refused();
}

HOLDFAST_RULE(ASmallerSizeTakesNothingAwayAndLetsNobodyIn_S27) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(cells);
  Claimant &alice = taker(on, 2, 4), &bob = taker(on, 2, 4), &carol = taker(on, 1, 4);
  const Granted first = alice.granted(), second = bob.granted();
  set_size(on, "1");
  EXPECT_TRUE(alice.renews(first.fence));
  EXPECT_EQ(alice.granted().fence, first.fence) << "its answer may have been lost";
  carol.refused();
  EXPECT_TRUE(bob.releases(second.fence));
  carol.refused();
  EXPECT_TRUE(alice.releases(first.fence));
  carol.granted();
}

HOLDFAST_RULE(WhoWaitsForMoreThanTheNewSizeIsToldAndStopsNobody_S27) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(cells);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = taker(on, 2, 3), &greedy = taker(on, 3, 3), &bob = taker(on, 1, 3);
  const Granted held = alice.granted();
  greedy.watch();
  greedy.refused(in_line());
  bob.watch();
  bob.refused(in_line());
  set_size(on, "2");
  const auto told = greedy.wake();
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->offer);
  EXPECT_TRUE(alice.releases(held.fence));
  EXPECT_TRUE(bob.renews(bob.offered().fence));
  EXPECT_EQ(why_rejected(greedy.ask(in_line())), Errc::size_mismatch);
}

HOLDFAST_RULE(ASizeThatIsNoneDoesNotCount_S27) {
  HOLDFAST_NEEDS(permits);
  HOLDFAST_NEEDS(cells);
  for (const char* none : {"0", "-3", "100001", "two", ""}) {
    set_size(on, none);
    Claimant& alice = taker(on, 2, 2);
    const Granted held = alice.granted();
    EXPECT_EQ(why_rejected(taker(on, 1, 3).ask()), Errc::size_mismatch) << none;
    EXPECT_TRUE(alice.releases(held.fence));
  }
}

}  // namespace holdfast::conformance
