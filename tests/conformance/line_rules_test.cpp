#include "conformance/rule.hpp"

namespace holdfast::conformance {

using namespace store;

namespace {

// Three claims that lined up one after the other behind a holder.
struct Line {
  Line(Bench& on, Order order)
      : holder(on.claimant()),
        first(on.claimant()),
        second(on.claimant()),
        third(on.claimant()),
        held(holder.granted({.order = order})) {
    for (Claimant* each : all()) each->refused(in_line(order));
  }
  std::vector<Claimant*> all() { return {&first, &second, &third}; }

  Claimant& holder;
  Claimant& first;
  Claimant& second;
  Claimant& third;
  Granted held;
};

constexpr Order kBothOrders[] = {Order::any, Order::fifo};

}  // namespace

HOLDFAST_RULE(PlacesAreInTheOrderOfArrival) {
  HOLDFAST_NEEDS(mutex_fifo);
  Line line(on, Order::fifo);
  std::uint32_t place = 0;
  for (Claimant* each : line.all()) EXPECT_EQ(each->refused(in_line(Order::fifo)).ahead, place++);
}

HOLDFAST_RULE(ARefusedClaimEntersTheLineOnce) {
  HOLDFAST_NEEDS(hand_over);
  on.claimant().granted();
  Claimant& bob = on.claimant();
  for (int i = 0; i < 3; ++i) {
    const Refused refused = bob.refused(in_line());
    EXPECT_EQ(refused.ahead, 0U);
    EXPECT_EQ(refused.waiting, 1U);
  }
  const Refused behind = on.claimant().refused(in_line());
  EXPECT_EQ(behind.ahead, 1U);
  EXPECT_EQ(behind.waiting, 2U);
}

HOLDFAST_RULE(AskingAgainKeepsThePlace) {
  HOLDFAST_NEEDS(hand_over);
  for (const Order order : kBothOrders) {
    Line line(on, order);
    EXPECT_EQ(line.first.refused(in_line(order)).ahead, 0U);
    EXPECT_EQ(line.second.refused(in_line(order)).ahead, 1U);
    EXPECT_EQ(line.first.refused(in_line(order)).ahead, 0U);
    for (Claimant* each : line.all()) each->withdraw();
    line.holder.withdraw();
  }
}

HOLDFAST_RULE(AnImmediateAttemptLeavesNoPlace) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_EQ(on.claimant().refused({.line_up = false}).waiting, 0U);
  EXPECT_EQ(on.claimant().refused({.line_up = false, .order = Order::fifo}).waiting, 0U);
  EXPECT_EQ(on.claimant().refused(in_line()).ahead, 0U);
  EXPECT_TRUE(alice.renews(granted.fence));
}

HOLDFAST_RULE(APlaceThatIsNotRefreshedLapses_F029) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.claimant().refused({.line_up = true, .line_for = on.lease() / 3});
  on.let_lapse(on.lease() / 3);
  EXPECT_TRUE(alice.renews(granted.fence));
  EXPECT_EQ(on.claimant().refused().waiting, 0U);
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_TRUE(on.is_free()) << "the lock was handed to a claim whose place had lapsed";
}

HOLDFAST_RULE(AskingAgainRefreshesThePlace) {
  HOLDFAST_NEEDS(hand_over);
  on.claimant().granted({.lease = 4 * on.lease()});
  Claimant& bob = on.claimant();
  const How how{.line_up = true, .line_for = on.lease() / 2};
  for (int i = 0; i < 4; ++i) {
    bob.refused(how);
    on.let_pass(on.lease() / 3);
  }
  EXPECT_EQ(on.claimant().refused().waiting, 1U);
}

HOLDFAST_RULE(AClaimWhosePlaceLapsedGoesToTheEnd) {
  HOLDFAST_NEEDS(hand_over);
  on.claimant().granted({.lease = 2 * on.lease()});
  Claimant& bob = on.claimant();
  Claimant& carol = on.claimant();
  bob.refused({.line_up = true, .line_for = on.lease() / 4});
  carol.refused(in_line());
  on.let_lapse(on.lease() / 4);
  EXPECT_EQ(bob.refused(in_line()).ahead, 1U);
  EXPECT_EQ(carol.refused(in_line()).ahead, 0U);
}

HOLDFAST_RULE(TheHeadAskingForAFreeLockGetsItsFullLease) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted dead = alice.granted({.lease = on.lease() / 2});
  bob.refused(in_line());
  on.let_lapse(on.lease() / 2);
  EXPECT_GT(bob.granted(in_line()).fence, dead.fence);
  on.let_nearly_lapse(on.lease());
  on.claimant().refused();
}

