// Waiting in the line: who is woken by what, and what lapses.
#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperLines : public LockBench {
 protected:
  // A claim that stands in the line and is told.
  struct Waiter {
    GrantRequest request;
    test::WakeBox wakes{};
    WatchPtr watch{};
  };
  Waiter wait(Peer& peer, const GrantRequest& request) {
    Waiter waiter{request};
    waiter.watch = peer.store->watch(request, waiter.wakes.fn());
    refused(peer, request);
    return waiter;
  }
};

TEST_F(ZookeeperLines, EachOneWatchesTheOneBeforeAndNobodyElse_F083) {
  Peer alice = open();
  granted(alice, request(alice, 1));
  std::vector<Peer> peers;
  std::vector<Waiter> line;
  for (std::uint64_t i = 0; i < 5; ++i) {
    peers.push_back(open());
    line.push_back(wait(peers.back(), request(peers.back(), 10 + i, true)));
  }
  EXPECT_EQ(all_->wanted_watches(), 5U);
  const auto asked = peers[2].tree->questions();
  EXPECT_TRUE(withdraws(peers[0], line[0].request));
  EXPECT_EQ(peers[2].tree->questions(), asked) << "only the one behind looks";
  EXPECT_EQ(all_->wanted_watches(), 4U);
  for (std::size_t i = 1; i < peers.size(); ++i) {
    EXPECT_EQ(refused(peers[i], line[i].request).ahead, i - 1);
  }
}

TEST_F(ZookeeperLines, TheSecondIsOfferedItWithoutAQuestion) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  Waiter waiter = wait(bob, request(bob, 2, true));
  const auto asked = bob.tree->questions();
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));
  const auto offer = waiter.wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_EQ(bob.tree->questions(), asked);
  EXPECT_TRUE(renews(bob, waiter.request, offer->fence));
  EXPECT_EQ(bob.tree->questions(), asked + 1);
  EXPECT_EQ(all_->watches(), 0U);
}

TEST_F(ZookeeperLines, AChangeOfDataIsNoRelease) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  Waiter waiter = wait(bob, request(bob, 2, true));
  all_->do_it({.op = Op::set_data, .path = node_of(request(alice, 1)), .data = "something"});
  EXPECT_FALSE(waiter.wakes.take());
  EXPECT_EQ(all_->watches(), 1U) << "it is watched again";
  EXPECT_TRUE(renews(alice, request(alice, 1), yes.fence)) << "and not revoked";
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));
  EXPECT_TRUE(waiter.wakes.take_offer());
}

TEST_F(ZookeeperLines, AWatchThatWasNeverAskedForIsNotCountedOn_F044) {
  Peer alice = open();
  Peer bob = open();
  Peer carol = open();
  const Granted yes = granted(bob, request(bob, 1));
  refused(carol, request(carol, 2, true));
  Waiter waiter = wait(alice, request(alice, 3, true));  // watches carol, and knows bob

  alice.tree->set(Wire::held);
  EXPECT_TRUE(withdraws(carol, request(carol, 2)));  // alice looks
  EXPECT_TRUE(alice.tree->let_one_go());             // at the line: bob is before her
  EXPECT_EQ(alice.tree->held(), 1U);                 // the question that watches him
  alice.tree->forget_held();                         // there is no memory to send it
  alice.tree->set(Wire::up);

  refused(alice, waiter.request);
  while (waiter.wakes.take()) {
  }
  EXPECT_TRUE(releases(bob, request(bob, 1), yes.fence));
  EXPECT_TRUE(waiter.wakes.take()) << "nobody watches him";
}

TEST_F(ZookeeperLines, AHolderThatGoesWhileItIsLookedAtIsSeen_F083) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  bob.tree->set(Wire::held);
  Answer<GrantReply> answer;
  bob.store->try_grant(request(bob, 2, true), answer.call());
  EXPECT_TRUE(bob.tree->let_one_go());  // create and list: alice is before
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));
  EXPECT_TRUE(bob.tree->let_one_go());  // watch alice: she is gone
  EXPECT_TRUE(bob.tree->let_one_go());  // list again
  EXPECT_NE(answer.get<Granted>(), nullptr);
}

TEST_F(ZookeeperLines, AHolderThatGoesBeforeTheAnswerIsReadIsSeen_F083) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  test::WakeBox wakes;
  const WatchPtr watch = bob.store->watch(request(bob, 2, true), wakes.fn());
  refused(bob, request(bob, 2, true));
  bob.tree->set(Wire::held);
  Answer<GrantReply> answer;
  bob.store->try_grant(request(bob, 2, true), answer.call());  // refreshes its place
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));  // the watch fires meanwhile
  bob.tree->set(Wire::up);
  bob.tree->let_go();
  EXPECT_NE(answer.get<Granted>(), nullptr);
}

