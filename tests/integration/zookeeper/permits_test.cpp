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
  static void set_size(Peer& peer, std::uint64_t expected, const char* size) {
    CellWrite write;
    write.key = {CellKind::size, lock_name("a")};
    write.expected = expected;
    write.value = size;
    write.op = {peer.id, expected + 1};
    Answer<CellReply> answer;
    peer.store->cells()->write(write, answer.call());
    EXPECT_NE(answer.get<CellState>(), nullptr);
  }
};

TEST_F(ZookeeperPermits, AreTakenInTwoRoundTripsAllAtOnceAndThenTheSizeIsRead) {
  Peer alice = open();
  make_folders();
  const GrantRequest three = permits(request(alice, 1), 3, 5);
  const Granted yes = granted(alice, three);
  EXPECT_EQ(alice.tree->questions(), 3U);
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
  set_size(alice, 0, "5");
  const auto before = alice.tree->questions();
  granted(alice, three);
  EXPECT_EQ(alice.tree->questions() - before, 2U) << "the step that takes checks one that is set";
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

TEST_F(ZookeeperPermits, TheFirstInTheLineWaitsForPermitsAndThenListensNoMore) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest all = permits(request(alice, 1), 2, 2);
  const Granted yes = granted(alice, all);
  GrantRequest one = permits(request(bob, 2, true), 1, 2);
  test::WakeBox wakes;
  const WatchPtr watch = bob.store->watch(one, wakes.fn());
  refused(bob, one);
  EXPECT_EQ(all_->wanted_watches(), 2U) << "the permits, and the size";
  EXPECT_TRUE(releases(alice, all, yes.fence));
  const auto offer = wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->slots.size(), 1U);
  EXPECT_GT(offer->fence, yes.fence);
  EXPECT_EQ(all_->wanted_watches(), 0U);
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

