// Lines that need not be read, and all that makes them unquiet.
#include "store/zookeeper/quiet_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "integration/zookeeper/lock_bench.hpp"
#include "store/zookeeper/layout.hpp"
#include "store/zookeeper/line.hpp"
#include "support/effort.hpp"
#include "support/seeded_random.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperQuietLines : public LockBench {
 protected:
  // Acquires and gives back, and tells how many listings that took.
  std::uint64_t listings_of_one(Peer& peer) {
    const auto before = all_->listings();
    const GrantRequest mine = next_request(peer);
    EXPECT_TRUE(releases(peer, mine, granted(peer, mine).fence));
    return all_->listings() - before;
  }
  GrantRequest next_request(const Peer& peer) { return request(peer, ++claims_); }
  // Until the line need not be read any more.
  void make_quiet(Peer& peer) {
    for (int i = 0; i < 10; ++i) {
      if (listings_of_one(peer) == 0) return;
    }
    ADD_FAILURE() << "the line is read again and again";
  }

  // What is given back and what is asked for right behind it, neither of which has reached the server.
  struct Behind {
    Answer<ReleaseReply> given_back;
    Answer<GrantReply> next;
  };
  void give_back_and_ask(Peer& peer, Behind& both) {
    const GrantRequest mine = next_request(peer);
    const Granted yes = granted(peer, mine);
    peer.tree->set(Wire::held);
    peer.store->release(hold(mine, yes.fence), both.given_back.call());
    peer.store->try_grant(next_request(peer), both.next.call());
  }

  // False: somebody stands there.
  bool reap_and_make_line() {
    for (int i = 0; i < 2; ++i) all_->reap();  // a semaphore's folders, and what they stand in
    if (all_->stat("/locks/a")) return false;
    all_->do_it({.op = Op::create_container, .path = "/locks"});
    all_->do_it({.op = Op::create_container, .path = "/locks/a"});
    return true;
  }
  // The parent goes and is made again, with somebody in the line and all the numbers used up that were used before.
  void somebody_takes_it_in_a_line_made_anew() {
    const std::int32_t numbers = all_->stat("/locks/a")->cversion / 2;  // each came and went
    ASSERT_TRUE(reap_and_make_line());
    const std::string holder = make_foreign("/locks/a/" + foreign_);
    ASSERT_TRUE(holder.ends_with("lock-0000000000"));
    all_->set_created("/locks/a", numbers);
  }

  const std::string foreign_ = "_c_0aa7e5a0-0000-4000-8000-000000000000-lock-";
  std::uint64_t claims_ = 0;
};

TEST_F(ZookeeperQuietLines, NeedNotBeRead) {
  Peer alice = open();
  make_quiet(alice);
  for (int i = 0; i < 5; ++i) {
    const auto questions = alice.tree->questions();
    EXPECT_EQ(listings_of_one(alice), 0U);
    EXPECT_EQ(alice.tree->questions() - questions, 2U);
  }
}

TEST_F(ZookeeperQuietLines, AreThoseOfReadersAndWritersToo) {
  Peer alice = open();
  for (int i = 0; i < 10; ++i) {
    const auto before = all_->listings();
    const Shape shape = i % 2 == 0 ? Shape::shared() : Shape::exclusive();
    const GrantRequest mine = shared(next_request(alice), shape);
    EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
    if (i > 5) {
      EXPECT_EQ(all_->listings(), before);
    }
  }
}

TEST_F(ZookeeperQuietLines, NobodyIsToldAboutLocksThatAreTakenOnceOrTwice) {
  Peer alice = open();
  listings_of_one(alice);
  listings_of_one(alice);
  EXPECT_EQ(all_->watches(), 0U);
}

// ---- somebody comes ----

TEST_F(ZookeeperQuietLines, WhoeverCameBetweenIsSeenByTheNumber) {
  Peer alice = open();
  make_quiet(alice);
  const std::string holder = make_foreign("/locks/a/" + foreign_);
  refused(alice, next_request(alice));
  remove_foreign(holder);
  EXPECT_EQ(listings_of_one(alice), 1U);
}