TEST_F(ZookeeperLines, AnOldListingShowsTooManyAndIsLookedAtAgain_F085) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted yes = granted(alice, writing);
  Waiter waiter = wait(bob, shared(request(bob, 2, true), Shape::shared()));
  bob.tree->remember_listing("/locks/a");
  EXPECT_TRUE(releases(alice, writing, yes.fence));
  const auto offer = waiter.wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_TRUE(renews(bob, waiter.request, offer->fence));
}

TEST_F(ZookeeperLines, AWriterThatStepsDownInTwoStepsLetsNoWriterIn) {
  Peer bob = open();
  all_->do_it({.op = Op::create_container, .path = "/locks"});
  all_->do_it({.op = Op::create_container, .path = "/locks/a"});
  const std::string uuid = "_c_3209f814-533a-4ee5-a79b-948e52e4650a-";
  const std::string java = make_foreign("/locks/a/" + uuid + "__WRIT__");
  Waiter waiter = wait(bob, shared(request(bob, 2, true), Shape::exclusive()));
  const std::string steps_down = make_foreign(
      "/locks/a/" + uuid + "__READ__" + java.substr(java.size() - 10), Mode::ephemeral);
  remove_foreign(java);
  EXPECT_FALSE(waiter.wakes.take_offer()) << "the reader stands where the writer stood";
  remove_foreign(steps_down);
  EXPECT_TRUE(waiter.wakes.take_offer());
}

TEST_F(ZookeeperLines, WithoutAnybodyToTellNothingIsOffered) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  refused(bob, request(bob, 2, true));
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));
  let_pass(5s);
  EXPECT_EQ(nodes().size(), 1U) << "its place is its own as long as it was asked for";
  granted(bob, request(bob, 2, true));
}

TEST_F(ZookeeperLines, PlacesAndOffersLapseByTheClientsClock_F029) {
  Peer alice = open();
  Peer bob = open();
  GrantRequest steady = request(alice, 1);
  steady.lease = 60s;
  alice.tree->set_valid_for(10min);
  const Granted yes = granted(alice, steady);
  Waiter waiter = wait(bob, request(bob, 2, true));
  let_pass(kLease - 1s - 1ns);
  EXPECT_EQ(nodes().size(), 2U);
  let_pass(1ns);
  EXPECT_EQ(nodes().size(), 1U) << "line_for is over";
  refused(bob, waiter.request);
  EXPECT_TRUE(releases(alice, steady, yes.fence));
  const auto offer = waiter.wakes.take_offer();
  ASSERT_TRUE(offer);
  let_pass(1s);
  EXPECT_TRUE(nodes().empty()) << "confirm_within is over";
  EXPECT_FALSE(renews(bob, waiter.request, offer->fence));
}

TEST_F(ZookeeperLines, AnOfferThatLapsesDuringAQuestionIsGoneButItsNodeIsGranted) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  Waiter waiter = wait(bob, request(bob, 2, true));
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));
  const auto offer = waiter.wakes.take_offer();
  ASSERT_TRUE(offer);
  bob.tree->set(Wire::held);
  Answer<GrantReply> slow, next;
  bob.store->try_grant(waiter.request, slow.call());
  let_pass(1s);
  const RenewalReply confirmed = renew(bob, waiter.request, offer->fence);
  EXPECT_TRUE(std::holds_alternative<Gone>(confirmed)) << "confirm_within is over";
  bob.store->try_grant(waiter.request, next.call());
  bob.tree->set(Wire::up);
  bob.tree->let_go();
  ASSERT_NE(next.get<Granted>(), nullptr);
  EXPECT_EQ(next.get<Granted>()->fence, offer->fence);
}

TEST_F(ZookeeperLines, WhoeverWaitsIsToldWhenItsSessionEnds_F082) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  Waiter waiter = wait(bob, request(bob, 2, true));
  bob.tree->expire();
  const auto wake = waiter.wakes.take();
  ASSERT_TRUE(wake);
  EXPECT_FALSE(wake->offer);
  EXPECT_EQ(nodes().size(), 1U);
  refused(bob, waiter.request);
  EXPECT_TRUE(releases(alice, request(alice, 1), yes.fence));
  EXPECT_TRUE(waiter.wakes.take_offer());
}

