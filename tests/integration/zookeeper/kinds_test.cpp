// A name is in use as one kind. Whoever comes makes its node first and then looks for other kinds; until that look has
// been answered nobody has got anything by that node, whatever is asked or found meanwhile.
#include <cstdint>
#include <memory>
#include <variant>

#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperKinds : public LockBench {
 protected:
  static GrantRequest writer(const Peer& peer, std::uint64_t claim) {
    return shared(request(peer, claim), Shape::exclusive());
  }
  static GrantRequest reader(const Peer& peer, std::uint64_t claim, bool line_up = false) {
    return shared(request(peer, claim, line_up), Shape::shared());
  }
  // Until a listing is not needed to know that nobody else is there.
  void make_quiet(Peer& peer) {
    for (std::uint64_t claim = 101; claim <= 106; ++claim) {
      const GrantRequest mine = request(peer, claim);
      EXPECT_TRUE(releases(peer, mine, granted(peer, mine).fence));
    }
  }
  // Somebody waits for a permit.
  void make_semaphore() {
    for (const char* each : {"/locks", "/locks/a", "/locks/a/locks"}) {
      all_->do_it({.op = Op::create_container, .path = each});
    }
    make_foreign("/locks/a/locks/_c_0aa7e5a0-0000-4000-8000-000000000000-lock-");
  }
  // What it asks is done one by one; the last of `round_trips` is not answered.
  static void lose_an_answer_of(Peer& peer, const GrantRequest& request, int round_trips) {
    Answer<GrantReply> answer;
    peer.tree->set(Wire::held);
    peer.store->try_grant(request, answer.call());
    for (int i = 1; i < round_trips; ++i) EXPECT_TRUE(peer.tree->let_one_go());
    peer.tree->lose_next_answer();
    EXPECT_TRUE(peer.tree->let_one_go());
    EXPECT_NE(answer.get<NoAnswer>(), nullptr);
    peer.tree->set(Wire::up);
  }

  static constexpr auto kForeignMutex = "/locks/a/_c_0aa7e5a0-0000-4000-8000-000000000000-lock-";
};

