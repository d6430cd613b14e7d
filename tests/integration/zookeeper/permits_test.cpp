// Semaphores, beside Curator's.
#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperPermits : public LockBench {
 protected:
  static constexpr auto kLine = "/locks/a/locks";
  static constexpr auto kLeases = "/locks/a/leases";
  const std::string kUuid = "_c_3209f814-533a-4ee5-a79b-948e52e4650a-";

  void make_folders() {
    for (const char* each : {"/locks", "/locks/a", kLine, kLeases}) {
      all_->do_it({.op = Op::create_container, .path = each});
    }
  }
};

TEST_F(ZookeeperPermits, AreTakenInTwoRoundTripsAllAtOnce) {
  Peer alice = open();
  make_folders();
  const GrantRequest three = permits(request(alice, 1), 3, 5);
  const Granted yes = granted(alice, three);
  EXPECT_EQ(alice.tree->questions(), 2U);
  EXPECT_EQ(yes.slots, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(nodes(kLeases).size(), 3U);
  EXPECT_TRUE(nodes(kLine).empty());
  for (const std::string& each : nodes(kLeases)) {
    EXPECT_EQ(static_cast<std::uint64_t>(all_->stat(kLeases + ("/" + each))->czxid) << 10U,
              yes.fence);
  }
  EXPECT_TRUE(renews(alice, three, yes.fence));
  EXPECT_TRUE(releases(alice, three, yes.fence));
  EXPECT_TRUE(nodes(kLeases).empty());
}

TEST_F(ZookeeperPermits, ThoseOfCuratorCount) {
  Peer alice = open();
  make_folders();
  const std::string lease = make_foreign(kLeases + ("/" + kUuid + "lease-"));
  GrantRequest two = permits(request(alice, 1), 2, 2);
  EXPECT_TRUE(refused(alice, two).holder);
  granted(alice, permits(request(alice, 2), 1, 2));
  EXPECT_TRUE(withdraws(alice, permits(request(alice, 2), 1, 2)));
  remove_foreign(lease);
  granted(alice, two);
}

TEST_F(ZookeeperPermits, WhoeverOfCuratorsIsFirstInTheLineIsServedFirst) {
  Peer alice = open();
  make_folders();
  const std::string java = make_foreign(kLine + ("/" + kUuid + "lock-"));
  GrantRequest one = permits(request(alice, 1, true), 1, 2);
  test::WakeBox wakes;
  const WatchPtr watch = alice.store->watch(one, wakes.fn());
  EXPECT_EQ(refused(alice, one).ahead, 1U);
  const std::string lease = make_foreign(kLeases + ("/" + kUuid + "lease-"));
  EXPECT_FALSE(wakes.take());
  remove_foreign(java);
  const auto offer = wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_TRUE(renews(alice, one, offer->fence));
  EXPECT_EQ(nodes(kLeases).size(), 2U);
}

TEST_F(ZookeeperPermits, TheFirstInTheLineWaitsForPermitsAndLeavesNoWatch) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest all = permits(request(alice, 1), 2, 2);
  const Granted yes = granted(alice, all);
  GrantRequest one = permits(request(bob, 2, true), 1, 2);
  test::WakeBox wakes;
  const WatchPtr watch = bob.store->watch(one, wakes.fn());
  refused(bob, one);
  EXPECT_EQ(all_->watches(), 2U) << "the permits, and the size";
  EXPECT_TRUE(releases(alice, all, yes.fence));
  const auto offer = wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->slots.size(), 1U);
  EXPECT_GT(offer->fence, yes.fence);
  EXPECT_EQ(all_->watches(), 0U);
  let_pass(1s);
  EXPECT_TRUE(nodes(kLeases).empty()) << "nobody confirmed";
}

TEST_F(ZookeeperPermits, WhatWasTakenWithoutAnAnswerIsFound) {
  Peer alice = open();
  make_folders();
  const GrantRequest two = permits(request(alice, 1), 2, 2);
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(two, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());  // it is first, and there are enough
  Answer<WithdrawReply> unused;
  alice.tree->set(Wire::deaf);
  alice.tree->expire_here_only();  // what is held back is refused …
  alice.tree->let_go();
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_TRUE(nodes(kLeases).empty());
  EXPECT_EQ(nodes(kLine).size(), 1U) << "… and the old session's node is dying";
  remove_foreign(kLine + ("/" + nodes(kLine)[0]));

  unanswered(alice, two);  // deaf: in line
  EXPECT_EQ(nodes(kLine).size(), 1U);
  alice.tree->set(Wire::up);
  const Granted yes = granted(alice, two);
  EXPECT_EQ(nodes(kLeases).size(), 2U);
  EXPECT_TRUE(nodes(kLine).empty());
  EXPECT_EQ(granted(alice, two).fence, yes.fence);
  EXPECT_TRUE(releases(alice, two, yes.fence));
}