TEST_F(ZookeeperQuietLines, WhoeverCameAndWentIsSeenToo) {
  Peer alice = open();
  make_quiet(alice);
  remove_foreign(make_foreign("/locks/a/" + foreign_));
  EXPECT_EQ(listings_of_one(alice), 1U);
  EXPECT_EQ(listings_of_one(alice), 1U) << "others come by: it is not quiet any more";
  make_quiet(alice);
}

TEST_F(ZookeeperQuietLines, AForeignNodeWithoutANumberIsSeen) {
  Peer alice = open();
  make_quiet(alice);
  make_foreign("/locks/a/__WRIT__0000000000", Mode::ephemeral);
  EXPECT_EQ(rejected(alice, next_request(alice)), Errc::invalid_argument);
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(ZookeeperQuietLines, ASemaphoreOfThatNameIsSeen) {
  Peer alice = open();
  Peer bob = open();
  make_quiet(alice);
  granted(bob, permits(request(bob, 1), 1, 1));
  EXPECT_EQ(rejected(alice, next_request(alice)), Errc::invalid_argument);
}

TEST_F(ZookeeperQuietLines, AreNotThoseInWhichSeveralOfOursStand) {
  Peer alice = open();
  make_quiet(alice);
  const GrantRequest first = next_request(alice);
  const Granted yes = granted(alice, first);
  const auto before = alice.tree->questions();
  refused(alice, next_request(alice));
  EXPECT_EQ(alice.tree->questions() - before, 2U) << "nobody guesses that it is alone";
  EXPECT_TRUE(renews(alice, first, yes.fence));
}

TEST_F(ZookeeperQuietLines, AreNotBelievedIfAnotherClientHadThem) {
  Peer alice = open();
  Peer bob = open();
  make_quiet(alice);
  make_quiet(bob);
  const GrantRequest his = next_request(bob);
  granted(bob, his);
  refused(alice, next_request(alice));
}

TEST_F(ZookeeperQuietLines, TwoThatTakeTurnsDoNotGuess) {
  Peer alice = open();
  Peer bob = open();
  listings_of_one(alice);
  for (int i = 0; i < 10; ++i) {
    const auto questions = alice.tree->questions() + bob.tree->questions();
    listings_of_one(bob);
    listings_of_one(alice);
    EXPECT_EQ(alice.tree->questions() + bob.tree->questions() - questions, 4U);
  }
}

// A right guess saves the servers a reading, a wrong one costs us a round trip: so it must not be wrong again and again.
TEST_F(ZookeeperQuietLines, ThoseThatAreQuietForAFewTimesOnlyAreNotGuessedForLong) {
  Peer alice = open();
  Peer bob = open();
  const auto round_trips_of_a_burst = [&] {
    const auto before = alice.tree->questions();
    for (int i = 0; i < 6; ++i) listings_of_one(alice);
    listings_of_one(bob);
    return alice.tree->questions() - before;
  };
  for (int i = 0; i < 8; ++i) round_trips_of_a_burst();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(round_trips_of_a_burst(), 12U);
}

TEST_F(ZookeeperQuietLines, ThoseThatAreQuietForLongAreGuessedAgainAfterSomebodyCame) {
  Peer alice = open();
  Peer bob = open();
  std::uint64_t listings = 0;
  for (int burst = 0; burst < 20; ++burst) {
    listings = 0;
    for (int i = 0; i < 40; ++i) listings += listings_of_one(alice);
    listings_of_one(bob);
  }
  EXPECT_LE(listings, 6U);
}

TEST_F(ZookeeperQuietLines, NobodyGuessesOverAnotherConnection_F082) {
  Peer alice = open();
  make_quiet(alice);
  alice.tree->set(Wire::lost);
  alice.tree->set(Wire::up);
  const auto questions = alice.tree->questions();
  EXPECT_EQ(listings_of_one(alice), 1U);
  EXPECT_EQ(alice.tree->questions() - questions, 2U);
  make_quiet(alice);
}

TEST_F(ZookeeperQuietLines, TheLastNumberIsNobodys_F086) {
  for (const char* foreigner : {"_c_00000000", "_c_ffffffff"}) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    Peer alice = open();
    listings_of_one(alice);
    constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
    all_->set_created("/locks/a", kLast - 9);
    for (int i = 0; i < 9; ++i) listings_of_one(alice);
    EXPECT_EQ(all_->created("/locks/a"), kLast);
    make_foreign(std::string("/locks/a/") + foreigner + "-0000-4000-8000-000000000000-lock-");
    EXPECT_EQ(rejected(alice, next_request(alice)), Errc::store_full);
    EXPECT_EQ(nodes().size(), 1U);
  }
}

