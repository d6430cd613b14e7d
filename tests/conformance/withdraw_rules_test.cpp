#include "conformance/rule.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;
using test::Link;

HOLDFAST_RULE(WithdrawOfNothingIsAnswered) {
  Claimant& alice = on.claimant();
  alice.withdraw();
  alice.withdraw();
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(WithdrawLeavesTheLine_F037) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  Claimant& carol = on.claimant();
  const Granted granted = alice.granted();
  bob.watch();
  bob.refused(in_line());
  carol.refused(in_line());
  bob.withdraw();
  EXPECT_EQ(carol.refused(in_line()).ahead, 0U);
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_FALSE(bob.offer());
  carol.granted(in_line());
}

HOLDFAST_RULE(WithdrawReleasesAGrantMadeMeanwhile_F037) {
  Claimant& alice = on.claimant();
  alice.link().set(Link::deaf);
  alice.ask();
  alice.link().set(Link::up);
  on.claimant().refused();
  alice.withdraw();
  EXPECT_TRUE(on.is_free()) << "withdraw left the grant";
}

HOLDFAST_RULE(WithdrawHandsAnOfferOn_F037) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  Claimant& carol = on.claimant();
  const Granted granted = alice.granted();
  for (Claimant* each : {&bob, &carol}) {
    each->watch();
    each->refused(in_line());
  }
  EXPECT_TRUE(alice.releases(granted.fence));
  const Wake::Offer crossed = bob.offered();
  bob.withdraw();
  const Wake::Offer offer = carol.offered();
  EXPECT_GT(offer.fence, crossed.fence);
  EXPECT_FALSE(bob.renews(crossed.fence));
  EXPECT_TRUE(carol.renews(offer.fence));
}

HOLDFAST_RULE(WithdrawTouchesNobodyElse) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& sibling = on.claimant_beside(alice);
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted();
  sibling.refused(in_line());
  bob.refused(in_line());
  sibling.withdraw();
  on.claimant().withdraw();
  EXPECT_TRUE(alice.renews(granted.fence));
  const Refused refused = bob.refused(in_line());
  EXPECT_EQ(refused.ahead, 0U);
  EXPECT_EQ(refused.waiting, 1U);
}

HOLDFAST_RULE(WithdrawFromAnotherNameTouchesNothing) {
  Claimant& alice = on.claimant("one");
  const Granted granted = alice.granted();
  ClaimKey other = alice.key();
  other.name = lock_name("two");
  Answer<WithdrawReply> answer;
  alice.link().withdraw(other, answer.call());
  EXPECT_NE(answer.get<Withdrawn>(), nullptr);
  EXPECT_TRUE(alice.renews(granted.fence));
}

HOLDFAST_RULE(WithdrawAtAnyMomentLeavesNothingBehind_F037) {
  HOLDFAST_NEEDS(hand_over);
  HOLDFAST_NEEDS(inspect);
  // Before anything, while waiting, after the hand-over, after the confirmation, after the lapse.
  for (int moment = 0; moment < 5; ++moment) {
    Claimant& alice = on.claimant();
    Claimant& bob = on.claimant();
    const Granted granted = alice.granted();
    bob.watch();
    if (moment >= 1) bob.refused(in_line());
    if (moment >= 2) {
      EXPECT_TRUE(alice.releases(granted.fence));
    }
    if (moment >= 3) {
      EXPECT_TRUE(bob.renews(bob.offered().fence));
    }
    if (moment >= 4) on.let_lapse(on.lease());
    bob.withdraw();
    bob.unwatch();
    alice.withdraw();
    EXPECT_TRUE(on.look("*").empty()) << "after moment " << moment;
  }
}

HOLDFAST_RULE(AQuestionExecutedAfterItsWithdrawIsWithdrawnAgain_F037) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted();
  Answer<GrantReply> late;
  bob.link().set(Link::paused);
  bob.link().try_grant(bob.request(in_line()), late.call());
  bob.link().set(Link::up);
  bob.withdraw();
  bob.link().let_go();
  ASSERT_NE(late.get<Refused>(), nullptr) << show(late.reply());
  EXPECT_EQ(on.claimant().refused().waiting, 1U);
  bob.withdraw();
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_TRUE(on.is_free());
}

}  // namespace holdfast::conformance