HOLDFAST_RULE(AGrantedClaimIsNoLongerInTheLine) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  alice.granted({.lease = on.lease() / 2});
  bob.refused(in_line());
  on.let_lapse(on.lease() / 2);
  const Granted granted = bob.granted(in_line());
  EXPECT_EQ(on.claimant().refused().waiting, 0U);
  EXPECT_TRUE(bob.releases(granted.fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AStrangerCannotOvertakeTheLine) {
  HOLDFAST_NEEDS(hand_over);
  for (const Order order : kBothOrders) {
    Claimant& alice = on.claimant();
    Claimant& bob = on.claimant();
    Claimant& stranger = on.claimant();
    alice.granted({.order = order, .lease = on.lease() / 2});
    bob.refused(in_line(order));
    on.let_lapse(on.lease() / 2);
    stranger.refused({.order = order});
    const Refused lined_up = stranger.refused(in_line(order));
    EXPECT_EQ(lined_up.ahead, 0U);
    const Granted granted = bob.granted(in_line(order));
    stranger.withdraw();
    EXPECT_TRUE(bob.releases(granted.fence));
  }
}

HOLDFAST_RULE(WaitersAreServedInTheOrderOfArrivalWhenHoldersRelease) {
  HOLDFAST_NEEDS(mutex_fifo);
  Line line(on, Order::fifo);
  Claimant* holder = &line.holder;
  std::uint64_t fence = line.held.fence;
  for (Claimant* next : line.all()) {
    EXPECT_TRUE(holder->releases(fence));
    for (Claimant* other : line.all()) {
      if (other->owner() > next->owner()) other->refused(in_line(Order::fifo));
    }
    const Granted granted = next->granted(in_line(Order::fifo));
    EXPECT_GT(granted.fence, fence);
    holder = next;
    fence = granted.fence;
  }
}

HOLDFAST_RULE(WaitersAreServedInTheOrderOfArrivalWhenLeasesLapse) {
  HOLDFAST_NEEDS(mutex_fifo);
  const How how = in_line(Order::fifo);
  on.claimant().granted({.order = Order::fifo, .lease = on.lease() / 2});
  std::vector<Claimant*> line{&on.claimant(), &on.claimant(), &on.claimant()};
  for (Claimant* each : line) each->refused(how);
  std::uint64_t fence = 0;
  for (std::size_t next = 0; next < line.size(); ++next) {
    on.let_lapse(on.lease() / 2);
    for (std::size_t other = line.size() - 1; other > next; --other) line[other]->refused(how);
    const Granted granted = line[next]->granted(how);
    EXPECT_GT(granted.fence, fence);
    fence = granted.fence;
    EXPECT_TRUE(line[next]->renews(fence, on.lease() / 2));
  }
}

HOLDFAST_RULE(ADeadHeadIsPassedOverAndTheRestKeepTheirOrder_F029) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& dead = on.claimant();
  Claimant& bob = on.claimant();
  Claimant& carol = on.claimant();
  const Granted granted = alice.granted({.lease = 2 * on.lease()});
  dead.refused({.line_up = true, .line_for = on.lease() / 4});
  bob.refused(in_line());
  carol.refused(in_line());
  on.let_lapse(on.lease() / 4);
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_EQ(carol.refused(in_line()).ahead, 0U);
  bob.granted(in_line());
}

HOLDFAST_RULE(WaitersAreToldToLookNoSoonerThanItMakesSense) {
  HOLDFAST_NEEDS(hand_over);
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  Claimant& carol = on.claimant();
  const How how{.line_up = true, .confirm_within = on.lease() / 4};
  alice.granted();
  const Duration slack = on.pace().slack;
  const Duration first = bob.refused(how).retry_after;
  const Duration second = carol.refused(how).retry_after;
  const Duration passing_by = on.claimant().refused({.confirm_within = on.lease() / 4}).retry_after;
  EXPECT_GE(first, on.lease() - slack);
  EXPECT_LE(first, on.lease() + slack);
  EXPECT_GE(second, on.lease() * 5 / 4 - slack);
  EXPECT_LE(second, on.lease() * 5 / 4 + slack);
  EXPECT_GE(passing_by, on.lease() * 6 / 4 - slack);
  EXPECT_LE(passing_by, on.lease() * 6 / 4 + slack);
}

}  // namespace holdfast::conformance