// ---- the parent goes ----

TEST_F(ZookeeperQuietLines, NumbersThatFitByChanceAreNotBelieved_F084_F086) {
  Peer alice = open();
  make_quiet(alice);
  somebody_takes_it_in_a_line_made_anew();
  refused(alice, next_request(alice));
}

// So the test above would see it: here the watch is left behind its back.
TEST_F(ZookeeperQuietLines, NumbersThatFitByChanceWouldBeBelievedWithoutTheWatch_F084_F086) {
  Peer alice = open();
  make_quiet(alice);
  alice.tree->leave_watch("/locks/a");
  somebody_takes_it_in_a_line_made_anew();
  granted(alice, next_request(alice));
}

TEST_F(ZookeeperQuietLines, AWatchThatWasRefusedIsNone) {
  Peer alice = open();
  for (int i = 0; i < 10; ++i) {
    alice.tree->refuse_next(Op::exists, Code::no_auth);
    EXPECT_EQ(listings_of_one(alice), 1U);
  }
}

TEST_F(ZookeeperQuietLines, AnotherConnectionKnowsNothing_F082) {
  for (const Wire trouble : {Wire::lost, Wire::silent, Wire::deaf}) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    Peer alice = open();
    make_quiet(alice);
    alice.tree->set(trouble);
    alice.tree->leave_watch("/locks/a");  // whatever became of it meanwhile
    alice.tree->set(Wire::up);
    somebody_takes_it_in_a_line_made_anew();
    refused(alice, next_request(alice));
  }
}

TEST_F(ZookeeperQuietLines, AnotherSessionKnowsNothing_F080) {
  Peer alice = open();
  make_quiet(alice);
  alice.tree->expire_here_only();
  somebody_takes_it_in_a_line_made_anew();
  refused(alice, next_request(alice));
}

// ---- our own node ----

TEST_F(ZookeeperQuietLines, ARequestBehindAReleaseThatIsUnderWayNeedsNoListing) {
  Peer alice = open();
  make_quiet(alice);
  Behind both;
  give_back_and_ask(alice, both);
  const auto before = all_->listings();
  alice.tree->let_go();
  EXPECT_NE(both.given_back.get<Released>(), nullptr);
  EXPECT_NE(both.next.get<Granted>(), nullptr);
  EXPECT_EQ(all_->listings(), before);
}

TEST_F(ZookeeperQuietLines, AReleaseThatWasNotAnsweredProvesNothing_F078) {
  Peer alice = open();
  make_quiet(alice);
  Behind both;
  give_back_and_ask(alice, both);
  const auto before = all_->listings();
  alice.tree->lose_next_answer();
  alice.tree->let_go();
  EXPECT_NE(both.next.get<Granted>(), nullptr);
  EXPECT_EQ(all_->listings(), before + 1);
}

TEST_F(ZookeeperQuietLines, ANodeThatTheServerDoesNotDeleteIsInTheWay_F087) {
  Peer alice = open();
  make_quiet(alice);
  Behind both;
  give_back_and_ask(alice, both);
  alice.tree->refuse_next(Op::remove, Code::no_auth);
  alice.tree->let_go();
  EXPECT_EQ(both.next.get<Granted>(), nullptr);
}

