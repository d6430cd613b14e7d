// A session whose connections break, fall silent or say nonsense, whose server goes, and whose time is up.
#include <gmock/gmock.h>

#include <thread>

#include "integration/zookeeper/session_bench.hpp"
#include "support/stopwatch.hpp"

namespace holdfast::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class ZooKeeperLink : public testing::Test {
 protected:
  ZooKeeperLink() { raw().create(base_); }

  std::string url(const std::string& options = "?session=2s") const {
    return "zk://" + proxy_.address().text() + base_ + options;
  }
  std::string at(const std::string& name) const { return base_ + "/" + name; }
  ZookeeperRaw raw() const { return ZookeeperRaw(Address::tcp(server_.port())); }
  void end_session(std::int64_t session) const {
    end_zookeeper_session(Address::tcp(server_.port()), session);
  }
  void mend() {
    proxy_.reset();
    for (const Way way : kBothWays) proxy_.set(way, {});
    proxy_.reset();
  }
  bool is_there(const std::string& name) const { return raw().exists(at(name)).has_value(); }

  ZookeeperServer& server_ = ZookeeperServer::shared();
  const std::string base_ = server_.new_base();
  Proxy proxy_{Address::tcp(server_.port())};
  SessionBench bench_;
};

NoAnswer no_answer(const Outcome& outcome) {
  if (const auto* no = std::get_if<NoAnswer>(&outcome)) return *no;
  ADD_FAILURE() << "there was an answer";
  return {};
}

// ---- one connection after the other ----

TEST_F(ZooKeeperLink, TheSessionOutlivesTheConnection) {
  Session& session = bench_.open(url());
  const std::int64_t number = session.session();
  ask(session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t connection = session.connection();
    proxy_.reset();
    ASSERT_TRUE(comes_back(session));
    const auto outcome = outcome_of(session, {{.op = Op::exists, .path = "/"}});
    EXPECT_GT(std::get<Answers>(outcome).connection, connection);
  }
  EXPECT_EQ(session.session(), number);
  EXPECT_TRUE(is_there("a"));
  EXPECT_FALSE(bench_.heard().any_ended());
}

TEST_F(ZooKeeperLink, AnAnswerThatIsLostIsNoAnswer_F078) {
  Session& session = bench_.open(url());
  proxy_.hold(Way::to_client);
  auto told =
      asked(session, {{.op = Op::create, .path = at("a")}, {.op = Op::exists, .path = base_}});
  ASSERT_TRUE(eventually([&] { return is_there("a"); }));
  proxy_.reset();
  proxy_.release(Way::to_client);
  const NoAnswer no = no_answer(told.get());
  EXPECT_TRUE(no.executed);
  EXPECT_EQ(no.why, Errc::unavailable);
}

// Servers may forget to answer until somebody says something (ZOOKEEPER-4537). The next beat is in 50 s.
TEST_F(ZooKeeperLink, AnAnswerThatIsLateIsAskedAfter) {
  Session& session = bench_.open(url("?session=5m"));
  proxy_.hold(Way::to_client);
  const auto said = proxy_.traffic(Way::to_server).came;
  auto told = asked(session, {{.op = Op::exists, .path = base_}});
  const std::uint64_t kQuestion =
      4 + 8 + 4 + base_.size() + 1;  // length, xid and number, path, watch
  ASSERT_TRUE(proxy_.until_came(Way::to_server, said + kQuestion)) << "the question";
  EXPECT_TRUE(proxy_.until_came(Way::to_server, said + kQuestion + 1)) << "a ping behind it";
  proxy_.release(Way::to_client);
  EXPECT_TRUE(std::holds_alternative<Answers>(told.get()));
}

TEST_F(ZooKeeperLink, WithoutAConnectionQuestionsFailAtOnce) {
  Session& session = bench_.open(url("?session=60s"));
  proxy_.refuse();
  proxy_.reset();
  ASSERT_TRUE(eventually([&] {
    const Outcome outcome = outcome_of(session, {{.op = Op::create, .path = at("a")}});
    const auto* const no = std::get_if<NoAnswer>(&outcome);
    return no != nullptr && !no->executed;
  }));
  const Stopwatch watch;
  EXPECT_FALSE(no_answer(outcome_of(session, {{.op = Op::exists, .path = base_}})).executed);
  EXPECT_LT(watch.elapsed(), 2s);
  proxy_.admit();
  EXPECT_TRUE(comes_back(session));
}

