// Getting a mutex: how many questions that takes, and what becomes of questions whose answers do not come.
#include <limits>

#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

// Which all get who come when there are no others left.
constexpr std::int32_t kLastNumber = std::numeric_limits<std::int32_t>::max();

class ZookeeperGrants : public LockBench {};

TEST_F(ZookeeperGrants, AcquiringAndReleasingAreOneRoundTripEach) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));  // makes the parents
  const auto before = alice.tree->questions();
  const Granted yes = granted(alice, request(alice, 2));
  EXPECT_EQ(alice.tree->questions() - before, 1U);
  EXPECT_TRUE(releases(alice, request(alice, 2), yes.fence));
  EXPECT_EQ(alice.tree->questions() - before, 2U);
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperGrants, TheFenceIsTheNumberOfTheCreation) {
  Peer alice = open();
  GrantRequest mine = request(alice, 1);
  mine.spare = 16;
  const Granted yes = granted(alice, mine);
  ASSERT_EQ(nodes().size(), 1U);
  const auto czxid = static_cast<std::uint64_t>(all_->stat("/locks/a/" + nodes()[0])->czxid);
  EXPECT_EQ(yes.fence, czxid << 10U);
  EXPECT_EQ(yes.spare, 16U);
  EXPECT_TRUE(nodes()[0].starts_with(mark_of(mine.owner) + "lock-"));
  Peer native = open(Layout("/native"), Fences(true));
  mine.owner.client = native.id;
  const Granted plain = granted(native, mine);
  const std::string node = "/native/a/" + nodes("/native/a").at(0);
  EXPECT_EQ(plain.fence, static_cast<std::uint64_t>(all_->stat(node)->czxid));
  EXPECT_EQ(plain.spare, 0U);
}

TEST_F(ZookeeperGrants, FencesGrowAlsoWhenAContainerWentWithItsNumbers_F086) {
  Peer alice = open();
  std::uint64_t last = 0;
  for (std::uint64_t claim = 1; claim < 4; ++claim) {
    const Granted yes = granted(alice, request(alice, claim));
    EXPECT_TRUE(nodes().at(0).ends_with("-lock-0000000000")) << "the sequence restarted";
    EXPECT_GT(yes.fence, last);
    last = yes.fence;
    EXPECT_TRUE(releases(alice, request(alice, claim), yes.fence));
    all_->reap();
    EXPECT_FALSE(all_->stat("/locks/a"));
  }
}

TEST_F(ZookeeperGrants, NobodyIsPutBeforeTheHolderWhenTheServersNumbersRunOut_F086) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  all_->set_created("/locks/a", kLastNumber - 1);
  const Granted last = granted(alice, mine);
  EXPECT_EQ(rejected(bob, request(bob, 1)), Errc::store_full);
  EXPECT_EQ(rejected(bob, request(bob, 2, true)), Errc::store_full);
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_TRUE(renews(alice, mine, last.fence));
  EXPECT_TRUE(releases(alice, mine, last.fence));

  const GrantRequest pool = permits(request(alice, 2), 1, 1);
  EXPECT_TRUE(releases(alice, pool, granted(alice, pool).fence));
  all_->set_created("/locks/a/locks", std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(rejected(bob, permits(request(bob, 3), 1, 1)), Errc::store_full);
  EXPECT_TRUE(nodes("/locks/a/locks").empty());
}

TEST_F(ZookeeperGrants, ANodeThatIsFoundAgainIsNotPutBeforeTheHolderEither_F086) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  all_->set_created("/locks/a", kLastNumber - 1);
  const Granted last = granted(alice, mine);
  const auto is_turned_away = [&](const GrantRequest& request) {
    bob.tree->set(Wire::deaf);
    unanswered(bob, request);
    bob.tree->set(Wire::up);
    EXPECT_EQ(rejected(bob, request), Errc::store_full);
  };
  is_turned_away(request(bob, 1));
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_TRUE(renews(alice, mine, last.fence));
  EXPECT_TRUE(releases(alice, mine, last.fence));

  const GrantRequest pool = permits(request(alice, 2), 1, 2);
  granted(alice, pool);
  all_->set_created("/locks/a/locks", std::numeric_limits<std::int32_t>::min());
  is_turned_away(permits(request(bob, 2), 1, 2));
  EXPECT_TRUE(nodes("/locks/a/locks").empty());
}