TEST_F(ZookeeperQuietLines, AHoldThatLapsedIsNotTakenForOneThatWasGivenBack) {
  Peer alice = open();
  make_quiet(alice);
  granted(alice, next_request(alice));
  alice.tree->set(Wire::held);
  let_pass(kLease + 1s);
  Answer<GrantReply> next;
  alice.store->try_grant(next_request(alice), next.call());
  alice.tree->let_go();
  EXPECT_EQ(nodes().size(), 1U) << "it is being deleted, and that has not come to the server";
  EXPECT_NE(next.get<Refused>(), nullptr);
}

// ---- on its own ----

class ZookeeperQuietLine : public ZookeeperQuietLines {
 protected:
  std::string node(int number) const {
    return "/a/" + foreign_ + "000000000" + std::to_string(number);
  }
  void was_alone(int number, const QuietLines::Look& look, std::uint64_t connection = 1) {
    const std::string made = node(number);
    lines_.was_read("/a", {made, connection, kSession}, look,
                    {.alone = true, .watch_set = look.watch != 0});
    lines_.left(made);
  }
  // Three in a row, and the wish for a watch.
  QuietLines::Look make_quiet_until(int number) {
    for (int i = number - 2; i <= number; ++i) was_alone(i, {});
    const QuietLines::Look look = lines_.next_look("/a", 1);
    EXPECT_NE(look.watch, 0U);
    return look;
  }
  bool is_alone(int number, std::uint64_t connection = 1) {
    return lines_.is_alone("/a", {node(number), connection, kSession});
  }
  static constexpr std::int64_t kSession = 1001;

  MemoryTree tree_{all_, clock_, kTimeout};
  WantedWatches watches_{tree_};
  QuietLines lines_{watches_};
};

TEST_F(ZookeeperQuietLine, IsKnownWhenTheWatchStands) {
  const QuietLines::Look look = make_quiet_until(3);
  EXPECT_TRUE(look.list);
  was_alone(4, look);
  EXPECT_FALSE(lines_.next_look("/a", 1).list);
  EXPECT_TRUE(is_alone(5));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedOverAnotherConnection) {
  was_alone(4, make_quiet_until(3));
  EXPECT_FALSE(is_alone(5, 2));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedInTheNextSession_F080) {
  was_alone(4, make_quiet_until(3));
  lines_.session_ended(kSession);
  EXPECT_FALSE(is_alone(5));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedAfterANodeThatWasNotAlone) {
  was_alone(4, make_quiet_until(3));
  const std::string five = node(5);
  lines_.was_read("/a", {five, 1}, {}, {.alone = false});
  lines_.left(five);
  EXPECT_FALSE(is_alone(6));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedBeforeTheWatchStands) {
  make_quiet_until(3);
  EXPECT_FALSE(is_alone(4));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedIfTheWatchFiredBeforeTheListing) {
  const QuietLines::Look look = make_quiet_until(3);
  lines_.fired("/a");
  was_alone(4, look);
  EXPECT_FALSE(is_alone(5));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedForTheWatchOfAnEarlierWish) {
  const QuietLines::Look look = make_quiet_until(3);
  lines_.fired("/a");
  make_quiet_until(6);
  was_alone(7, look);
  EXPECT_FALSE(is_alone(8));
}

TEST_F(ZookeeperQuietLine, IsNotBelievedForTheWatchOfAnEarlierConnection) {
  was_alone(4, make_quiet_until(3));
  was_alone(5, {}, 2);
  EXPECT_FALSE(is_alone(6, 2));
}

// Two that are looked at before the first is known to be alone say nothing about others.
TEST_F(ZookeeperQuietLine, IsNoLessQuietForSeveralOfOurs) {
  was_alone(4, make_quiet_until(3));
  EXPECT_TRUE(is_alone(5));
  EXPECT_FALSE(is_alone(6));
  EXPECT_FALSE(is_alone(7));
  const std::string six = node(6);
  lines_.was_read("/a", {six, 1}, {}, {.alone = false});
  for (int i = 7; i <= 9; ++i) was_alone(i, {});
  EXPECT_FALSE(lines_.next_look("/a", 1).list);
}