TEST_F(ZookeeperLines, ALookThatIsNotAnsweredIsTheEnginesToRepeat) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted yes = granted(alice, writing);
  Waiter waiter = wait(bob, shared(request(bob, 2, true), Shape::shared()));
  bob.tree->set(Wire::silent);
  EXPECT_TRUE(releases(alice, writing, yes.fence));
  const auto wake = waiter.wakes.take();
  ASSERT_TRUE(wake);
  EXPECT_FALSE(wake->offer);
  bob.tree->set(Wire::up);
  granted(bob, waiter.request);
}

TEST_F(ZookeeperLines, ANodeInTheLineThatSomebodyDeletedIsMadeAgain) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, request(alice, 1));
  refused(bob, request(bob, 2, true));
  remove_foreign(node_of(request(bob, 2)));
  EXPECT_EQ(refused(bob, request(bob, 2, true)).ahead, 0U);
  EXPECT_EQ(nodes().size(), 2U);
}

TEST_F(ZookeeperLines, RefreshingAPlaceIsOneQuestion) {
  Peer alice = open();
  Peer bob = open();
  Peer carol = open();
  granted(alice, request(alice, 1));
  refused(bob, request(bob, 2, true));
  refused(carol, request(carol, 3, true));
  for (auto* peer : {&bob, &carol}) {
    const auto asked = peer->tree->questions();
    const Refused no = refused(*peer, request(*peer, peer == &bob ? 2 : 3, true));
    EXPECT_EQ(peer->tree->questions(), asked + 1);
    ASSERT_TRUE(no.holder);
    EXPECT_EQ(no.holder->owner, to_string(OwnerId{alice.id, 1}));
  }
}

TEST_F(ZookeeperLines, AWatchThatWasRefusedIsSetTheNextTime_F087) {
  Peer alice = open();
  Peer bob = open();
  for (const bool pool : {false, true}) {
    const auto kind = [&](const GrantRequest& it) { return pool ? permits(it, 1, 1) : it; };
    const GrantRequest mine = kind(request(alice, 1));
    const Granted yes = granted(alice, mine);
    const GrantRequest next = kind(request(bob, 2, true));
    test::WakeBox wakes;
    const WatchPtr watch = bob.store->watch(next, wakes.fn());
    bob.tree->refuse_next(pool ? Op::exists : Op::get_data, Code::no_auth);
    unanswered(bob, next);
    refused(bob, next);
    EXPECT_EQ(all_->watches(), pool ? 2U : 1U);
    EXPECT_TRUE(releases(alice, mine, yes.fence));
    const auto offer = wakes.take_offer();
    ASSERT_TRUE(offer);
    EXPECT_TRUE(releases(bob, next, offer->fence));
  }
}

TEST_F(ZookeeperLines, AWatchOnTheOneBeforeThatWasRefusedIsSetTheNextTime_F087) {
  Peer alice = open();
  Peer bob = open();
  Peer carol = open();
  granted(alice, permits(request(alice, 1), 1, 1));
  refused(bob, permits(request(bob, 2, true), 1, 1));
  refused(bob, permits(request(bob, 3, true), 1, 1));
  const GrantRequest last = permits(request(carol, 4, true), 1, 1);
  refused(carol, last);
  EXPECT_TRUE(withdraws(bob, permits(request(bob, 3), 1, 1)));
  const auto watches = all_->watches();
  carol.tree->set(Wire::held);
  Answer<GrantReply> answer;
  carol.store->try_grant(last, answer.call());
  EXPECT_TRUE(carol.tree->let_one_go());  // another one is before it now
  carol.tree->refuse_next(Op::get_data, Code::no_auth);
  carol.tree->let_go();
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  carol.tree->set(Wire::up);
  refused(carol, last);
  EXPECT_EQ(all_->watches(), watches + 1);
}

// Of those who wait each would be told the names of all, every few seconds.
TEST_F(ZookeeperLines, ALongLineIsNotReadToRefreshAPlace_F088) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest first = request(alice, 1);
  const std::uint64_t fence = granted(alice, first).fence;
  constexpr std::uint64_t kLast = 200;
  for (std::uint64_t i = 1; i <= kLast; ++i) refused(bob, request(bob, i, true));
  const auto listings = all_->listings();
  const auto asked = bob.tree->questions();
  const Refused no = refused(bob, request(bob, kLast, true));
  EXPECT_EQ(no.ahead, kLast - 1);
  EXPECT_EQ(no.waiting, kLast);
  EXPECT_EQ(no.holder->owner, first.record.owner);
  EXPECT_EQ(bob.tree->questions(), asked + 1);
  EXPECT_EQ(all_->listings(), listings);

  // It stands as long as it is refreshed, and no longer.
  for (int i = 0; i < 3; ++i) {
    let_pass(kLease / 2);
    EXPECT_TRUE(renews(alice, first, fence));
    refused(bob, request(bob, kLast, true));
  }
  EXPECT_EQ(nodes().size(), 2U) << "the others are nobody's any more";
  EXPECT_EQ(refused(bob, request(bob, kLast, true)).ahead, 0U) << "and now it is read";

  for (std::uint64_t i = kLast + 1; i <= 2 * kLast; ++i) refused(bob, request(bob, i, true));
  remove_foreign(node_of(request(bob, 2 * kLast)));
  refused(bob, request(bob, 2 * kLast, true));
  EXPECT_EQ(nodes().size(), kLast + 2) << "what somebody deleted is made again";
  EXPECT_TRUE(releases(alice, first, fence));
  granted(bob, request(bob, kLast));
}