TEST_F(ZookeeperGrants, NumbersOfFewDigitsBelowZeroAreSeenToo_F086) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  all_->set_created("/locks/a", -5);
  EXPECT_EQ(rejected(alice, mine), Errc::store_full);
  EXPECT_TRUE(nodes().empty()) << "one that nobody knows for a node of the line is never deleted";

  const GrantRequest pool = permits(request(alice, 2), 1, 2);
  EXPECT_TRUE(releases(alice, pool, granted(alice, pool).fence));
  all_->set_created("/locks/a/locks", -999999999);
  EXPECT_EQ(rejected(alice, pool), Errc::store_full);
  EXPECT_TRUE(nodes("/locks/a/locks").empty());
}

TEST_F(ZookeeperGrants, ParentsThatGoBetweenAreMadeAgain_F084) {
  Peer alice = open();
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(request(alice, 1), answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());  // no parents
  all_->do_it({.op = Op::create_container, .path = "/locks"});
  EXPECT_TRUE(alice.tree->let_one_go());
  EXPECT_NE(answer.get<Granted>(), nullptr);
}

// ---- a create whose answer was lost ----

TEST_F(ZookeeperGrants, AParentThatGoesBeforeItsChildIsMadeIsMadeAgain_F084) {
  Peer alice = open(Layout("/apps/locks"));
  alice.tree->refuse_next(Op::create_container, Code::no_node);  // it had gone again by then
  granted(alice, request(alice, 1));
  Peer bob = open(Layout("/jobs/locks"));
  bob.tree->refuse_next(Op::create_container, Code::no_node);
  granted(bob, permits(request(bob, 1), 1, 2));
}

TEST_F(ZookeeperGrants, ANodeWhoseCreationWasNotAnsweredIsFound_F078) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::deaf);
  EXPECT_TRUE(unanswered(alice, mine).executed);
  ASSERT_EQ(nodes().size(), 1U);
  alice.tree->set(Wire::up);
  const Granted yes = granted(alice, mine);
  EXPECT_EQ(nodes().size(), 1U) << "it was not made twice";
  EXPECT_TRUE(renews(alice, mine, yes.fence));
  EXPECT_TRUE(releases(alice, mine, yes.fence));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperGrants, ANodeThatWasNeverMadeIsMade) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  for (const Wire wire : {Wire::silent, Wire::lost}) {
    alice.tree->set(wire);
    EXPECT_EQ(unanswered(alice, mine).executed, wire == Wire::silent);
    alice.tree->set(Wire::up);
    EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
    EXPECT_TRUE(nodes().empty());
  }
}

TEST_F(ZookeeperGrants, ANodeOfADyingSessionIsNotTakenForOurs_F079) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1, true);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::deaf);
  unanswered(alice, mine);
  const std::string dying = nodes().at(0);
  alice.tree->expire_here_only();
  alice.tree->set(Wire::silent);
  unanswered(alice, mine);  // in doubt once more, in the new session
  alice.tree->set(Wire::up);
  refused(alice, mine);
  EXPECT_EQ(nodes().size(), 2U);
  test::WakeBox wakes;
  const WatchPtr watch = alice.store->watch(mine, wakes.fn());
  remove_foreign("/locks/a/" + dying);
  const auto offer = wakes.take_offer();
  ASSERT_TRUE(offer);
  EXPECT_TRUE(renews(alice, mine, offer->fence));
}

TEST_F(ZookeeperGrants, ANodeMadeInTheNextSessionWithoutAnAnswerIsFound_F078) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1, true);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(mine, answer.call());
  alice.tree->expire();  // before the question leaves; it is sent in the new one
  alice.tree->lose_next_answer();
  EXPECT_TRUE(alice.tree->let_one_go());
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(nodes().size(), 1U);
  alice.tree->set(Wire::up);
  granted(alice, mine);
  EXPECT_EQ(nodes().size(), 1U) << "it would wait behind itself";
}

TEST_F(ZookeeperGrants, APlaceMadeInTheNextSessionLapsesLikeAnyOther_F080) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1, true);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(mine, answer.call());
  alice.tree->expire();  // before the question leaves; it is sent in the new one
  alice.tree->refuse_next(Op::get_children, Code::too_large);
  alice.tree->let_go();
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(nodes().size(), 1U);
  alice.tree->set(Wire::up);
  let_pass(kLease);
  EXPECT_TRUE(nodes().empty()) << "it would stay as long as the session, in everybody's way";
}