TEST_F(ZookeeperQuietLine, IsForgottenAmongAThousandThatAreUsedOnce) {
  const auto is_quiet_after = [&](const std::string& prefix, int others) {
    was_alone(1, {});
    was_alone(2, {});
    for (int i = 0; i < others; ++i) {
      const std::string line = prefix + std::to_string(i);
      lines_.was_read(line, {line + "/" + foreign_ + "0000000001", 1}, {}, {.alone = true});
    }
    was_alone(3, {});
    return lines_.next_look("/a", 1).watch != 0;
  };
  EXPECT_TRUE(is_quiet_after("/b", 900));
  lines_.fired("/a");
  EXPECT_FALSE(is_quiet_after("/c", 1100));
}

TEST_F(ZookeeperQuietLine, IsNotWatchedBySomebodyWhoHasForgottenIt) {
  all_->do_it({.op = Op::create_container, .path = "/a"});
  const QuietLines::Look look = make_quiet_until(3);
  lines_.fired("/a");
  tree_.ask({{.op = Op::exists, .path = "/a", .watch = true}}, kNever, false, 0,
            [](const Outcome&) {});
  EXPECT_EQ(all_->wanted_watches(), 1U);
  was_alone(4, look);
  EXPECT_EQ(all_->wanted_watches(), 0U);
}

TEST_F(ZookeeperQuietLine, DoesNotEndWithAnotherNode) {
  was_alone(3, make_quiet_until(2));
  const std::string four = node(4);
  EXPECT_TRUE(is_alone(4));
  lines_.left("/a/_c_0bb7e5a0-0000-4000-8000-000000000000-lock-0000000004");
  EXPECT_FALSE(is_alone(5));
  lines_.left(four);
  EXPECT_TRUE(is_alone(5));
}

// ---- by chance ----

// Two clients use the lock as this or that, now one of them alone, now both: they share it, wait for it, step down. In
// between others come and go, the line is made anew with numbers that are meant to deceive, connections break, sessions
// end, answers are lost. Each grant is held against what really stands there.
class ZookeeperQuietLinesByChance : public ZookeeperQuietLines {
 protected:
  void play(std::uint64_t seed) {
    chance_ = test::SeededRandom(seed);
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    claims_.clear();
    foreigner_.clear();
    dying_.clear();
    peers_.clear();
    for (int i = 0; i < 2; ++i) peers_.push_back(open());
    for (int phase = 0; phase < 12 && !HasFailure(); ++phase) {
      use_again_and_again(any_peer());
      for (std::uint64_t i = chance_.below(4); i > 0; --i) disturb(any_peer());
      for (std::uint64_t i = chance_.below(4); i > 0; --i) {
        chance_.chance(20) ? attempt_in_part(any_peer()) : attempt(any_peer());
      }
      for (const Peer& each : peers_) end_some_of(each);
      go_on();
      for (const Claim& each : claims_) expect_nobody_else_has_it(each);
    }
  }

  std::uint64_t grants_ = 0;
  std::uint64_t unread_ = 0;  // of these, without a listing

 private:
  enum class State : std::uint8_t { wants, has, ends, over };
  struct Claim {
    Peer* peer = nullptr;
    GrantRequest request;
    std::uint64_t fence = 0;
    State state = State::wants;
    bool is_unanswered = false;
  };

  Peer& any_peer() { return peers_[chance_.below(peers_.size())]; }
  GrantRequest any_request(const Peer& peer) {
    GrantRequest mine = next_request(peer);
    mine.line_up = chance_.chance(50);
    switch (chance_.below(8)) {
      case 0:
        return permits(mine, 1, 1);  // seldom: as long as its folders are there no line is quiet
      case 1:
        return shared(mine, Shape::exclusive());
      case 2:
      case 3:
        return shared(mine, Shape::shared());
      default:
        return mine;
    }
  }

  // ---- what clients do ----

