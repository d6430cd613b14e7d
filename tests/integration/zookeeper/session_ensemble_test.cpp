// A session with three servers that are one, and what becomes of it when they are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "integration/zookeeper/session_bench.hpp"
#include "support/servers/zookeeper_ensemble.hpp"
#include "support/stopwatch.hpp"

namespace holdfast::test {
namespace {

class ZooKeeperEnsembleSession : public testing::Test {
 protected:
  Address address_of(std::size_t which) { return Address::tcp(ensemble_[which].port()); }
  std::string url_of(std::size_t which, const std::string& options) {
    return "zk://" + ensemble_[which].host() + options;
  }
  std::string url(const std::string& options) const {
    return "zk://" + ensemble_.hosts() + options;
  }
  // The server that this session is connected to.
  std::size_t server_of(std::int64_t session) {
    for (std::size_t i = 0; i < ZookeeperEnsemble::kSize; ++i) {
      const auto there = zookeeper_sessions(ensemble_[i].word("cons"));
      if (std::find(there.begin(), there.end(), session) != there.end()) return i;
    }
    return ZookeeperEnsemble::kSize;
  }

  // A follower goes on talking for long enough, also where a session ends late.
  ZookeeperEnsemble ensemble_{{.silence = 9s}};
  SessionBench bench_;
};

// It goes on answering, and cannot know that the others have ended the session.
TEST_F(ZooKeeperEnsembleSession, AFollowerThatIsCutOffProvesNothing_F081_F085) {
  const std::size_t follower = ensemble_.a_follower();
  Session& session = bench_.open(url_of(follower, "?session=3s"));
  const std::int64_t number = session.session();
  session.keep_valid(true);
  ask(session, {.op = Op::create, .path = "/a", .mode = Mode::ephemeral});
  for (const Stopwatch watch; watch.elapsed() < 3s;) {
    ASSERT_GT(session.valid_until(), bench_.now());
    std::this_thread::sleep_for(1ms);  // who asks all the time keeps the session from its own lock
  }
  session.keep_valid(false);  // no more questions that only the leader can answer
  ensemble_.cut_off(follower);
  ZookeeperRaw other(address_of(ensemble_.leader()));
  int answers = 0;
  while (other.exists("/a")) {
    answers += ask(session, {.op = Op::exists, .path = "/a"}).code == Code::ok ? 1 : 0;
  }
  EXPECT_LE(session.valid_until(), bench_.now()) << "others may have had it since";
  EXPECT_EQ(ask(session, {.op = Op::exists, .path = "/a"}).code, Code::ok)
      << "the follower has not heard of it";
  EXPECT_GT(answers, 0);
  EXPECT_LE(session.valid_until(), bench_.now());
  ensemble_.join(follower);
  EXPECT_TRUE(bench_.heard().ends(number));
}

// Servers with this setting ask nobody before they say no.
TEST(ZooKeeperEagerEnsemble, AFollowerThatRefusesByItselfProvesNothing_F081_F087) {
  ZookeeperEnsemble ensemble(
      {.each = {.java = {"-Dzookeeper.enableEagerACLCheck=true"}}, .silence = 30s});
  SessionBench bench;
  const std::size_t follower = ensemble.a_follower();
  const std::string host = ensemble[follower].host();
  Session& owner = bench.open("zk://me:secret@" + host + "?session=60s");
  ASSERT_EQ(ask(owner, {.op = Op::create, .path = "/a"}).code, Code::ok);
  Session& other = bench.open("zk://" + host + "?session=60s");
  ensemble.cut_off(follower);
  const TimePoint before = other.valid_until();
  EXPECT_EQ(ask(other, {.op = Op::create, .path = "/a/b"}).code, Code::no_auth);
  EXPECT_EQ(other.valid_until(), before);
}

TEST_F(ZooKeeperEnsembleSession, StaysValidOverAFollower) {
  Session& session = bench_.open(url_of(ensemble_.a_follower(), "?session=4s"));
  session.keep_valid(true);
  ask(session, {.op = Op::create, .path = "/a", .mode = Mode::ephemeral});
  for (const Stopwatch watch; watch.elapsed() < 4s;) {
    ASSERT_GT(session.valid_until(), bench_.now()) << watch.elapsed() / 1ms;
    std::this_thread::sleep_for(1ms);  // who asks all the time keeps the session from its own lock
  }
  EXPECT_FALSE(bench_.heard().any_ended());
}

TEST_F(ZooKeeperEnsembleSession, GoesOnWithAnotherServer_F089) {
  Session& session = bench_.open(url("?session=10s"));
  const std::int64_t number = session.session();
  ask(session, {{.op = Op::create, .path = "/a", .mode = Mode::ephemeral},
                {.op = Op::exists, .path = "/b", .watch = true}});
  const std::size_t server = server_of(number);
  ASSERT_LT(server, ZookeeperEnsemble::kSize);
  ensemble_[server].kill();
  ASSERT_TRUE(comes_back(session));
  EXPECT_EQ(session.session(), number);
  EXPECT_NE(server_of(number), server);
  EXPECT_EQ(ask(session, {.op = Op::create, .path = "/b"}).code, Code::ok);
  EXPECT_TRUE(bench_.heard().comes("/b", Event::created));
  EXPECT_EQ(ask(session, {.op = Op::get_data, .path = "/a"}).stat.ephemeral_owner, number);
}

TEST_F(ZooKeeperEnsembleSession, OutlivesItsLeader_F089) {
  const std::size_t leader = ensemble_.leader();
  Session& session = bench_.open(url_of(ensemble_.a_follower(), "?session=10s"));
  const std::int64_t number = session.session();
  ask(session, {.op = Op::create, .path = "/a", .mode = Mode::ephemeral});
  ensemble_[leader].kill();
  ASSERT_TRUE(eventually(
      [&] { return std::holds_alternative<Answers>(outcome_of(session, {agreement()})); }));
  EXPECT_EQ(session.session(), number);
  EXPECT_EQ(ask(session, {.op = Op::get_data, .path = "/a"}).stat.ephemeral_owner, number);
}

TEST_F(ZooKeeperEnsembleSession, AServerThatStandsStillIsLeftBeforeAnythingIsLost_F005) {
  const std::size_t follower = ensemble_.a_follower();
  const std::size_t other = 3 - follower - ensemble_.leader();
  Session& session = bench_.open("zk://" + ensemble_[follower].host() + "," +
                                 ensemble_[other].host() + "?session=6s");
  session.keep_valid(true);
  const std::int64_t number = session.session();
  const std::size_t server = server_of(number);
  ASSERT_LT(server, ZookeeperEnsemble::kSize);
  ensemble_[server].pause();
  for (const Stopwatch watch; watch.elapsed() < 7s;) {
    ASSERT_GT(session.valid_until(), bench_.now()) << watch.elapsed() / 1ms;
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(session.session(), number);
  ensemble_[server].resume();
}

}  // namespace
}  // namespace holdfast::test