TEST_F(ZooKeeperLink, NonsenseIsTheEndOfAConnection_F011) {
  Session& session = bench_.open(url("?session=60s"));  // no ping comes between
  const std::int64_t number = session.session();
  // The number of the answer is another one.
  proxy_.set(Way::to_client, {.rewrite = [](std::string& bytes) {
               if (bytes.size() > 8) bytes[6] = '\x77';
             }});
  const NoAnswer no = no_answer(outcome_of(session, {{.op = Op::exists, .path = base_}}));
  EXPECT_EQ(no.why, Errc::protocol);
  EXPECT_TRUE(no.executed);
  mend();
  EXPECT_TRUE(comes_back(session));
  EXPECT_EQ(session.session(), number);
}

TEST_F(ZooKeeperLink, AServerThatIsNotZooKeeperIsToldSo_F011) {
  proxy_.set(Way::to_client,
             {.rewrite = [](std::string& bytes) { bytes = "HTTP/1.1 400 no\r\n"; }});
  const auto session = bench_.try_open(url());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error(), Errc::protocol);
}

TEST_F(ZooKeeperLink, BytesMayComeOneByOne_F010) {
  for (const Way way : kBothWays) proxy_.set(way, {.chunk = 1});
  Session& session = bench_.open(url());
  ask(session, {{.op = Op::create, .path = at("a"), .data = "x"},
                {.op = Op::get_data, .path = at("a"), .watch = true}});
  raw().remove(at("a"));
  EXPECT_TRUE(bench_.heard().comes(at("a"), Event::deleted));
}

// ---- silence ----

TEST_F(ZooKeeperLink, SilenceIsTheEndOfAConnection_F005_F009) {
  Session& session = bench_.open(url("?session=6s"));
  session.keep_valid(true);
  const std::int64_t number = session.session();
  std::this_thread::sleep_for(1s);
  const std::uint64_t before = proxy_.connections();
  proxy_.set(Way::to_client, {.drop = true}, before);
  const Stopwatch silence;
  ASSERT_TRUE(proxy_.until_connections(before + 1));
  EXPECT_GT(silence.elapsed(), 450ms);
  EXPECT_LT(silence.elapsed(), 3s) << "soon enough for what is held";
  EXPECT_TRUE(comes_back(session));
  EXPECT_EQ(session.session(), number);
  EXPECT_GT(session.valid_until(), bench_.now());
}

TEST_F(ZooKeeperLink, SilenceIsNoticedWhenNobodyAsks_F014) {
  Session& session = bench_.open(url("?session=6s"));
  const std::int64_t number = session.session();
  const std::uint64_t before = proxy_.connections();
  for (const Way way : kBothWays) proxy_.set(way, {.drop = true}, before);
  const Stopwatch silence;
  ASSERT_TRUE(proxy_.until_connections(before + 1));
  EXPECT_LT(silence.elapsed(), 6s);
  EXPECT_TRUE(comes_back(session));
  EXPECT_EQ(session.session(), number);
}

TEST_F(ZooKeeperLink, AQuestionThatIsOverdueIsTheEndOfAConnection_F009) {
  Session& session = bench_.open(url("?session=60s"));
  proxy_.set(Way::to_client, {.drop = true}, proxy_.connections());
  auto told = asked(session, {{.op = Op::exists, .path = base_}}, 0, later(bench_.now(), 200ms));
  const Stopwatch watch;
  EXPECT_TRUE(no_answer(told.get()).executed);
  EXPECT_LT(watch.elapsed(), 5s);
  EXPECT_TRUE(comes_back(session));
}

TEST_F(ZooKeeperLink, AnIdleSessionLives) {
  Session& session = bench_.open(url("?session=2s"));
  const std::int64_t number = session.session();
  std::this_thread::sleep_for(6s);
  EXPECT_EQ(ask(session, {.op = Op::exists, .path = base_}).code, Code::ok);
  EXPECT_EQ(session.session(), number);
  EXPECT_EQ(proxy_.connections(), 1U);
}

// ---- watches ----

