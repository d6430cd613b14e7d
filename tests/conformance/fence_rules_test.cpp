#include "conformance/rule.hpp"
#include "holdfast/fence.hpp"

namespace holdfast::conformance {

using namespace store;

HOLDFAST_RULE(FencesGrowHoweverTheLockChangesHands) {
  std::uint64_t newest = 0;
  const auto take = [&](Claimant& who) {
    const Granted granted = who.granted();
    EXPECT_GT(granted.fence, newest);
    EXPECT_LE(granted.fence, kMaxFence);
    newest = granted.fence;
    return granted.fence;
  };
  for (int round = 0; round < 2; ++round) {
    Claimant& released = on.claimant();
    EXPECT_TRUE(released.releases(take(released)));
    Claimant& withdrawn = on.claimant();
    take(withdrawn);
    withdrawn.withdraw();
    Claimant& forced = on.claimant();
    on.force(forced, take(forced), true);
    take(on.claimant());
    on.let_lapse(on.lease());
  }
}

HOLDFAST_RULE(TheSameOwnersNextGrantHasAGreaterFence) {
  Claimant& alice = on.claimant();
  const Granted first = alice.granted();
  EXPECT_TRUE(alice.releases(first.fence));
  EXPECT_GT(alice.granted().fence, first.fence);
}

HOLDFAST_RULE(SparesStayReserved) {
  Claimant& alice = on.claimant();
  const Granted first = alice.granted({.spare = 16});
  EXPECT_LE(first.spare, 16U);
  EXPECT_TRUE(alice.releases(first.fence));
  const Granted second = alice.granted({.spare = 16});
  EXPECT_GT(second.fence, first.fence + first.spare);
  on.let_lapse(on.lease());
  EXPECT_GT(on.claimant().granted().fence, second.fence + second.spare);
}

HOLDFAST_RULE(ARefusalNamesTheFenceCounter) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted granted = alice.granted();
  const Refused refused = bob.refused();
  EXPECT_GE(refused.fence_counter, granted.fence);
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_GT(bob.granted().fence, refused.fence_counter);
}

HOLDFAST_RULE(FencesDoNotRestartWithAStoreThatForgot_F046) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  HOLDFAST_FAULT(kill());
  HOLDFAST_FAULT(restart(true));
  EXPECT_FALSE(alice.renews(granted.fence));
  EXPECT_GT(on.claimant().granted().fence, granted.fence);
}

}  // namespace holdfast::conformance