  // That makes the line quiet, if nobody else is there.
  void use_again_and_again(Peer& peer) {
    for (std::uint64_t i = chance_.below(8); i > 0; --i) {
      Claim claim{.peer = &peer, .request = next_request(peer)};
      if (chance_.chance(30)) claim.request = shared(claim.request, Shape::shared());
      ask_for(claim);
      if (claim.state != State::over) end(claim);
    }
  }
  void attempt(Peer& peer) {
    claims_.push_back({.peer = &peer, .request = any_request(peer)});
    ask_for(claims_.back());
  }
  void attempt_in_part(Peer& peer) {
    claims_.push_back({.peer = &peer, .request = any_request(peer)});
    ask_in_part(claims_.back());
  }
  void end_some_of(const Peer& peer) {
    for (Claim& each : claims_) {
      if (each.peer == &peer && each.state != State::over && chance_.chance(60)) end(each);
    }
  }
  void go_on() {
    for (Claim& each : claims_) {
      if (each.state == State::wants) ask_for(each);
      if (each.state == State::has && chance_.chance(30)) step_down(each);
    }
    std::erase_if(claims_, [](const Claim& each) { return each.state == State::over; });
  }

  void ask_for(Claim& claim) {
    const auto before = all_->listings();
    const GrantReply reply = ask(*claim.peer, claim.request);
    note(claim, reply);
    if (std::holds_alternative<Granted>(reply) && all_->listings() == before) ++unread_;
  }
  // Of the questions that this takes one is done and not answered, the first or a later one.
  void ask_in_part(Claim& claim) {
    Answer<GrantReply> answer;
    MemoryTree& tree = *claim.peer->tree;
    tree.set(Wire::held);
    claim.peer->store->try_grant(claim.request, answer.call());
    for (std::uint64_t i = chance_.below(3); i > 0; --i) tree.let_one_go();
    if (tree.held() > 0) tree.lose_next_answer();
    tree.let_go();
    tree.set(Wire::up);
    note(claim, answer.reply());
    if (claim.state == State::ends) end(claim);
  }
  void note(Claim& claim, const GrantReply& reply) {
    claim.is_unanswered = std::holds_alternative<NoAnswer>(reply);
    if (const auto* const yes = std::get_if<Granted>(&reply)) {
      claim.fence = yes->fence;
      claim.state = State::has;
      expect_nobody_else_has_it(claim);
      ++grants_;
    } else if (claim.is_unanswered) {
      if (chance_.chance(50)) claim.state = State::ends;  // else it asks once more
    } else if (std::holds_alternative<Rejected>(reply) || !claim.request.line_up) {
      claim.state = State::over;
    }
  }
  void step_down(Claim& claim) {
    if (claim.request.kind != Kind::shared_mutex || claim.request.shape == Shape::shared()) return;
    GrantRequest reader = shared(next_request(*claim.peer), Shape::shared());
    reader.instead_of = hold(claim.request, claim.fence);
    claim.request = std::move(reader);
    claim.state = State::wants;
    ask_for(claim);
    EXPECT_EQ(claim.state, State::has);
  }
  // Without an answer it is not known to be over, and has to be ended once more.
  void end(Claim& claim) {
    const bool is_over = std::exchange(claim.state, State::ends) == State::has
                             ? releases(*claim.peer, claim.request, claim.fence)
                             : withdraws(*claim.peer, claim.request);
    if (is_over) claim.state = State::over;
  }

  // ---- what befalls them ----

