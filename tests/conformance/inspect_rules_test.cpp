#include <set>

#include "conformance/rule.hpp"

namespace holdfast::conformance {

using namespace store;

namespace {

std::set<std::string> names_like(Bench& on, std::string_view pattern) {
  std::set<std::string> names;
  for (const LockView& seen : on.look(pattern)) names.insert(seen.name.bytes());
  return names;
}

}  // namespace

HOLDFAST_RULE(InspectShowsTheHolder) {
  HOLDFAST_NEEDS(inspect);
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted({.reason = "nightly invoices"});
  on.let_pass(on.lease() / 3);
  const std::vector<LockView> seen = on.look("lock");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].kind, Kind::mutex);
  EXPECT_EQ(seen[0].name, alice.key().name);
  EXPECT_TRUE(seen[0].line.empty());
  ASSERT_EQ(seen[0].holds.size(), 1U);
  const ClaimView& hold = seen[0].holds[0];
  EXPECT_EQ(hold.owner, alice.owner());
  EXPECT_EQ(hold.shape, Shape::exclusive());
  EXPECT_EQ(hold.record, alice.record("nightly invoices"));
  EXPECT_EQ(hold.fence, granted.fence);
  const Duration left = on.lease() - on.lease() / 3;
  EXPECT_LE(hold.lease_left, (on.pace().leases_are_seen ? left : on.lease()) + on.pace().slack);
  EXPECT_GE(hold.lease_left, left - on.pace().slack);
  EXPECT_FALSE(hold.offered);
  EXPECT_FALSE(hold.revoked);
}

HOLDFAST_RULE(InspectShowsTheLineInOrder) {
  HOLDFAST_NEEDS(inspect);
  HOLDFAST_NEEDS(hand_over);
  on.claimant().granted();
  std::vector<OwnerId> expected;
  for (int i = 0; i < 4; ++i) {
    Claimant& waiter = on.claimant();
    waiter.refused(in_line());
    expected.push_back(waiter.owner());
  }
  std::vector<OwnerId> line;
  for (const ClaimView& waiting : on.look_at().line) {
    line.push_back(waiting.owner);
    EXPECT_EQ(waiting.fence, 0U);
    EXPECT_GT(waiting.lease_left, Duration::zero());
    EXPECT_EQ(waiting.record.owner, to_string(waiting.owner));
  }
  EXPECT_EQ(line, expected);
}

HOLDFAST_RULE(InspectTellsAnOfferFromAHold) {
  HOLDFAST_NEEDS(inspect);
  HOLDFAST_NEEDS(hand_over);
  for (const bool by_asking : {false, true}) {
    Claimant& alice = on.claimant();
    Claimant& bob = on.claimant();
    const Granted granted = alice.granted();
    bob.watch();
    bob.refused(in_line());
    EXPECT_TRUE(alice.releases(granted.fence));
    const Wake::Offer offer = bob.offered();
    LockView seen = on.look_at();
    ASSERT_EQ(seen.holds.size(), 1U);
    EXPECT_EQ(seen.holds[0].offered, on.pace().leases_are_seen);
    EXPECT_EQ(seen.holds[0].fence, offer.fence);
    EXPECT_EQ(seen.holds[0].owner, bob.owner());
    EXPECT_TRUE(seen.line.empty());

    EXPECT_TRUE(by_asking ? bob.granted().fence == offer.fence : bob.renews(offer.fence));
    seen = on.look_at();
    ASSERT_EQ(seen.holds.size(), 1U);
    EXPECT_FALSE(seen.holds[0].offered);
    EXPECT_TRUE(bob.releases(offer.fence));
  }
}

HOLDFAST_RULE(InspectShowsWhatIsRevoked) {
  HOLDFAST_NEEDS(inspect);
  Claimant& alice = on.claimant();
  on.force(alice, alice.granted().fence, false);
  const LockView seen = on.look_at();
  ASSERT_EQ(seen.holds.size(), 1U);
  EXPECT_TRUE(seen.holds[0].revoked);
}

HOLDFAST_RULE(InspectShowsNothingThatHasLapsed) {
  HOLDFAST_NEEDS(inspect);
  HOLDFAST_NEEDS(hand_over);
  on.claimant().granted({.lease = on.lease() / 2});
  Claimant& brief = on.claimant();
  Claimant& steady = on.claimant();
  brief.refused({.line_up = true, .line_for = on.lease() / 4});
  steady.refused({.line_up = true, .lease = 2 * on.lease()});
  on.let_lapse(on.lease() / 4);
  LockView seen = on.look_at();
  EXPECT_EQ(seen.holds.size(), 1U);
  ASSERT_EQ(seen.line.size(), 1U);
  EXPECT_EQ(seen.line[0].owner, steady.owner());
  on.let_lapse(on.lease() / 4);
  seen = on.look_at();
  // Nobody has asked since. Where the first in the line is known by its place alone, it is shown as holder.
  EXPECT_EQ(seen.holds.size(), on.pace().leases_are_seen ? 0U : 1U);
  EXPECT_EQ(seen.holds.size() + seen.line.size(), 1U);
  on.let_lapse(2 * on.lease());
  EXPECT_TRUE(on.look("*").empty());
}

HOLDFAST_RULE(InspectChangesNothing) {
  HOLDFAST_NEEDS(inspect);
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.let_pass(on.lease() / 2);
  on.look("*");
  on.let_lapse(on.lease() / 2);
  EXPECT_FALSE(alice.renews(granted.fence));
}

HOLDFAST_RULE(PatternsCompareTheWholeName) {
  HOLDFAST_NEEDS(inspect);
  for (const char* name : {"job", "job-1", "job-2", "job-10", "my job", "JOB"}) {
    on.claimant(name).granted();
  }
  using Names = std::set<std::string>;
  EXPECT_EQ(names_like(on, "*").size(), 6U);
  EXPECT_EQ(names_like(on, "job"), (Names{"job"}));
  EXPECT_EQ(names_like(on, "job*"), (Names{"job", "job-1", "job-2", "job-10"}));
  EXPECT_EQ(names_like(on, "job-?"), (Names{"job-1", "job-2"}));
  EXPECT_EQ(names_like(on, "*job"), (Names{"job", "my job"}));
  EXPECT_EQ(names_like(on, "???"), (Names{"job", "JOB"}));
  EXPECT_EQ(names_like(on, "*-*0"), (Names{"job-10"}));
  EXPECT_EQ(names_like(on, "ob"), (Names{}));
  EXPECT_EQ(names_like(on, ""), (Names{}));
}

}  // namespace holdfast::conformance