TEST_F(ZookeeperGrants, WithdrawingFindsWhatWasNotAnswered_F037) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::deaf);
  unanswered(alice, mine);
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_FALSE(withdraws(alice, mine)) << "nobody knows what there is";
  alice.tree->set(Wire::up);
  EXPECT_TRUE(withdraws(alice, mine));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperGrants, WhatWasNotAnsweredGoesWithItsLeaseAlsoIfNobodyAsksAgain) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::deaf);
  unanswered(alice, mine);
  alice.tree->set(Wire::lost);
  let_pass(kLease + 5s);
  EXPECT_EQ(nodes().size(), 1U) << "it cannot be deleted meanwhile";
  alice.tree->set(Wire::up);
  let_pass(2s);
  EXPECT_TRUE(nodes().empty());
  EXPECT_TRUE(withdraws(alice, mine));
}

// ---- withdrawals and answers that cross ----

TEST_F(ZookeeperGrants, AWithdrawBehindACreateTakesTheNodeAway_F037) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1, true);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::held);
  Answer<GrantReply> late;
  alice.store->try_grant(mine, late.call());
  Answer<WithdrawReply> withdrawn;
  alice.store->withdraw(mine, withdrawn.call());
  EXPECT_FALSE(withdrawn.there());
  alice.tree->set(Wire::up);
  alice.tree->let_go();
  EXPECT_NE(late.get<Granted>(), nullptr) << "as if it had come before the withdraw";
  EXPECT_NE(withdrawn.get<Withdrawn>(), nullptr);
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperGrants, AQuestionAskedTwiceMakesOneNode) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1, true);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::held);
  Answer<GrantReply> first;
  Answer<GrantReply> second;
  alice.store->try_grant(mine, first.call());
  alice.store->try_grant(mine, second.call());
  alice.tree->set(Wire::up);
  alice.tree->let_go();
  ASSERT_NE(first.get<Granted>(), nullptr);
  ASSERT_NE(second.get<Granted>(), nullptr);
  EXPECT_EQ(first.get<Granted>()->fence, second.get<Granted>()->fence);
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(ZookeeperGrants, AReleaseWhoseAnswerIsLostIsRepeatedByTheStore) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  alice.tree->set(Wire::silent);
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(release(alice, mine, yes.fence)));
  EXPECT_FALSE(renews(alice, mine, yes.fence)) << "it was given back";
  EXPECT_EQ(nodes().size(), 1U);
  alice.tree->set(Wire::up);  // nobody asks for it
  EXPECT_TRUE(nodes().empty());
  EXPECT_TRUE(std::holds_alternative<Gone>(release(alice, mine, yes.fence)));
}

TEST_F(ZookeeperGrants, AnImmediateAttemptLeavesNothingWhateverBecomesOfItsDelete) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, request(alice, 1));
  bob.tree->set(Wire::held);
  Answer<GrantReply> answer;
  bob.store->try_grant(request(bob, 2), answer.call());
  EXPECT_TRUE(bob.tree->let_one_go());  // create and list
  bob.tree->set(Wire::silent);
  EXPECT_EQ(nodes().size(), 2U);
  bob.tree->expire();
  bob.tree->let_go();
  EXPECT_NE(answer.get<Refused>(), nullptr);
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(ZookeeperGrants, ClosingAnswersWhatIsUnderWay) {
  Peer alice = open();
  alice.tree->set(Wire::held);
  Answer<GrantReply> first;
  Answer<GrantReply> second;
  Answer<WithdrawReply> third;
  alice.store->try_grant(request(alice, 1), first.call());
  alice.store->try_grant(request(alice, 1), second.call());
  alice.store->withdraw(request(alice, 1), third.call());
  alice.store->close();
  EXPECT_NE(first.get<NoAnswer>(), nullptr);
  EXPECT_NE(second.get<NoAnswer>(), nullptr);
  EXPECT_TRUE(third.there());
  EXPECT_FALSE(unanswered(alice, request(alice, 2)).executed);
  let_pass(kLease * 2);
}