  void disturb(Peer& peer) {
    switch (chance_.below(5)) {
      case 0:
        return come_or_go();
      case 1:
        return break_connection(peer);
      case 2:
        return end_session(peer);
      default:
        return make_anew();
    }
  }
  // A semaphore's holder could not help it if somebody came who does not know semaphores.
  void come_or_go() {
    for (const std::int64_t each : std::exchange(dying_, {})) bury(each);
    if (!foreigner_.empty()) return remove_foreign(std::exchange(foreigner_, {}));
    if (!all_->stat("/locks/a") || has_semaphore()) return;
    const std::string mark = "/locks/a/_c_0aa7e5a0-0000-4000-8000-000000000000-";
    constexpr const char* kTags[] = {"lock-", "__READ__", "__WRIT__"};
    foreigner_ = make_foreign(mark + kTags[chance_.below(std::size(kTags))]);
  }
  // What is given back or asked for may be done or not, and nobody is told.
  void break_connection(Peer& peer) {
    constexpr Wire kBroken[] = {Wire::lost, Wire::silent, Wire::deaf};
    peer.tree->set(kBroken[chance_.below(std::size(kBroken))]);
    chance_.chance(50) ? end_some_of(peer) : attempt(peer);
    if (chance_.chance(50)) peer.tree->leave_watch("/locks/a");
    if (chance_.chance(50)) make_anew();
    peer.tree->set(Wire::up);
    for (Claim& each : claims_) {
      if (each.state == State::ends) end(each);
    }
  }
  void end_session(Peer& peer) {
    std::erase_if(claims_, [&](const Claim& each) { return each.peer == &peer; });
    if (chance_.chance(50)) return peer.tree->expire();
    dying_.push_back(peer.tree->session());
    peer.tree->expire_here_only();
  }
  void make_anew() {
    if (!all_->stat("/locks/a")) return;
    // The next one may have the number that somebody expects, but not the foreigner's.
    const std::int32_t expected = all_->created("/locks/a");
    const auto next = std::max(expected - 1 + static_cast<std::int32_t>(chance_.below(3)), 1);
    if (!reap_and_make_line()) return;
    if (chance_.chance(50)) come_or_go();
    all_->set_created("/locks/a", next);
  }

  // ---- what is true ----

  bool has_semaphore() const {
    return !nodes("/locks/a/locks").empty() || !nodes("/locks/a/leases").empty();
  }
  // Without those of claims that were not answered: they have not seen yet whom they came behind.
  std::vector<std::string> nodes_of_answered(const std::string& path = "/locks/a") const {
    std::vector<std::string> names = nodes(path);
    for (const Claim& each : claims_) {
      if (!each.is_unanswered) continue;
      const std::string mark = mark_of(each.request.owner);
      std::erase_if(names, [&](const std::string& name) { return name.starts_with(mark); });
    }
    return names;
  }
  void expect_nobody_else_has_it(const Claim& claim) const {
    if (claim.state != State::has) return;
    if (claim.request.kind == Kind::semaphore) {
      EXPECT_FALSE(kind_in_use(nodes_of_answered())) << "somebody has it as something else";
      EXPECT_EQ(nodes("/locks/a/leases").size(), 1U);
      return;
    }
    const Line line(claim.request.kind, nodes());
    const auto own = line.begin_with(mark_of(claim.request.owner));
    ASSERT_EQ(own.size(), 1U);
    const std::size_t place = line.find(own.front()).value();
    EXPECT_TRUE(line.holds(place)) << "somebody else has it";
    EXPECT_FALSE(line.other_kind_before(place)) << "somebody has it as something else";
    EXPECT_TRUE(nodes_of_answered("/locks/a/locks").empty()) << "somebody waits for a permit";
    EXPECT_TRUE(nodes("/locks/a/leases").empty()) << "somebody has a permit";
  }

  test::SeededRandom chance_{0};
  std::vector<Peer> peers_;
  std::vector<Claim> claims_;
  std::string foreigner_;
  std::vector<std::int64_t> dying_;  // sessions that only their clients know to be over
};

TEST_F(ZookeeperQuietLinesByChance, NobodyHasItBesideAnotherOrAsSomethingElse_F078_F080_F084_F086) {
  for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 300 : 3000) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(seed);
  }
  std::printf("%llu grants, %llu without a listing\n", static_cast<unsigned long long>(grants_),
              static_cast<unsigned long long>(unread_));
  EXPECT_GT(grants_, 1000U);
  EXPECT_GT(unread_, 100U);
}

// ---- how many ----