TEST_F(ZookeeperPermits, ATakeWhoseAnswerIsLostIsFoundByItsFence) {
  Peer alice = open();
  make_folders();
  const GrantRequest two = permits(request(alice, 1), 2, 2);
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(two, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->lose_next_answer();
  EXPECT_TRUE(alice.tree->let_one_go());
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(nodes(kLeases).size(), 2U);
  alice.tree->set(Wire::up);
  const Granted yes = granted(alice, two);
  EXPECT_EQ(yes.slots, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(nodes(kLeases).size(), 2U);
  EXPECT_TRUE(renews(alice, two, yes.fence));
}

TEST_F(ZookeeperPermits, ATakeWhoseAnswerIsLostAndThatNobodyAsksForAgainIsGivenBack) {
  Peer alice = open();
  make_folders();
  const GrantRequest two = permits(request(alice, 1), 2, 2);
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(two, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->lose_next_answer();
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->set(Wire::up);
  let_pass(kLease);
  EXPECT_TRUE(nodes(kLeases).empty());
}

TEST_F(ZookeeperPermits, OneThatSomebodyDeletedCostsAllOfThem) {
  Peer alice = open();
  const GrantRequest two = permits(request(alice, 1), 2, 2);
  const Granted yes = granted(alice, two);
  remove_foreign(kLeases + ("/" + nodes(kLeases).at(1)));
  EXPECT_FALSE(renews(alice, two, yes.fence));
  EXPECT_TRUE(nodes(kLeases).empty());
}

TEST_F(ZookeeperPermits, AFolderThatWasTakenAwayIsMadeAgain_F084) {
  Peer alice = open();
  make_folders();
  const GrantRequest one = permits(request(alice, 1), 1, 2);
  EXPECT_TRUE(releases(alice, one, granted(alice, one).fence));
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(one, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  all_->reap();
  EXPECT_FALSE(all_->stat(kLeases));
  alice.tree->set(Wire::up);
  alice.tree->let_go();
  EXPECT_NE(answer.get<Granted>(), nullptr);
}

TEST_F(ZookeeperPermits, InspectShowsAClaimOnceHoweverManyItTook) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, permits(request(alice, 1), 3, 4));
  granted(bob, permits(request(bob, 2), 1, 4));
  refused(bob, permits(request(bob, 3, true), 2, 4));
  const auto seen = look(alice);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].kind, Kind::semaphore);
  ASSERT_EQ(seen[0].holds.size(), 2U);
  EXPECT_EQ(seen[0].holds[0].shape, Shape::permits(3, 4));
  ASSERT_EQ(seen[0].line.size(), 1U);
  EXPECT_EQ(seen[0].line[0].shape, Shape::permits(2, 4));
}

TEST_F(ZookeeperPermits, AForcedHoldLosesAllOfThem) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest two = permits(request(alice, 1), 2, 3);
  const Granted yes = granted(alice, two);
  EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, two, yes.fence, false)));
  const RenewalReply reply = renew(alice, two, yes.fence);
  ASSERT_TRUE(std::holds_alternative<Gone>(reply));
  EXPECT_TRUE(std::get<Gone>(reply).forced);
  EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, two, yes.fence, true)));
  EXPECT_TRUE(nodes(kLeases).empty());
}

TEST_F(ZookeeperPermits, MoreThanFitIntoAMessageAreRefused) {
  Peer alice = open();
  EXPECT_EQ(rejected(alice, permits(request(alice, 1), 1001, 5000)), Errc::unsupported);
  granted(alice, permits(request(alice, 1), 1000, 5000));
}

// ---- names that are paths ----

TEST_F(ZookeeperPermits, LocksWithinLocksAreFoundAndDoNotMeet) {
  Peer alice = open(Layout("/locks", true));
  const auto named = [&](const char* name, std::uint64_t claim) {
    GrantRequest it = request(alice, claim);
    it.name = lock_name(name);
    return it;
  };
  granted(alice, named("a", 1));
  granted(alice, named("a/b", 2));
  granted(alice, named("a/b/c", 3));
  granted(alice, permits(named("a/pool", 4), 1, 2));
  EXPECT_TRUE(all_->stat("/locks/a/b/c"));
  std::vector<std::string> names;
  for (const LockView& each : look(alice)) names.push_back(each.name.bytes());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a/b", "a/b/c", "a/pool"}));
  EXPECT_EQ(look(alice, "a/b*").size(), 2U);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