TEST_F(ZookeeperPermits, ATakeWhoseAnswerIsLostHasNotTheFenceOfADyingSession_F079) {
  Peer alice = open();
  make_folders();
  const GrantRequest one = permits(request(alice, 1), 1, 3);
  const Granted before = granted(alice, one);
  alice.tree->expire_here_only();
  Peer bob = open();
  const Granted between = granted(bob, permits(request(bob, 1), 1, 3));
  EXPECT_GT(between.fence, before.fence);
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(one, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->lose_next_answer();
  EXPECT_TRUE(alice.tree->let_one_go());
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(nodes(kLeases).size(), 3U);
  alice.tree->set(Wire::up);
  EXPECT_GT(granted(alice, one).fence, between.fence);
}

TEST_F(ZookeeperPermits, ATakeThatASessionsEndForestallsLeavesNothingBehind) {
  Peer alice = open();
  make_folders();
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(permits(request(alice, 1), 1, 2), answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->expire();
  alice.tree->let_go();
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  alice.tree->set(Wire::up);
  let_pass(2 * kLease);
  EXPECT_FALSE(alice.tree->kept_valid()) << "for a claim that has nothing";
}

TEST_F(ZookeeperPermits, WhoeverHasAPlaceInALineThatCannotBeReadIsToldToLeaveIt_F088) {
  Peer alice = open();
  make_folders();
  const GrantRequest mine = permits(request(alice, 1), 1, 2);
  alice.tree->refuse_next(Op::get_children, Code::too_large);
  const NoAnswer none = unanswered(alice, mine);
  EXPECT_EQ(none.why, Errc::store_full);
  EXPECT_TRUE(none.executed);
  EXPECT_TRUE(withdraws(alice, mine));
  EXPECT_TRUE(nodes(kLine).empty());
}

TEST_F(ZookeeperPermits, ATakeOfWhichSomethingWasDeletedIsNotTakenForWhole) {
  Peer alice = open();
  make_folders();
  const GrantRequest two = permits(request(alice, 1), 2, 2);
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(two, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->lose_next_answer();
  EXPECT_TRUE(alice.tree->let_one_go());
  ASSERT_EQ(nodes(kLeases).size(), 2U);
  remove_foreign(kLeases + ("/" + nodes(kLeases)[1]));
  alice.tree->set(Wire::up);
  granted(alice, two);
  EXPECT_EQ(nodes(kLeases).size(), 2U);
  Peer bob = open();
  refused(bob, permits(request(bob, 1), 1, 2));
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

TEST_F(ZookeeperPermits, OneThatIsDeletedWhileItIsReadIsNotGranted) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest mine = permits(request(alice, 1), 1, 1);
  granted(alice, mine);
  const std::string node = node_of(mine, kLeases);
  all_->do_it({.op = Op::set_data, .path = node, .data = "hello"});
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(mine, answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());  // it is there, and was written to
  remove_foreign(node);
  const GrantRequest other = permits(request(bob, 1), 1, 1);
  const Granted next = granted(bob, other);
  alice.tree->set(Wire::up);
  alice.tree->let_go();
  EXPECT_NE(answer.get<Refused>(), nullptr);
  EXPECT_TRUE(renews(bob, other, next.fence));
}

TEST_F(ZookeeperPermits, OneThatMayNotBeReadIsNotGranted_F087) {
  Peer alice = open();
  const GrantRequest mine = permits(request(alice, 1), 1, 1);
  const Granted yes = granted(alice, mine);
  EXPECT_TRUE(std::holds_alternative<Forced>(force(alice, mine, yes.fence, false)));
  alice.tree->refuse_next(Op::get_data, Code::no_auth);
  EXPECT_EQ(unanswered(alice, mine).why, Errc::permission);
  refused(alice, mine);
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

// Curator's Revoker is given the path of one node, whichever it is.
TEST_F(ZookeeperPermits, ARevocationOfAnyOfSeveralIsHonoured) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest two = permits(request(alice, 1), 2, 2);
  for (const std::size_t which : {0U, 1U}) {
    const Granted yes = granted(alice, two);
    const std::string node = kLeases + ("/" + nodes(kLeases).at(which));
    all_->do_it({.op = Op::set_data, .path = node, .data = "hello"});
    EXPECT_TRUE(renews(alice, two, yes.fence)) << "that is none";
    EXPECT_EQ(granted(alice, two).fence, yes.fence);
    all_->do_it({.op = Op::set_data, .path = node, .data = "__REVOKE__"});
    if (which == 0) {
      const RenewalReply reply = renew(alice, two, yes.fence);
      ASSERT_TRUE(std::holds_alternative<Gone>(reply));
      EXPECT_TRUE(std::get<Gone>(reply).forced);
    }
    refused(alice, two);
    EXPECT_FALSE(renews(alice, two, yes.fence));
    EXPECT_TRUE(releases(alice, two, yes.fence));
  }
}

TEST_F(ZookeeperPermits, AForcedHoldIsForcedWholeThoughOneOfThemWasRevokedBefore) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest three = permits(request(alice, 1), 3, 3);
  const Granted yes = granted(alice, three);
  all_->do_it(
      {.op = Op::set_data, .path = kLeases + ("/" + nodes(kLeases).at(1)), .data = "__REVOKE__"});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, three, yes.fence, false)));
    for (const std::string& each : nodes(kLeases)) {
      EXPECT_TRUE(is_revoked(*all_->data(kLeases + ("/" + each)))) << each;
    }
  }
}

// Who asks by Client::force_release() names the lock and the fence, and no kind.
TEST_F(ZookeeperPermits, WhatIsForcedIsFoundWhateverItsKind) {
  Peer alice = open();
  Peer bob = open();
  for (const GrantRequest& each :
       {permits(request(alice, 1), 2, 3), shared(request(alice, 2), Shape::shared()),
        shared(request(alice, 3), Shape::exclusive()), request(alice, 4)}) {
    const Granted yes = granted(alice, each);
    GrantRequest unknown = each;
    unknown.kind = Kind::mutex;
    EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, unknown, yes.fence, false)));
    EXPECT_FALSE(renews(alice, each, yes.fence));
    EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, unknown, yes.fence, true)));
    EXPECT_TRUE(look(bob).empty());
  }
}