TEST_F(ZookeeperKinds, AWriterIsSeenAfterAListingThatWasLost_F078) {
  Peer alice = open();
  Peer bob = open();
  make_quiet(alice);
  const Granted his = granted(bob, writer(bob, 1));
  lose_an_answer_of(alice, request(alice, 1), 2);
  EXPECT_EQ(rejected(alice, request(alice, 1)), Errc::invalid_argument);
  EXPECT_TRUE(renews(bob, writer(bob, 1), his.fence));
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(ZookeeperKinds, APermitIsSeenAfterAListingThatWasLost_F078) {
  Peer alice = open();
  Peer bob = open();
  make_quiet(alice);
  const GrantRequest his = permits(request(bob, 1), 1, 1);
  const Granted yes = granted(bob, his);
  lose_an_answer_of(alice, request(alice, 1), 2);
  EXPECT_EQ(rejected(alice, request(alice, 1)), Errc::invalid_argument);
  EXPECT_TRUE(renews(bob, his, yes.fence));
}

TEST_F(ZookeeperKinds, APermitIsSeenAfterALookAtItsFoldersThatWasLost_F078) {
  Peer alice = open();
  Peer bob = open();
  const GrantRequest his = permits(request(bob, 1), 1, 1);
  const Granted yes = granted(bob, his);
  lose_an_answer_of(alice, request(alice, 1), 2);
  EXPECT_EQ(rejected(alice, request(alice, 1)), Errc::invalid_argument);
  EXPECT_TRUE(renews(bob, his, yes.fence));
}

TEST_F(ZookeeperKinds, AFolderThatMayNotBeLookedAtIsNotTakenForAnEmptyOne_F087) {
  Peer alice = open();
  make_semaphore();
  alice.tree->refuse_next(Op::exists, Code::no_auth);
  unanswered(alice, request(alice, 1));
  EXPECT_EQ(rejected(alice, request(alice, 1)), Errc::invalid_argument);
}

// Nothing is lost, but there is no time left to ask for the listing.
TEST_F(ZookeeperKinds, AWriterIsSeenAfterANodeThatWasAnsweredTooLate_F078) {
  Peer alice = open();
  Peer bob = open();
  make_quiet(alice);
  const Granted his = granted(bob, writer(bob, 1));
  const GrantRequest mine = request(alice, 1);
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(mine, answer.call(later(clock_.now(), 2s)));
  clock_.advance(2s);
  EXPECT_TRUE(alice.tree->let_one_go());
  EXPECT_NE(answer.get<NoAnswer>(), nullptr);
  alice.tree->set(Wire::up);
  EXPECT_EQ(rejected(alice, mine), Errc::invalid_argument);
  EXPECT_TRUE(renews(bob, writer(bob, 1), his.fence));
}

TEST_F(ZookeeperKinds, ASecondNodeOfOneAttemptIsNoLessNewThanTheFirst) {
  Peer alice = open();
  Peer bob = open();
  granted(bob, writer(bob, 1));
  alice.tree->set(Wire::held);
  Answer<GrantReply> answer;
  alice.store->try_grant(reader(alice, 1, true), answer.call());
  EXPECT_TRUE(alice.tree->let_one_go());  // node and line: it is to wait for him
  for (const std::string& each : nodes()) remove_foreign("/locks/a/" + each);
  const std::string holder = make_foreign(kForeignMutex);
  alice.tree->let_go();
  EXPECT_NE(answer.get<Rejected>(), nullptr);
  EXPECT_EQ("/locks/a/" + nodes().at(0), holder);
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(ZookeeperKinds, AMutexIsSeenByASemaphoreThatWasNotToldOfIt_F087) {
  Peer alice = open();
  Peer bob = open();
  granted(bob, permits(request(bob, 1), 1, 1));  // there are folders
  EXPECT_TRUE(withdraws(bob, permits(request(bob, 1), 1, 1)));
  const Granted his = granted(bob, request(bob, 2));
  const GrantRequest mine = permits(request(alice, 1), 1, 1);
  alice.tree->refuse_next(Op::get_children, Code::no_auth);
  unanswered(alice, mine);
  EXPECT_EQ(rejected(alice, mine), Errc::invalid_argument);
  EXPECT_TRUE(renews(bob, request(bob, 2), his.fence));
  EXPECT_EQ(nodes("/locks/a/leases").size(), 0U);
}

// ---- what need not be looked at again ----

// A semaphore's node that comes and goes would cost them what they have.
TEST_F(ZookeeperKinds, WhoeverHasItDoesNotLookAgain) {
  Peer alice = open();
  make_quiet(alice);
  const GrantRequest unread = request(alice, 1);
  const Granted yes = granted(alice, unread);
  make_semaphore();
  const auto before = alice.tree->questions();
  EXPECT_EQ(granted(alice, unread).fence, yes.fence);
  EXPECT_EQ(alice.tree->questions() - before, 1U);
}

TEST_F(ZookeeperKinds, AReaderInAWritersPlaceNeedNotLook_F078) {
  Peer alice = open();
  const GrantRequest first = writer(alice, 1);
  GrantRequest second = reader(alice, 2);
  second.instead_of = hold(first, granted(alice, first).fence);
  lose_an_answer_of(alice, second, 1);
  make_semaphore();
  const Granted yes = granted(alice, second);
  EXPECT_TRUE(renews(alice, second, yes.fence));
}

TEST_F(ZookeeperKinds, WhoeverWaitsLooksOnce) {
  Peer alice = open();
  Peer bob = open();
  granted(bob, permits(request(bob, 1), 1, 1));
  EXPECT_TRUE(withdraws(bob, permits(request(bob, 1), 1, 1)));
  const GrantRequest his = request(bob, 2);
  const Granted yes = granted(bob, his);
  const GrantRequest mine = request(alice, 1, true);
  refused(alice, mine);
  const auto before = alice.tree->questions();
  refused(alice, mine);
  EXPECT_EQ(alice.tree->questions() - before, 1U);
  EXPECT_TRUE(releases(bob, his, yes.fence));
  granted(alice, mine);
  EXPECT_EQ(alice.tree->questions() - before, 2U);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