TEST_F(ZookeeperGrants, WhoeverIsAnsweredForWantOfMemoryHasLeftItsTurn) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  // The answer may be the end of the store; then nothing of it is touched any more.
  struct Observer final : store::Answers<GrantReply>,
                          store::Answers<ReleaseReply>,
                          store::Answers<WithdrawReply> {
    void answered(CallId, GrantReply) override { see(); }
    void answered(CallId, ReleaseReply) override { see(); }
    void answered(CallId, WithdrawReply) override { see(); }
    void see() {
      const auto before = tree->questions();
      Answer<GrantReply>& next = *answers.emplace_back(std::make_unique<Answer<GrantReply>>());
      locks->try_grant(mine, next.call());
      in_turn.push_back(tree->questions() > before);
      tree->forget_held();
    }
    MemoryTree* tree = nullptr;
    ZookeeperStore* locks = nullptr;
    GrantRequest mine{};
    std::vector<std::unique_ptr<Answer<GrantReply>>> answers{};
    std::vector<bool> in_turn{};
  };
  Observer observer;
  observer.tree = alice.tree;
  observer.locks = alice.store.get();
  observer.mine = mine;
  alice.tree->set(Wire::held);
  alice.store->try_grant(mine, Call<GrantReply>(observer, 1, kNever));
  alice.tree->forget_held();
  alice.store->release(hold(mine, yes.fence), Call<ReleaseReply>(observer, 2, kNever));
  alice.tree->forget_held();
  alice.store->withdraw(mine, Call<WithdrawReply>(observer, 3, kNever));
  alice.tree->forget_held();
  EXPECT_EQ(observer.in_turn, std::vector<bool>(3, true)) << "the next one has begun by then";
}

// ---- how long ----

TEST_F(ZookeeperGrants, ALeaseReachesNoFurtherThanTheSessionIsKnownToLive_F080) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  alice.tree->set_valid_for(4s);
  const Granted yes = granted(alice, mine);
  EXPECT_EQ(yes.lease, 4s);
  const RenewalReply renewed = renew(alice, mine, yes.fence);
  ASSERT_TRUE(std::holds_alternative<Renewed>(renewed));
  EXPECT_EQ(std::get<Renewed>(renewed).lease, 4s);
  alice.tree->set_valid_for(1min);
  EXPECT_EQ(std::get<Renewed>(renew(alice, mine, yes.fence)).lease, kLease);
  alice.tree->set_valid_for(0s);
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(renew(alice, mine, yes.fence)));
  EXPECT_TRUE(unanswered(alice, mine).executed) << "that is neither yes nor no";
  alice.tree->set_valid_for(1min);
  EXPECT_EQ(granted(alice, mine).fence, yes.fence);
}

TEST_F(ZookeeperGrants, AnAnswerThatTakesLongerThanTheLeaseIsNoGrant) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::held);
  Answer<GrantReply> late;
  alice.store->try_grant(mine, late.call());
  let_pass(kLease);
  alice.tree->set(Wire::up);
  alice.tree->let_go();
  EXPECT_NE(late.get<NoAnswer>(), nullptr);
  let_pass(1s);
  EXPECT_TRUE(nodes().empty()) << "and its lease is over";
}

TEST_F(ZookeeperGrants, TheSessionIsKeptValidWhileAnybodyHoldsOrWaits) {
  Peer alice = open();
  EXPECT_FALSE(alice.tree->kept_valid());
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  EXPECT_TRUE(alice.tree->kept_valid());
  EXPECT_TRUE(releases(alice, mine, yes.fence));
  let_pass(kLease);
  EXPECT_FALSE(alice.tree->kept_valid());
  EXPECT_EQ(loop_.size(), 0U) << "no timer is left";
}