// ---- revocation ----

TEST_F(ZookeeperLines, WhatCuratorAsksForIsHonoured) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  all_->do_it({.op = Op::set_data, .path = "/locks/a/" + nodes().at(0), .data = "__REVOKE__"});
  for (int i = 0; i < 2; ++i) {
    const RenewalReply reply = renew(alice, mine, yes.fence);
    ASSERT_TRUE(std::holds_alternative<Gone>(reply));
    EXPECT_TRUE(std::get<Gone>(reply).forced);
  }
  refused(alice, mine);
  EXPECT_TRUE(releases(alice, mine, yes.fence));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperLines, WhoeverIsRevokedWhileItWaitsKeepsNobodyFromAFreeLock) {
  Peer alice = open();
  Peer bob = open();
  Peer carol = open();
  const GrantRequest first = shared(request(alice, 1), Shape::exclusive());
  const Granted yes = granted(alice, first);
  Waiter revoked = wait(bob, shared(request(bob, 1, true), Shape::exclusive()));
  Waiter next = wait(carol, shared(request(carol, 1, true), Shape::exclusive()));
  all_->do_it({.op = Op::set_data, .path = node_of(revoked.request), .data = "__REVOKE__"});
  EXPECT_EQ(refused(bob, revoked.request).ahead, 1U) << "it stands in line anew";
  EXPECT_EQ(nodes().size(), 3U);
  EXPECT_TRUE(releases(alice, first, yes.fence));
  const auto offer = next.wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_TRUE(releases(carol, next.request, offer->fence));
  const auto last = revoked.wakes.take_offer();
  ASSERT_TRUE(last);
  EXPECT_TRUE(renews(bob, revoked.request, last->fence)) << "what was asked for is done";
  EXPECT_FALSE(look(alice).at(0).holds.at(0).revoked);
}

TEST_F(ZookeeperLines, CuratorsHoldersAreAskedInItsWords) {
  Peer alice = open();
  all_->do_it({.op = Op::create_container, .path = "/locks"});
  all_->do_it({.op = Op::create_container, .path = "/locks/a"});
  const std::string java = make_foreign("/locks/a/_c_3209f814-533a-4ee5-a79b-948e52e4650a-lock-");
  const auto seen = look(alice);
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_EQ(seen[0].holds.size(), 1U);
  EXPECT_EQ(seen[0].holds[0].owner, OwnerId());
  EXPECT_EQ(seen[0].holds[0].record.host, "10.0.0.7");
  EXPECT_GT(seen[0].holds[0].lease_left, 0s);
  const std::uint64_t fence = seen[0].holds[0].fence;
  EXPECT_TRUE(
      std::holds_alternative<ChangedHands>(force(alice, request(alice, 1), fence + 1, false)));
  EXPECT_TRUE(std::holds_alternative<Forced>(force(alice, request(alice, 1), fence, false)));
  EXPECT_EQ(all_->data(java), "__REVOKE__");
  EXPECT_TRUE(look(alice)[0].holds[0].revoked);
  EXPECT_TRUE(std::holds_alternative<Forced>(force(alice, request(alice, 1), fence, true)));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperLines, OurRecordSurvivesARevocation) {
  Peer alice = open();
  Peer bob = open();
  const Granted yes = granted(alice, request(alice, 1));
  EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, request(alice, 1), yes.fence, false)));
  const auto seen = look(bob);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(seen[0].holds.at(0).revoked);
  EXPECT_EQ(seen[0].holds.at(0).owner, (OwnerId{alice.id, 1}));
}