TEST_F(ZooKeeperLink, WatchesOutliveTheConnection_F082) {
  Session& session = bench_.open(url("?session=10s"));
  ask(session, {{.op = Op::create, .path = at("changed")},
                {.op = Op::create, .path = at("deleted")},
                {.op = Op::create, .path = at("later")},
                {.op = Op::get_data, .path = at("changed"), .watch = true},
                {.op = Op::get_data, .path = at("deleted"), .watch = true},
                {.op = Op::get_data, .path = at("later"), .watch = true},
                {.op = Op::exists, .path = at("created"), .watch = true},
                {.op = Op::exists, .path = at("left"), .watch = true},
                {.op = Op::get_children, .path = base_, .watch = true}});
  session.leave_watch(at("left"));
  proxy_.refuse();
  proxy_.reset();
  ZookeeperRaw other = raw();
  other.set(at("changed"), "x");
  other.remove(at("deleted"));
  other.create(at("created"));
  other.create(at("left"));
  EXPECT_EQ(bench_.heard().count(), 0U);
  proxy_.admit();
  EXPECT_TRUE(bench_.heard().comes(at("changed"), Event::data_changed));
  EXPECT_TRUE(bench_.heard().comes(at("deleted"), Event::deleted));
  EXPECT_TRUE(bench_.heard().comes(at("created"), Event::created));
  EXPECT_TRUE(bench_.heard().comes(base_, Event::children_changed));
  EXPECT_FALSE(bench_.heard().has(at("later"), Event::data_changed)) << "nothing has happened";
  other.set(at("later"), "x");
  EXPECT_TRUE(bench_.heard().comes(at("later"), Event::data_changed));
  EXPECT_EQ(bench_.heard().count(), 5U);
}

TEST_F(ZooKeeperLink, WatchesAreThereBeforeAnybodysQuestion_F082) {
  Session& session = bench_.open(url("?session=10s"));
  ask(session, {.op = Op::exists, .path = at("a"), .watch = true});
  proxy_.reset();
  ASSERT_TRUE(comes_back(session));
  raw().create(at("a"));
  EXPECT_TRUE(bench_.heard().comes(at("a"), Event::created));
}