TEST_F(ZookeeperQuietLines, AreRememberedByTheThousandAndNotMore) {
  Peer alice = open();
  const auto use = [&](const std::string& name) {
    const auto before = all_->listings();
    GrantRequest mine = next_request(alice);
    mine.name = lock_name(name);
    EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
    return all_->listings() - before;
  };
  const auto use_all = [&](const char* prefix) {
    for (int i = 0; i < 1500; ++i) {
      for (int round = 0; round < 5; ++round) use(prefix + std::to_string(i));
    }
  };
  use_all("early");
  EXPECT_EQ(all_->watches(), 1024U);
  EXPECT_EQ(use("early0"), 0U);
  EXPECT_EQ(use("early1499"), 1U);
  use_all("late");
  EXPECT_EQ(all_->watches(), 1024U) << "one that is left stays with the server: so none is left";
  all_->reap();
  EXPECT_EQ(all_->watches(), 0U);
  use_all("late");
  EXPECT_EQ(all_->watches(), 1024U);
  EXPECT_EQ(use("late0"), 0U);
  alice.tree->set(Wire::lost);
  alice.tree->set(Wire::up);
  for (int i = 0; i < 1024; ++i) use("late" + std::to_string(i));
  use_all("other");
  EXPECT_EQ(use("other0"), 1U) << "watches are set again over the next connection";
  use_all("late");
  EXPECT_EQ(use("late0"), 0U);
  alice.tree->expire();
  use_all("last");
  EXPECT_EQ(all_->watches(), 1024U) << "those of a session that ended are still counted";
}

// As many locks as there are watches. The question that asks for one is not answered, or its node is not made.
TEST_F(ZookeeperQuietLines, AWatchThatCameToNothingLeavesRoomForOthers_F078_F087) {
  enum class Trouble { not_asked, unanswered, refused, not_made };
  for (const auto trouble :
       {Trouble::not_asked, Trouble::unanswered, Trouble::refused, Trouble::not_made}) {
    SCOPED_TRACE(static_cast<int>(trouble));
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    Peer alice = open();
    const auto use = [&](const std::string& name) {
      const auto before = all_->listings();
      GrantRequest mine = next_request(alice);
      mine.name = lock_name(name);
      EXPECT_TRUE(releases(alice, mine, granted(alice, mine).fence));
      return all_->listings() - before;
    };
    for (int i = 0; i < 1024; ++i) {
      const std::string name = "once" + std::to_string(i);
      for (int round = 0; round < 3; ++round) use(name);
      GrantRequest mine = next_request(alice);
      mine.name = lock_name(name);
      Answer<GrantReply> answer;
      alice.tree->set(Wire::held);
      alice.store->try_grant(mine, answer.call());
      switch (trouble) {
        case Trouble::not_asked:
          alice.tree->forget_held();
          break;
        case Trouble::unanswered:
          alice.tree->lose_next_answer();
          break;
        case Trouble::not_made:
          alice.tree->refuse_next(Op::create, Code::no_auth);
          [[fallthrough]];
        case Trouble::refused:
          alice.tree->refuse_next(Op::exists, Code::no_auth);
          break;
      }
      alice.tree->let_go();
      alice.tree->set(Wire::up);
      EXPECT_EQ(answer.get<Granted>() != nullptr, trouble == Trouble::refused);
      EXPECT_TRUE(withdraws(alice, mine));
    }
    EXPECT_EQ(all_->wanted_watches(), 0U);
    all_->reap();
    for (int round = 0; round < 5; ++round) use("shard");
    EXPECT_EQ(use("shard"), 0U) << "no watch is left for it";
  }
}

// It is with the servers, which keep it, though no node was made along with it.
TEST_F(ZookeeperQuietLines, AWatchThatIsWithTheServersIsCountedWhateverBecameOfTheNode_F087) {
  Peer alice = open();
  for (int i = 0; i < 3; ++i) listings_of_one(alice);
  alice.tree->refuse_next(Op::create, Code::no_auth);
  unanswered(alice, next_request(alice));
  EXPECT_EQ(all_->wanted_watches(), 1U);
  EXPECT_EQ(listings_of_one(alice), 1U);
  EXPECT_EQ(listings_of_one(alice), 0U);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
