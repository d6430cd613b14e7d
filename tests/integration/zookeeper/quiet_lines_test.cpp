// Lines that need not be read, and all that makes them unquiet.
#include "store/zookeeper/quiet_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "integration/zookeeper/lock_bench.hpp"
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

  // The parent goes and is made again, with somebody in the line and all the numbers used up that were used before.
  void somebody_takes_it_in_a_line_made_anew() {
    const std::int32_t numbers = all_->stat("/locks/a")->cversion / 2;  // each came and went
    all_->reap();
    ASSERT_FALSE(all_->stat("/locks/a"));
    all_->do_it({.op = Op::create_container, .path = "/locks"});
    all_->do_it({.op = Op::create_container, .path = "/locks/a"});
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

// So the test above would see it: here the watch is taken away from below.
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
  const GrantRequest mine = next_request(alice);
  granted(alice, mine);
  alice.tree->expire_here_only();  // the old node is still there
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
  alice.tree->set(Wire::lost);  // its node stays
  let_pass(kLease + 1s);
  alice.tree->set(Wire::up);
  EXPECT_EQ(listings_of_one(alice), 1U);
}

// ---- on its own ----

class ZookeeperQuietLine : public ZookeeperQuietLines {
 protected:
  std::string node(int number) const {
    return "/a/" + foreign_ + "000000000" + std::to_string(number);
  }
  void was_alone(int number, const QuietLines::Look& look, std::uint64_t connection = 1) {
    const std::string made = node(number);
    lines_.was_read("/a", {made, connection}, look, {.alone = true, .watch_set = look.watch != 0});
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
    return lines_.is_alone("/a", {node(number), connection});
  }

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
  EXPECT_EQ(all_->watches(), 1U);
  was_alone(4, look);
  EXPECT_EQ(all_->watches(), 0U);
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

// One client after the other has the lock to itself for a while. In between others come and go, the line is made anew
// with numbers that are meant to deceive, connections break, sessions end, answers are lost.
class ZookeeperQuietLinesByChance : public ZookeeperQuietLines {
 protected:
  struct Player {
    Peer peer;
    std::optional<GrantRequest> held{};
    std::uint64_t fence = 0;
  };

  void play(std::uint64_t seed) {
    test::SeededRandom random(seed);
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    foreigner_.clear();
    std::vector<Player> players;
    for (int i = 0; i < 2; ++i) players.push_back({.peer = open()});
    for (int phase = 0; phase < 12 && !HasFailure(); ++phase) {
      Player& one = players[random.below(players.size())];
      for (std::uint64_t i = random.below(8); i > 0; --i) {
        attempt(players, one);
        give_back(one);
      }
      for (std::uint64_t i = random.below(4); i > 0; --i) disturb(players, random);
      for (std::uint64_t i = random.below(4); i > 0; --i) {
        attempt(players, players[random.below(players.size())]);
      }
      for (Player& each : players) {
        if (random.below(3) > 0) give_back(each);
      }
    }
  }

 private:
  void attempt(std::vector<Player>& players, Player& player) {
    if (player.held) return;
    const GrantRequest mine = next_request(player.peer);
    const GrantReply reply = ask(player.peer, mine);
    const auto* yes = std::get_if<Granted>(&reply);
    if (yes == nullptr) return;
    for (const Player& each : players) EXPECT_FALSE(each.held) << "two have it";
    EXPECT_TRUE(foreigner_.empty()) << "somebody else has it";
    player.held = mine;
    player.fence = yes->fence;
    ++grants_;
  }
  void give_back(Player& player) {
    if (player.held) release(player.peer, *std::exchange(player.held, std::nullopt), player.fence);
  }

  void disturb(std::vector<Player>& players, test::SeededRandom& random) {
    Player& player = players[random.below(players.size())];
    switch (random.below(5)) {
      case 0:
        return come_or_go();
      case 1:
        return make_anew(random);
      case 2: {  // what is given back or asked for may be done or not, and nobody is told
        constexpr Wire kBroken[] = {Wire::lost, Wire::silent, Wire::deaf};
        player.peer.tree->set(kBroken[random.below(std::size(kBroken))]);
        random.below(2) == 0 ? give_back(player) : attempt(players, player);
        if (random.below(2) == 0) player.peer.tree->leave_watch("/locks/a");
        if (random.below(2) == 0) make_anew(random);
        return player.peer.tree->set(Wire::up);
      }
      case 3:
        player.held.reset();
        return random.below(2) == 0 ? player.peer.tree->expire()
                                    : player.peer.tree->expire_here_only();
      default:
        return make_anew(random);
    }
  }
  // The foreigner is alone when it comes.
  void come_or_go() {
    if (!foreigner_.empty()) return remove_foreign(std::exchange(foreigner_, {}));
    if (nodes().empty() && all_->stat("/locks/a"))
      foreigner_ = make_foreign("/locks/a/" + foreign_);
  }
  void make_anew(test::SeededRandom& random) {
    const auto before = all_->stat("/locks/a");
    if (!before || before->num_children > 0) return;
    // The next one may have the number that somebody expects, but not the foreigner's.
    const std::int32_t expected = all_->created("/locks/a");
    const auto next = std::max(expected - 1 + static_cast<std::int32_t>(random.below(3)), 1);
    all_->do_it({.op = Op::remove, .path = "/locks/a"});
    all_->do_it({.op = Op::create_container, .path = "/locks/a"});
    if (random.below(2) == 0) come_or_go();
    all_->set_created("/locks/a", next);
  }

 protected:
  std::uint64_t grants_ = 0;

 private:
  std::string foreigner_;
};

TEST_F(ZookeeperQuietLinesByChance, NobodyHasItBesideAnother_F078_F080_F084_F086) {
  for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 300 : 3000) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    play(seed);
  }
  std::printf("%llu grants, %llu listings in the last game\n",
              static_cast<unsigned long long>(grants_),
              static_cast<unsigned long long>(all_->listings()));
  EXPECT_GT(grants_, 1000U);
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

}  // namespace
}  // namespace holdfast::store::zookeeper