// Answers to renewals that were sent one after the other, of which the second takes another question.
TEST_F(ZookeeperGrants, ALateAnswerToAnEarlierRenewalTakesNothingAway) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  const std::string node = node_of(mine);
  const auto start_renewal = [&](Answer<RenewReply>& answer) {
    Renewal renewal;
    static_cast<HoldKey&>(renewal) = hold(mine, yes.fence);
    renewal.lease = kLease;
    alice.store->renew({&renewal, 1}, answer.call());
  };
  Answer<RenewReply> first, second, third;
  alice.tree->set(Wire::held);
  start_renewal(first);
  clock_.advance(1s);
  start_renewal(second);
  all_->do_it({.op = Op::set_data, .path = node, .data = *all_->data(node)});  // no revocation
  EXPECT_TRUE(alice.tree->let_one_go());  // first: it was written to, so it is read
  clock_.advance(6s);
  start_renewal(third);
  EXPECT_TRUE(alice.tree->let_one_go());  // second: it was written to, so it is read
  EXPECT_TRUE(alice.tree->let_one_go());  // first has read it
  EXPECT_TRUE(alice.tree->let_one_go());  // third: it is known
  ASSERT_TRUE(third.there());
  ASSERT_TRUE(std::holds_alternative<Renewed>(third.get<std::vector<RenewalReply>>()->front()));
  alice.tree->let_go();  // second has read it
  alice.tree->set(Wire::up);
  let_pass(kLease - 2s);
  EXPECT_TRUE(std::holds_alternative<Refused>(ask(bob, request(bob, 2)))) << "two holders";
}

// ---- sessions and strangers ----

TEST_F(ZookeeperGrants, NobodyKeepsASessionValidThatEndsWhileTheTimerLooks) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  let_pass(kLease - 1s);
  alice.tree->set(Wire::held);
  Answer<ReleaseReply> answer;
  alice.store->release(hold(mine, yes.fence), answer.call());
  let_pass(2s);
  alice.tree->let_go();
  EXPECT_NE(answer.get<Released>(), nullptr);
  let_pass(2 * kLease);
  EXPECT_FALSE(alice.tree->kept_valid());
}

TEST_F(ZookeeperGrants, WhatASessionHeldIsGoneWithIt_F080) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  alice.tree->expire();
  EXPECT_FALSE(renews(alice, mine, yes.fence));
  EXPECT_TRUE(std::holds_alternative<Gone>(release(alice, mine, yes.fence)));
  const Granted next = granted(bob, request(bob, 2));
  EXPECT_GT(next.fence, yes.fence);
  refused(alice, mine);
}

TEST_F(ZookeeperGrants, ANodeThatSomebodyDeletedIsLost) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  remove_foreign("/locks/a/" + nodes().at(0));
  const RenewalReply reply = renew(alice, mine, yes.fence);
  ASSERT_TRUE(std::holds_alternative<Gone>(reply));
  EXPECT_GT(granted(alice, mine).fence, yes.fence);
}

TEST_F(ZookeeperGrants, RightsThatAreMissingAreToldAndNotAskedForAgain_F087) {
  // The tree in memory knows no rights; a name below an ephemeral node cannot be made either.
  Peer alice = open(Layout("/gone"));
  all_->do_it({.op = Op::create, .path = "/gone", .mode = Mode::ephemeral}, 7);
  const NoAnswer none = unanswered(alice, request(alice, 1));
  EXPECT_EQ(none.why, Errc::invalid_name);
  EXPECT_FALSE(none.executed);
}

// ---- what the server refuses ----

TEST_F(ZookeeperGrants, AReleaseThatTheServerRefusesIsRepeatedByTheStore) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  const Granted yes = granted(alice, mine);
  alice.tree->refuse_next(Op::remove, Code::other);  // it was too busy, say
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(release(alice, mine, yes.fence)));
  EXPECT_TRUE(nodes().empty()) << "nobody else would get it while this session lives";
}

TEST_F(ZookeeperGrants, AWithdrawThatTheServerRefusesIsRepeatedByTheStore) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, request(alice, 1));
  const GrantRequest mine = request(bob, 1, true);
  refused(bob, mine);
  bob.tree->refuse_next(Op::remove, Code::other);
  EXPECT_FALSE(withdraws(bob, mine));
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_TRUE(withdraws(bob, mine));
}

TEST_F(ZookeeperGrants, AnImmediateAttemptLeavesNothingIfTheServerRefusesItsDelete) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, request(alice, 1));
  bob.tree->refuse_next(Op::remove, Code::other);
  refused(bob, request(bob, 1));
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(ZookeeperGrants, AHoldThatTheServerDoesNotTellOfIsNotGone) {
  Peer alice = open();
  for (const GrantRequest& mine : {request(alice, 1), permits(request(alice, 2), 2, 2)}) {
    const Granted yes = granted(alice, mine);
    alice.tree->refuse_next(Op::exists, Code::other);
    EXPECT_TRUE(std::holds_alternative<NoAnswer>(renew(alice, mine, yes.fence)));
    EXPECT_TRUE(renews(alice, mine, yes.fence));
    EXPECT_EQ(granted(alice, mine).fence, yes.fence);
    EXPECT_TRUE(releases(alice, mine, yes.fence));
  }
}