TEST_F(ZooKeeperLink, TenThousandWatchesOutliveTheConnection_F082_F088) {
  Session& session = bench_.open(url("?session=20s"));
  const std::string stem = at(std::string(170, 'x'));
  for (int part = 0; part < 12; ++part) {
    std::vector<Request> many;
    for (int i = 0; i < 1000; ++i) {
      many.push_back(
          {.op = Op::exists, .path = stem + std::to_string(part * 1000 + i), .watch = true});
    }
    ASSERT_EQ(ask(session, std::move(many)).size(), 1000U);
  }
  proxy_.reset();
  ASSERT_TRUE(comes_back(session));
  EXPECT_EQ(proxy_.connections(), 2U) << "the server has understood them";
  for (const int i : {0, 5000, 11'999}) {
    raw().create(stem + std::to_string(i));
    EXPECT_TRUE(bench_.heard().comes(stem + std::to_string(i), Event::created)) << i;
  }
}

// ---- what is to go ----

TEST_F(ZooKeeperLink, WhatIsToGoGoesAlsoIfTheAnswerIsLost) {
  Session& session = bench_.open(url("?session=10s"));
  ask(session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  proxy_.hold(Way::to_client);
  const Signal gone;
  session.remove_for_sure(at("a"), session.session(), [&] { gone.give(); });
  ASSERT_TRUE(eventually([&] { return !is_there("a"); }));
  proxy_.reset();
  proxy_.release(Way::to_client);
  EXPECT_TRUE(gone.comes());
}

TEST_F(ZooKeeperLink, WhatIsToGoGoesOnceThereIsAConnection) {
  Session& session = bench_.open(url("?session=10s"));
  ask(session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  proxy_.refuse();
  proxy_.reset();
  const Signal gone;
  session.remove_for_sure(at("a"), session.session(), [&] { gone.give(); });
  EXPECT_TRUE(is_there("a"));
  proxy_.admit();
  EXPECT_TRUE(gone.comes());
  EXPECT_FALSE(is_there("a"));
}

TEST_F(ZooKeeperLink, WhatIsToGoGoesWithTheSession) {
  Session& session = bench_.open(url("?session=10s"));
  ask(session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  proxy_.refuse();
  proxy_.reset();
  const Signal gone;
  session.remove_for_sure(at("a"), session.session(), [&] { gone.give(); });
  end_session(session.session());
  proxy_.admit();
  EXPECT_TRUE(gone.comes());
}

// ---- the end of a session ----

TEST_F(ZooKeeperLink, AnotherSessionFollowsTheOneThatHasEnded_F080) {
  Session& session = bench_.open(url("?session=10s"));
  const std::int64_t first = session.session();
  ask(session, {{.op = Op::create, .path = at("a"), .mode = Mode::ephemeral},
                {.op = Op::exists, .path = at("b"), .watch = true}});
  end_session(first);
  EXPECT_TRUE(bench_.heard().ends(first));
  ASSERT_TRUE(comes_back(session));
  EXPECT_NE(session.session(), first);
  EXPECT_NE(session.session(), 0);
  EXPECT_FALSE(is_there("a"));
  const NoAnswer no = no_answer(outcome_of(session, {{.op = Op::create, .path = at("c")}}, first));
  EXPECT_FALSE(no.executed);
  EXPECT_FALSE(is_there("c")) << "it was to be done in the first session only";
  const auto again = std::get<Answers>(
      outcome_of(session, {{.op = Op::create, .path = at("c")}}, session.session()));
  EXPECT_EQ(again.session, session.session());
  raw().create(at("b"));
  ask(session,
      {.op = Op::sync, .path = "/"});  // what was to be told is told before that is answered
  EXPECT_EQ(bench_.heard().count(), 0U) << "its watches have ended, too";
}

TEST_F(ZooKeeperLink, ASessionEndsByOurOwnClockWhileNobodyCanTellUs_F080_F081) {
  Session& session = bench_.open(url("?session=3s"));
  session.keep_valid(true);
  const std::int64_t first = session.session();
  ask(session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  EXPECT_GT(session.valid_until(), bench_.now());
  proxy_.refuse();
  for (const Way way : kBothWays) proxy_.set(way, {.drop = true});
  ASSERT_TRUE(eventually([&] { return !is_there("a"); }));
  EXPECT_LE(session.valid_until(), bench_.now());
  EXPECT_FALSE(bench_.heard().any_ended()) << "nobody has told";
  proxy_.admit();
  mend();
  EXPECT_TRUE(bench_.heard().ends(first));
  EXPECT_TRUE(eventually([&] { return session.valid_until() > bench_.now(); }));
}

TEST_F(ZooKeeperLink, StaysValidAsLongAsSomebodyWantsIt) {
  Session& session = bench_.open(url("?session=3s"));
  session.keep_valid(true);
  for (const Stopwatch watch; watch.elapsed() < 4s;) {
    ASSERT_GT(session.valid_until(), bench_.now()) << watch.elapsed() / 1ms;
    std::this_thread::sleep_for(5ms);
  }
  session.keep_valid(false);
  EXPECT_TRUE(eventually([&] { return session.valid_until() <= bench_.now(); }))
      << "pings prove nothing";
  EXPECT_EQ(ask(session, {.op = Op::create, .path = at("a")}).code, Code::ok);
  EXPECT_GT(session.valid_until(), later(bench_.now(), 750ms))
      << "one write is enough, since there were pings before it";
}

// ---- the server ----

TEST(ZooKeeperServerGone, ItIsTriedUntilItIsBack_F089) {
  ZookeeperServer server;
  SessionBench bench;
  Session& session = bench.open("zk://" + server.host() + "?session=20s");
  const std::int64_t number = session.session();
  ask(session, {.op = Op::create, .path = "/a", .mode = Mode::ephemeral});
  server.kill();
  ASSERT_TRUE(eventually([&] {
    const Outcome outcome = outcome_of(session, {{.op = Op::exists, .path = "/"}});
    return !std::get<NoAnswer>(outcome).executed;
  }));
  EXPECT_THAT(no_answer(outcome_of(session, {{.op = Op::exists, .path = "/"}})).text,
              AnyOf(HasSubstr("broke"), HasSubstr("refused")));
  server.restart();
  EXPECT_TRUE(comes_back(session));
  EXPECT_EQ(session.session(), number);
  EXPECT_EQ(ask(session, {.op = Op::get_data, .path = "/a"}).stat.ephemeral_owner, number);
}

TEST(ZooKeeperServerGone, OneThatHasLostItsDataIsNotRefusedForEver) {
  ZookeeperServer server;
  SessionBench bench;
  Session& session = bench.open("zk://" + server.host() + "?session=2s");
  const std::int64_t first = session.session();
  for (int i = 0; i < 50; ++i) ask(session, {.op = Op::set_data, .path = "/"});
  server.restart_empty();
  EXPECT_TRUE(bench.heard().ends(first));
  EXPECT_TRUE(comes_back(session));
  EXPECT_EQ(ask(session, {.op = Op::create, .path = "/a"}).code, Code::ok);
}

TEST_F(ZooKeeperLink, ClosingDoesNotWaitForAConnection) {
  const auto session = std::move(bench_.try_open(url("?session=60s")).value());
  proxy_.hold(Way::to_client);  // of all that come
  proxy_.reset();
  ASSERT_TRUE(proxy_.until_connections(2));
  const Stopwatch watch;
  session->close();
  EXPECT_LT(watch.elapsed(), 900ms);
}

TEST(ZooKeeperServerGone, ClosingDoesNotWaitForOneThatIsSilent) {
  ZookeeperServer server;
  SessionBench bench;
  const auto session = std::move(bench.try_open("zk://" + server.host()).value());
  server.pause();
  const Stopwatch watch;
  session->close();
  EXPECT_LT(watch.elapsed(), 3s);
  server.resume();
}

}  // namespace
}  // namespace holdfast::test