TEST_F(ZookeeperPermits, MoreThanFitIntoAMessageAreRefused) {
  Peer alice = open();
  EXPECT_EQ(rejected(alice, permits(request(alice, 1), 1001, 5000)), Errc::unsupported);
  granted(alice, permits(request(alice, 1), 1000, 5000));
}

TEST_F(ZookeeperPermits, ASizeThatIsSetBetweenLookingAndTakingCounts) {
  Peer alice = open();
  make_folders();
  set_size(alice, 0, "2");
  granted(alice, permits(request(alice, 1), 1, 2));
  Peer bob = open();
  bob.tree->set(Wire::held);
  Answer<GrantReply> answer;
  bob.store->try_grant(permits(request(bob, 1), 1, 2), answer.call());
  EXPECT_TRUE(bob.tree->let_one_go());  // there is one left
  set_size(alice, 1, "1");
  bob.tree->let_go();
  EXPECT_NE(answer.get<Refused>(), nullptr);
  EXPECT_EQ(nodes(kLeases).size(), 1U);
  EXPECT_TRUE(nodes(kLine).empty());
}

TEST_F(ZookeeperPermits, WhatForbidsOneStepOfATakeIsToldWhicheverItIs_F087) {
  Peer alice = open();
  make_folders();
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(permits(request(alice, 1), 2, 2), answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->refuse_next(Op::remove, Code::no_auth);  // to leave the line, behind two creations
  alice.tree->let_go();
  ASSERT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(answer.get<NoAnswer>()->why, Errc::permission);
  EXPECT_TRUE(nodes(kLeases).empty());
}

TEST_F(ZookeeperPermits, TheFirstSizeThatIsSetBetweenLookingAndTakingCounts) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, permits(request(alice, 1), 1, 3));
  const GrantRequest two = permits(request(bob, 1), 2, 3);
  bob.tree->set(Wire::held);
  Answer<GrantReply> answer;
  bob.store->try_grant(two, answer.call());
  EXPECT_TRUE(bob.tree->let_one_go());  // there are two left, and no size is set
  set_size(alice, 0, "2");
  bob.tree->set(Wire::up);
  bob.tree->let_go();
  EXPECT_NE(answer.get<Refused>(), nullptr) << "three of two would be taken";
  EXPECT_EQ(nodes(kLeases).size(), 1U);
  EXPECT_TRUE(nodes(kLine).empty());
  set_size(alice, 1, "3");
  granted(bob, two);
}

TEST_F(ZookeeperPermits, WhoeverWaitsIsNotOfferedMoreThanTheFirstSizeThatIsSet) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest first = permits(request(alice, 1), 1, 2);
  const GrantRequest second = permits(request(alice, 2), 1, 2);
  const Granted one = granted(alice, first);
  granted(alice, second);
  const GrantRequest next = permits(request(bob, 1, true), 1, 2);
  test::WakeBox wakes;
  const WatchPtr watch = bob.store->watch(next, wakes.fn());
  refused(bob, next);
  bob.tree->set(Wire::held);
  EXPECT_TRUE(releases(alice, first, one.fence));
  EXPECT_TRUE(bob.tree->let_one_go());  // there is one left, and no size is set
  set_size(alice, 0, "1");
  bob.tree->set(Wire::up);
  bob.tree->let_go();
  const auto wake = wakes.take();
  ASSERT_TRUE(wake);
  EXPECT_FALSE(wake->offer);
  EXPECT_EQ(nodes(kLeases).size(), 1U);
  refused(bob, next);
}

