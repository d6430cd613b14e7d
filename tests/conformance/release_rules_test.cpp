#include "conformance/rule.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;
using test::Link;

namespace {

bool is_gone(const ReleaseReply& reply) { return std::holds_alternative<Gone>(reply); }

}  // namespace

HOLDFAST_RULE(ReleaseFreesTheLock) {
  Claimant& alice = on.claimant();
  EXPECT_TRUE(alice.releases(alice.granted().fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AReleasedLockLeavesNothingBehind) {
  HOLDFAST_NEEDS(inspect);
  Claimant& alice = on.claimant();
  EXPECT_TRUE(alice.releases(alice.granted().fence));
  EXPECT_TRUE(on.look("*").empty());
}

HOLDFAST_RULE(ReleaseOfALockThatNobodyHoldsIsGone) {
  EXPECT_TRUE(is_gone(on.claimant().release(1)));
}

HOLDFAST_RULE(ASecondReleaseIsGone_F032) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_TRUE(is_gone(alice.release(granted.fence)));

  Claimant& bob = on.claimant();
  const Granted next = bob.granted();
  EXPECT_TRUE(is_gone(alice.release(granted.fence)));
  EXPECT_TRUE(bob.renews(next.fence)) << "a double release took the next holder's lock";
}

HOLDFAST_RULE(ReleaseByAStrangerIsGone_F031) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(is_gone(on.claimant().release(granted.fence)));
  EXPECT_TRUE(is_gone(on.claimant_beside(alice).release(granted.fence)));
  EXPECT_TRUE(alice.renews(granted.fence)) << "a stranger's release took the lock away";
}

HOLDFAST_RULE(ReleaseComparesTheFence) {
  Claimant& alice = on.claimant();
  const Granted old = alice.granted();
  on.let_lapse(on.lease());
  const Granted current = alice.granted();
  EXPECT_TRUE(is_gone(alice.release(old.fence)));
  EXPECT_TRUE(alice.renews(current.fence)) << "a release with an old fence took the new hold away";
}

HOLDFAST_RULE(ReleaseAfterTheLeaseLapsedIsGone) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.let_lapse(on.lease());
  EXPECT_TRUE(is_gone(alice.release(granted.fence)));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ReleaseOfALapsedHoldDoesNotDisturbTheNextHolder_F033) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted old = alice.granted();
  on.let_lapse(on.lease());
  const Granted current = bob.granted();
  EXPECT_TRUE(is_gone(alice.release(old.fence)));
  EXPECT_TRUE(bob.renews(current.fence));
}

HOLDFAST_RULE(AReleaseExecutedLateDoesNotDisturbTheNextHolder_F033) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted old = alice.granted();
  Answer<ReleaseReply> late;
  alice.link().set(Link::paused);
  alice.link().release(alice.hold(old.fence), late.call());
  on.let_lapse(on.lease());
  const Granted current = bob.granted();
  alice.link().let_go();
  EXPECT_TRUE(is_gone(late.reply()));
  EXPECT_TRUE(bob.renews(current.fence));
}

HOLDFAST_RULE(AReleaseWhoseReplyWasLostIsGoneWhenRepeated_F002) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  alice.link().set(Link::deaf);
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(alice.release(granted.fence)));
  alice.link().set(Link::up);
  EXPECT_TRUE(is_gone(alice.release(granted.fence)));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ReleaseSaysWhetherOthersWait) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  const Granted alone = alice.granted();
  const ReleaseReply unwanted = alice.release(alone.fence);
  ASSERT_TRUE(std::holds_alternative<Released>(unwanted)) << show(unwanted);
  EXPECT_FALSE(std::get<Released>(unwanted).others_waiting);

  const Granted granted = alice.granted();
  on.claimant().refused(in_line());
  const ReleaseReply wanted = alice.release(granted.fence);
  ASSERT_TRUE(std::holds_alternative<Released>(wanted)) << show(wanted);
  EXPECT_EQ(std::get<Released>(wanted).others_waiting, on.pace().release_tells);
}

}  // namespace holdfast::conformance