TEST_F(ZookeeperLines, AHolderThatMayNotBeReadIsNeitherGoneNorHidden_F087) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  bob.tree->refuse_next(Op::get_data, Code::no_auth);
  const ForceReply reply = force(bob, mine, yes.fence, true);
  ASSERT_TRUE(std::holds_alternative<NoAnswer>(reply)) << "it has not changed hands";
  EXPECT_EQ(std::get<NoAnswer>(reply).why, Errc::permission);
  bob.tree->refuse_next(Op::get_data, Code::no_auth);
  const auto seen = look(bob);
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_EQ(seen[0].holds.size(), 1U);
  EXPECT_EQ(seen[0].holds[0].record.owner, uuid_of(mine.owner));
  EXPECT_EQ(seen[0].holds[0].record.host, "");
  EXPECT_TRUE(renews(alice, mine, yes.fence));
}

TEST_F(ZookeeperLines, AHolderThatMayBeReadIsForcedThoughAnotherMayNot_F087) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, shared(request(alice, 1), Shape::shared()));
  const GrantRequest second = shared(request(alice, 2), Shape::shared());
  const Granted yes = granted(alice, second);
  bob.tree->refuse_next(Op::get_data, Code::no_auth);  // the first one's
  EXPECT_TRUE(std::holds_alternative<Forced>(force(bob, second, yes.fence, true)));
  EXPECT_EQ(nodes().size(), 1U);
}

// ---- one hold for another ----

TEST_F(ZookeeperLines, ADowngradeIsOneStepAndStaysBeforeThoseWhoWait) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  Waiter next = wait(bob, shared(request(bob, 2, true), Shape::exclusive()));
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  const auto asked = alice.tree->questions();
  const Granted steps_down = granted(alice, reading);
  EXPECT_EQ(alice.tree->questions(), asked + 1);
  EXPECT_GT(steps_down.fence, alone.fence);
  EXPECT_EQ(nodes().size(), 2U);
  EXPECT_FALSE(next.wakes.take_offer());
  EXPECT_FALSE(renews(alice, writing, alone.fence));
  EXPECT_TRUE(renews(alice, reading, steps_down.fence));
  EXPECT_TRUE(releases(alice, reading, steps_down.fence));
  const auto offer = next.wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_GT(offer->fence, steps_down.fence) << "though its node is older than the reader's";
}

TEST_F(ZookeeperLines, ADowngradeLeavesNoFencesToSpare) {
  Peer alice = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  reading.spare = 16;
  EXPECT_EQ(granted(alice, reading).spare, 0U) << "the next is that of whoever came behind";
}

TEST_F(ZookeeperLines, ADowngradeWhoseAnswerWasLostIsFound) {
  Peer alice = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  for (const Wire wire : {Wire::silent, Wire::deaf}) {
    alice.tree->set(wire);
    EXPECT_TRUE(unanswered(alice, reading).executed);
    alice.tree->set(Wire::up);
  }
  const Granted found = granted(alice, reading);
  EXPECT_EQ(found.fence, Fences().downgraded(alone.fence));
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_FALSE(renews(alice, writing, alone.fence));
  EXPECT_TRUE(releases(alice, reading, found.fence));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperLines, ARevokedWriterDoesNotStepDown) {
  Peer alice = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  const std::string node = "/locks/a/" + nodes().at(0);
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  all_->do_it({.op = Op::set_data, .path = node, .data = "__REVOKE__"});
  EXPECT_EQ(rejected(alice, reading), Errc::forced);
  EXPECT_EQ(nodes().size(), 1U);
  remove_foreign(node);
  EXPECT_EQ(rejected(alice, reading), Errc::forced) << "as far as we know";
  EXPECT_FALSE(renews(alice, writing, alone.fence));
}

TEST_F(ZookeeperLines, WhatWasWrittenIntoAWriterByOthersIsNoRevocation) {
  Peer alice = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  all_->do_it({.op = Op::set_data, .path = "/locks/a/" + nodes().at(0), .data = "hello"});
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  granted(alice, reading);
}

TEST_F(ZookeeperLines, WhatForbidsOneStepOfADowngradeIsToldWhicheverItIs_F087) {
  Peer alice = open();
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  alice.tree->refuse_next(Op::remove, Code::no_auth);
  EXPECT_EQ(unanswered(alice, reading).why, Errc::permission);
  EXPECT_TRUE(renews(alice, writing, alone.fence)) << "nothing was done";
}

TEST_F(ZookeeperLines, NativeFencesLeaveNoneForADowngrade) {
  Peer alice = open(Layout("/locks"), Fences(true));
  EXPECT_FALSE(alice.store->capabilities().downgrade);
  const GrantRequest writing = shared(request(alice, 1), Shape::exclusive());
  const Granted alone = granted(alice, writing);
  GrantRequest reading = shared(request(alice, 3), Shape::shared());
  reading.instead_of = hold(writing, alone.fence);
  EXPECT_EQ(rejected(alice, reading), Errc::unsupported);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