TEST_F(ZookeeperGrants, ANodeThatTheServerDoesNotTellOfIsNotMadeTwice_F078) {
  Peer alice = open();
  for (const GrantRequest& mine : {request(alice, 1), permits(request(alice, 2), 2, 2)}) {
    EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
    alice.tree->set(Wire::deaf);
    unanswered(alice, mine);
    alice.tree->set(Wire::up);
    alice.tree->refuse_next(Op::exists, Code::other);
    unanswered(alice, mine);
    EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
    EXPECT_TRUE(nodes("/locks/a/locks").empty());
  }
}

TEST_F(ZookeeperGrants, AWithdrawThatCannotSeeTheLineIsNotDone_F088) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->set(Wire::deaf);
  unanswered(alice, mine);
  alice.tree->set(Wire::up);
  alice.tree->refuse_next(Op::get_children, Code::too_large);
  EXPECT_FALSE(withdraws(alice, mine)) << "its node may be there";
  EXPECT_TRUE(withdraws(alice, mine));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperGrants, WhoeverHasAPlaceInALineThatCannotBeReadIsToldToLeaveIt_F088) {
  Peer alice = open();
  const GrantRequest mine = request(alice, 1);
  EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
  alice.tree->refuse_next(Op::get_children, Code::too_large);
  const NoAnswer none = unanswered(alice, mine);
  EXPECT_EQ(none.why, Errc::store_full);
  EXPECT_TRUE(none.executed) << "or nobody withdraws it";
  EXPECT_TRUE(withdraws(alice, mine));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(ZookeeperGrants, ANodeThatWasMadeIsNotDeniedIfTheNextQuestionIsNotSent) {
  Peer alice = open();
  Peer bob = open();
  granted(alice, request(alice, 1));
  bob.tree->set(Wire::held);
  Answer<GrantReply> answer;
  bob.store->try_grant(request(bob, 1, true), answer.call());
  bob.tree->set(Wire::lost);
  EXPECT_TRUE(bob.tree->let_one_go());  // it is in the line, and cannot look at the one before
  EXPECT_EQ(nodes().size(), 2U);
  ASSERT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_TRUE(answer.get<NoAnswer>()->executed);
}

TEST_F(ZookeeperGrants, OthersOfTheSameNameExcludeUsAndWeThem) {
  Peer alice = open();
  all_->do_it({.op = Op::create_container, .path = "/locks"});
  all_->do_it({.op = Op::create_container, .path = "/locks/a"});
  const std::string java = make_foreign("/locks/a/_c_3209f814-533a-4ee5-a79b-948e52e4650a-lock-");
  const Refused no = refused(alice, request(alice, 1));
  ASSERT_TRUE(no.holder);
  EXPECT_EQ(no.holder->host, "10.0.0.7");
  EXPECT_EQ(no.holder->owner, "3209f814-533a-4ee5-a79b-948e52e4650a");
  EXPECT_EQ(no.lease_left, kTimeout);
  EXPECT_EQ(nodes().size(), 1U);
  remove_foreign(java);
  granted(alice, request(alice, 1));
}

TEST_F(ZookeeperGrants, AnEmptySemaphoreOfThatNameIsInNobodysWay) {
  Peer alice = open();
  const GrantRequest pool = permits(request(alice, 1), 1, 2);
  const Granted permit = granted(alice, pool);
  EXPECT_EQ(rejected(alice, request(alice, 2)), Errc::invalid_argument);
  EXPECT_TRUE(releases(alice, pool, permit.fence));
  EXPECT_EQ(nodes(), (std::vector<std::string>{"leases", "locks"}));
  const Granted mutex = granted(alice, request(alice, 3));
  EXPECT_EQ(rejected(alice, permits(request(alice, 4), 1, 2)), Errc::invalid_argument);
  EXPECT_TRUE(renews(alice, request(alice, 3), mutex.fence));
  EXPECT_TRUE(nodes("/locks/a/locks").empty());
}

}  // namespace
}  // namespace holdfast::store::zookeeper
