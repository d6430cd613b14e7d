#include "conformance/rule.hpp"

// Readers and writers of one lock.
namespace holdfast::conformance {

using namespace store;

namespace {

Claimant& reader(Bench& on) { return on.claimant().as(Kind::shared_mutex, Shape::shared()); }
Claimant& writer(Bench& on) { return on.claimant().as(Kind::shared_mutex, Shape::exclusive()); }
Claimant& upgradeable(Bench& on) {
  return on.claimant().as(Kind::shared_mutex, Shape::upgradeable());
}
// One hold is exchanged for another of the same client.
Claimant& reader_after(Bench& on, Claimant& old) {
  return on.claimant_beside(old).as(Kind::shared_mutex, Shape::shared());
}
Claimant& writer_after(Bench& on, Claimant& old) {
  return on.claimant_beside(old).as(Kind::shared_mutex, Shape::exclusive());
}

}  // namespace

HOLDFAST_RULE(ReadersShareAndAWriterDoesNot) {
  HOLDFAST_NEEDS(shared);
  Claimant &alice = reader(on), &bob = reader(on), &carol = writer(on);
  const Granted first = alice.granted(), second = bob.granted();
  EXPECT_GT(second.fence, first.fence);
  carol.refused();
  EXPECT_TRUE(alice.releases(first.fence));
  carol.refused();
  EXPECT_TRUE(bob.releases(second.fence));
  const Granted alone = carol.granted();
  EXPECT_GT(alone.fence, second.fence);
  reader(on).refused();
  writer(on).refused();
  EXPECT_TRUE(carol.releases(alone.fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AReaderThatAsksAgainKeepsItsFence) {
  HOLDFAST_NEEDS(shared);
  Claimant& alice = reader(on);
  const Granted first = alice.granted();
  reader(on).granted();
  EXPECT_EQ(alice.granted().fence, first.fence);
  EXPECT_EQ(on.look_at().holds.size(), 2U);
}

HOLDFAST_RULE(EachReaderHasALeaseOfItsOwn) {
  HOLDFAST_NEEDS(shared);
  Claimant &brief = reader(on), &lasting = reader(on), &carol = writer(on);
  const Granted short_hold = brief.granted({.lease = on.lease() / 3});
  const Granted long_hold = lasting.granted();
  on.let_lapse(on.lease() / 3);
  EXPECT_FALSE(brief.renews(short_hold.fence));
  EXPECT_TRUE(lasting.renews(long_hold.fence));
  carol.refused();
  on.let_lapse(on.lease());
  carol.granted();
}

HOLDFAST_RULE(ReadersWaitBehindAWaitingWriter) {
  HOLDFAST_NEEDS(shared);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = reader(on), &carol = writer(on), &late = reader(on);
  const Granted held = alice.granted();
  carol.watch();
  carol.refused(in_line());
  EXPECT_EQ(late.refused(in_line()).ahead, 1U);
  EXPECT_TRUE(alice.releases(held.fence));
  const auto offer = carol.offered();
  EXPECT_TRUE(carol.renews(offer.fence));
  late.refused(in_line());
}

HOLDFAST_RULE(ReadersAtTheHeadAreServedTogether_S20) {
  HOLDFAST_NEEDS(shared);
  HOLDFAST_NEEDS(hand_over);
  Claimant& carol = writer(on);
  const Granted held = carol.granted();
  std::vector<Claimant*> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(&reader(on));
    readers.back()->watch();
    readers.back()->refused(in_line());
  }
  Claimant &next = writer(on), &last = reader(on);
  next.refused(in_line());
  last.refused(in_line());
  EXPECT_TRUE(carol.releases(held.fence));
  for (Claimant* each : readers) EXPECT_TRUE(each->renews(each->offered().fence));
  EXPECT_EQ(on.look_at().holds.size(), 20U);
  EXPECT_EQ(last.refused(in_line()).ahead, 1U) << "the writer between stops it";
}

HOLDFAST_RULE(AWriterThatLeavesTheLineLetsTheReadersBehindItIn) {
  HOLDFAST_NEEDS(shared);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = reader(on), &carol = writer(on), &late = reader(on);
  alice.granted();
  carol.refused(in_line());
  late.watch();
  late.refused(in_line());
  carol.withdraw();
  EXPECT_TRUE(late.renews(late.offered().fence));
}

HOLDFAST_RULE(AWriterWhosePlaceLapsedLetsReadersIn) {
  HOLDFAST_NEEDS(shared);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = reader(on), &carol = writer(on), &late = reader(on);
  alice.granted();
  carol.refused({.line_up = true, .line_for = on.lease() / 3, .confirm_within = on.lease() / 3});
  on.let_lapse(on.lease() / 3);
  late.granted();
}

HOLDFAST_RULE(AForcedReaderGoesAndTheOthersStay) {
  HOLDFAST_NEEDS(shared);
  HOLDFAST_NEEDS(inspect);
  Claimant &alice = reader(on), &bob = reader(on);
  const Granted first = alice.granted(), second = bob.granted();
  ASSERT_TRUE(std::holds_alternative<Forced>(on.force(alice, first.fence, true)));
  EXPECT_FALSE(alice.renews(first.fence));
  EXPECT_TRUE(bob.renews(second.fence));
}

HOLDFAST_RULE(InspectShowsKindsAndShapes) {
  HOLDFAST_NEEDS(shared);
  HOLDFAST_NEEDS(inspect);
  HOLDFAST_NEEDS(hand_over);
  reader(on).granted();
  writer(on).refused(in_line());
  const LockView seen = on.look_at();
  EXPECT_EQ(seen.kind, Kind::shared_mutex);
  ASSERT_EQ(seen.holds.size(), 1U);
  EXPECT_EQ(seen.holds[0].shape, Shape::shared());
  ASSERT_EQ(seen.line.size(), 1U);
  EXPECT_EQ(seen.line[0].shape, Shape::exclusive());
}

// ---- exchanges ----

HOLDFAST_RULE(ADowngradeLetsReadersInAndKeepsWritersOut_S21) {
  HOLDFAST_NEEDS(downgrade);
  Claimant &alice = writer(on), &after = reader_after(on, alice);
  const Granted alone = alice.granted();
  writer(on).refused();
  const Granted shared = after.granted({.instead_of = alice.hold(alone.fence)});
  EXPECT_GT(shared.fence, alone.fence);
  EXPECT_FALSE(alice.renews(alone.fence)) << "the writer's hold is gone";
  Claimant& bob = reader(on);
  const Granted other = bob.granted();
  writer(on).refused();
  EXPECT_TRUE(after.releases(shared.fence));
  EXPECT_TRUE(bob.releases(other.fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ADowngradeServesTheReadersThatWait) {
  HOLDFAST_NEEDS(downgrade);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = writer(on), &after = reader_after(on, alice), &bob = reader(on);
  const Granted alone = alice.granted();
  bob.watch();
  bob.refused(in_line());
  after.granted({.instead_of = alice.hold(alone.fence)});
  EXPECT_TRUE(bob.renews(bob.offered().fence));
}

HOLDFAST_RULE(AnExchangeAskedTwiceIsDoneOnce) {
  HOLDFAST_NEEDS(downgrade);
  Claimant &alice = writer(on), &after = reader_after(on, alice);
  const Granted alone = alice.granted();
  const How how{.instead_of = alice.hold(alone.fence)};
  const Granted shared = after.granted(how);
  EXPECT_EQ(after.granted(how).fence, shared.fence);
  EXPECT_EQ(on.look_at().holds.size(), 1U);
}

HOLDFAST_RULE(WhatIsGoneCannotBeExchanged) {
  HOLDFAST_NEEDS(downgrade);
  Claimant &alice = writer(on), &after = reader_after(on, alice);
  const Granted alone = alice.granted();
  EXPECT_TRUE(alice.releases(alone.fence));
  const GrantReply reply = after.ask({.instead_of = alice.hold(alone.fence)});
  const auto* rejected = std::get_if<Rejected>(&reply);
  ASSERT_NE(rejected, nullptr) << show(reply);
  EXPECT_EQ(rejected->why, Errc::lost);
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AReaderCannotBecomeAWriter_S22) {
  HOLDFAST_NEEDS(downgrade);
  Claimant &alice = reader(on), &after = writer_after(on, alice);
  const Granted shared = alice.granted();
  const GrantReply reply = after.ask({.instead_of = alice.hold(shared.fence)});
  EXPECT_TRUE(std::holds_alternative<Rejected>(reply)) << show(reply);
  EXPECT_TRUE(alice.renews(shared.fence));
}

HOLDFAST_RULE(OneUpgradeableReaderSharesWithOthers) {
  HOLDFAST_NEEDS(upgradeable);
  Claimant& alice = upgradeable(on);
  reader(on).granted();
  alice.granted();
  reader(on).granted();
  upgradeable(on).refused();
  writer(on).refused();
}

HOLDFAST_RULE(AnUpgradeWaitsForTheReadersAndNobodyComesBetween_S22) {
  HOLDFAST_NEEDS(upgradeable);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = upgradeable(on), &after = writer_after(on, alice), &bob = reader(on),
           &carol = writer(on);
  const Granted before = alice.granted();
  const Granted other = bob.granted();
  carol.refused(in_line());
  How how = in_line();
  how.instead_of = alice.hold(before.fence);
  after.watch();
  EXPECT_EQ(after.refused(how).ahead, 0U)
      << "whoever waits longer waits for the upgradeable reader";
  reader(on).refused();
  EXPECT_TRUE(alice.renews(before.fence)) << "the old hold stays meanwhile";
  EXPECT_TRUE(bob.releases(other.fence));
  const auto offer = after.offered();
  EXPECT_GT(offer.fence, other.fence);
  EXPECT_TRUE(after.renews(offer.fence));
  EXPECT_FALSE(alice.renews(before.fence)) << "the old hold is gone";
  EXPECT_EQ(on.look_at().holds.size(), 1U);
  EXPECT_TRUE(after.releases(offer.fence));
}

HOLDFAST_RULE(AnUpgradeThatIsGivenUpKeepsTheOldHold) {
  HOLDFAST_NEEDS(upgradeable);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = upgradeable(on), &after = writer_after(on, alice), &bob = reader(on);
  const Granted before = alice.granted();
  bob.granted();
  How how = in_line();
  how.instead_of = alice.hold(before.fence);
  after.refused(how);
  after.withdraw();
  EXPECT_TRUE(alice.renews(before.fence));
  reader(on).granted();
}

HOLDFAST_RULE(AnUpgradeThatIsNotConfirmedKeepsTheOldHold) {
  HOLDFAST_NEEDS(upgradeable);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = upgradeable(on), &after = writer_after(on, alice), &bob = reader(on);
  const Granted before = alice.granted();
  const Granted other = bob.granted();
  const Duration third = on.lease() / 3;
  How how{.line_up = true, .line_for = third, .confirm_within = third};
  how.instead_of = alice.hold(before.fence);
  after.refused(how);
  EXPECT_TRUE(bob.releases(other.fence));  // and the upgrade is offered
  on.let_lapse(third);
  EXPECT_TRUE(alice.renews(before.fence));
  reader(on).granted();
}

HOLDFAST_RULE(ARevokedReaderDoesNotBecomeAWriter) {
  HOLDFAST_NEEDS(upgradeable);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = upgradeable(on), &after = writer_after(on, alice), &bob = reader(on);
  const Granted before = alice.granted();
  const Granted other = bob.granted();
  How how = in_line();
  how.instead_of = alice.hold(before.fence);
  after.watch();
  after.refused(how);
  ASSERT_TRUE(std::holds_alternative<Forced>(on.force(alice, before.fence, false)));
  EXPECT_TRUE(bob.releases(other.fence));
  EXPECT_FALSE(after.offer());
  EXPECT_TRUE(std::holds_alternative<Rejected>(after.ask(how)));
}

HOLDFAST_RULE(WhenTheOldHoldLapsesItsUpgradeGoesWithIt) {
  HOLDFAST_NEEDS(upgradeable);
  HOLDFAST_NEEDS(hand_over);
  Claimant &alice = upgradeable(on), &after = writer_after(on, alice), &bob = reader(on);
  const Granted before = alice.granted({.lease = on.lease() / 3});
  const Granted other = bob.granted({.lease = on.lease() * 2});
  How how = in_line();
  how.instead_of = alice.hold(before.fence);
  after.refused(how);
  on.let_lapse(on.lease() / 3);
  reader(on).granted();
  EXPECT_TRUE(std::holds_alternative<Rejected>(after.ask(how)));
  EXPECT_TRUE(bob.renews(other.fence));
}

}  // namespace holdfast::conformance