// Then nobody knows whether it counts: what was taken is looked at when it is asked for again.
TEST_F(ZookeeperPermits, ATakeWhoseSizeIsNotToldIsNoGrantAndLeavesNothingBehind) {
  for (const char* size : {"", "1"}) {
    Peer alice = open();
    make_folders();
    const GrantRequest two = permits(request(alice, 1), 2, 2);
    alice.tree->set(Wire::held);
    Answer<GrantReply> answer;
    alice.store->try_grant(two, answer.call());
    EXPECT_TRUE(alice.tree->let_one_go());
    alice.tree->set(Wire::lost);
    EXPECT_TRUE(alice.tree->let_one_go());  // they are taken, and the size is not read
    ASSERT_NE(answer.get<NoAnswer>(), nullptr);
    EXPECT_TRUE(answer.get<NoAnswer>()->executed);
    EXPECT_EQ(nodes(kLeases).size(), 2U);
    alice.tree->set(Wire::up);
    if (*size == 0) {
      EXPECT_TRUE(releases(alice, two, granted(alice, two).fence));
    } else {
      set_size(alice, 0, size);
      EXPECT_TRUE(std::holds_alternative<Rejected>(ask(alice, two))) << "there is but one";
    }
    EXPECT_TRUE(nodes(kLeases).empty());
    EXPECT_TRUE(nodes(kLine).empty());
  }
}

// They were taken, and answered too late to count on: whoever asks again is given the same.
TEST_F(ZookeeperPermits, ATakeThatIsToldTooLateIsFoundAgain) {
  for (const bool sized : {false, true}) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    Peer alice = open();
    make_folders();
    if (sized) set_size(alice, 0, "2");
    const GrantRequest one = permits(request(alice, 1), 1, 2);
    for (int i = 0; i < 2; ++i) {  // taken, and found again
      alice.tree->set(Wire::held);
      Answer<GrantReply> answer;
      alice.store->try_grant(one, answer.call());
      alice.tree->set_valid_for(Duration::zero());
      alice.tree->let_go();
      EXPECT_NE(answer.get<NoAnswer>(), nullptr);
      alice.tree->set_valid_for(20s);
      alice.tree->set(Wire::up);
    }
    const Granted yes = granted(alice, one);
    EXPECT_EQ(nodes(kLeases).size(), 1U);
    EXPECT_TRUE(releases(alice, one, yes.fence));
    EXPECT_TRUE(nodes(kLeases).empty());
    EXPECT_TRUE(nodes(kLine).empty());
  }
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

TEST_F(ZookeeperPermits, LocksInAFolderThatIsCalledAsASemaphoresAreFound) {
  Peer alice = open(Layout("", true));
  GrantRequest deploy = request(alice, 1);
  deploy.name = lock_name("app/locks/deploy");
  granted(alice, deploy);
  GrantRequest pool = permits(request(alice, 2), 1, 2);
  pool.name = lock_name("app");
  granted(alice, pool);
  std::vector<std::string> names;
  for (const LockView& each : look(alice)) names.push_back(each.name.bytes());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"app", "app/locks/deploy"}));
}

TEST_F(ZookeeperPermits, WhatOthersDoNotShowUsHidesNoLocks_F087) {
  Peer alice = open(Layout(""));
  granted(alice, request(alice, 1));
  all_->do_it({.op = Op::create, .path = "/Others"});  // is listed first
  alice.tree->set(Wire::held);
  Answer<InspectReply> answer;
  alice.store->inspect("*", answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());
  alice.tree->refuse_next(Op::get_children, Code::no_auth);
  alice.tree->let_go();
  const auto* found = answer.get<std::vector<LockView>>();
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().name.bytes(), "a");

  alice.tree->set(Wire::up);
  alice.tree->refuse_next(Op::get_children, Code::no_auth);
  Answer<InspectReply> all;
  alice.store->inspect("*", all.call());
  ASSERT_NE(all.get<NoAnswer>(), nullptr) << "if nothing at all is shown that is told";
}

}  // namespace
}  // namespace holdfast::store::zookeeper
