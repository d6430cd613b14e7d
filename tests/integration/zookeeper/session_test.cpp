// A session on a server that is well.
#include "store/zookeeper/session.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "integration/zookeeper/session_bench.hpp"
#include "support/stopwatch.hpp"
#include "support/tls/test_authority.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class ZooKeeperSession : public testing::Test {
 protected:
  ZooKeeperSession() { ZookeeperRaw(server_address()).create(base_); }

  Address server_address() const { return Address::tcp(server_.port()); }
  std::string url(const std::string& options = "") const {
    return "zk://" + server_.host() + base_ + options;
  }
  std::string at(const std::string& name) const { return base_ + "/" + name; }
  ZookeeperRaw raw() const { return ZookeeperRaw(server_address()); }

  ZookeeperServer& server_ = ZookeeperServer::shared();
  const std::string base_ = server_.new_base();
  SessionBench bench_;
};

TEST_F(ZooKeeperSession, IsAsLongAsTheServerGrants) {
  Session& session = bench_.open(url("?session=2s"));
  EXPECT_NE(session.session(), 0);
  EXPECT_EQ(session.timeout(), 2s);
  EXPECT_EQ(session.address().base, base_);
  EXPECT_EQ(bench_.open(url("?session=100ms")).timeout(), 2 * server_.options().tick);
  EXPECT_EQ(bench_.open(url("?session=60m")).timeout(), server_.options().max_session);
}

TEST_F(ZooKeeperSession, AnswersEverythingInOrder) {
  Session& session = bench_.open(url());
  const auto replies =
      ask(session,
          {{.op = Op::create, .path = at("n-"), .data = "x", .mode = Mode::ephemeral_sequential},
           {.op = Op::create, .path = at("p")},
           {.op = Op::create_container, .path = at("c")},
           {.op = Op::get_children, .path = base_},
           {.op = Op::get_data, .path = at("n-0000000000")},
           {.op = Op::set_data, .path = at("p"), .data = "yy", .version = 0},
           {.op = Op::exists, .path = at("p")},
           {.op = Op::check, .path = at("p"), .version = 1},
           {.op = Op::sync, .path = base_},
           {.op = Op::remove, .path = at("p"), .version = 1},
           {.op = Op::exists, .path = at("p")}});
  ASSERT_EQ(replies.size(), 11U);
  EXPECT_EQ(replies[0].code, Code::ok);
  EXPECT_EQ(replies[0].path, at("n-0000000000"));
  EXPECT_EQ(replies[0].stat.ephemeral_owner, session.session());
  EXPECT_GT(replies[0].stat.czxid, 0);
  EXPECT_EQ(replies[0].stat.czxid, replies[0].zxid);
  EXPECT_EQ(replies[1].stat.ephemeral_owner, 0);
  EXPECT_EQ(replies[2].code, Code::ok);
  EXPECT_THAT(replies[3].children, UnorderedElementsAre("n-0000000000", "p", "c"));
  EXPECT_EQ(replies[3].stat.num_children, 3);
  EXPECT_EQ(replies[4].data, "x");
  EXPECT_EQ(replies[4].stat.data_length, 1);
  EXPECT_EQ(replies[5].stat.version, 1);
  EXPECT_EQ(replies[6].stat.data_length, 2);
  for (std::size_t i = 7; i < 10; ++i) EXPECT_EQ(replies[i].code, Code::ok) << i;
  EXPECT_EQ(replies[10].code, Code::no_node);
}

TEST_F(ZooKeeperSession, SaysWhyNot) {
  Session& session = bench_.open(url());
  const auto replies = ask(session, {{.op = Op::create, .path = base_},
                                     {.op = Op::create, .path = at("no/such")},
                                     {.op = Op::set_data, .path = base_, .version = 7},
                                     {.op = Op::create, .path = at("e"), .mode = Mode::ephemeral},
                                     {.op = Op::create, .path = at("e/f")},
                                     {.op = Op::remove, .path = base_},
                                     {.op = Op::check, .path = base_, .version = 7},
                                     {.op = Op::create, .path = "no slash"}});
  ASSERT_EQ(replies.size(), 8U);
  EXPECT_EQ(replies[0].code, Code::node_exists);
  EXPECT_EQ(replies[1].code, Code::no_node);
  EXPECT_EQ(replies[2].code, Code::bad_version);
  EXPECT_EQ(replies[4].code, Code::no_children_for_ephemerals);
  EXPECT_EQ(replies[5].code, Code::not_empty);
  EXPECT_EQ(replies[6].code, Code::bad_version);
  EXPECT_EQ(replies[7].code, Code::other);
}

TEST_F(ZooKeeperSession, DoesAllOrNothing) {
  Session& session = bench_.open(url());
  const auto done =
      ask_as_one(session, {{.op = Op::check, .path = base_},
                           {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral},
                           {.op = Op::create_container, .path = at("c")},
                           {.op = Op::set_data, .path = base_, .data = "x"}});
  ASSERT_EQ(done.size(), 4U);
  for (const Reply& each : done) EXPECT_EQ(each.code, Code::ok);
  EXPECT_EQ(done[1].path, at("a"));
  EXPECT_EQ(done[1].stat.czxid, raw().get(at("a")).stat.created);
  const auto not_done = ask_as_one(session, {{.op = Op::remove, .path = at("a")},
                                             {.op = Op::create, .path = at("c")},
                                             {.op = Op::remove, .path = at("c")}});
  ASSERT_EQ(not_done.size(), 3U);
  EXPECT_NE(not_done[0].code, Code::ok);
  EXPECT_EQ(not_done[1].code, Code::node_exists);
  EXPECT_NE(not_done[2].code, Code::ok);
  EXPECT_TRUE(raw().exists(at("a")));
}

TEST_F(ZooKeeperSession, NothingIsAnsweredWithNothing) {
  Session& session = bench_.open(url());
  EXPECT_TRUE(ask(session, std::vector<Request>()).empty());
}

TEST_F(ZooKeeperSession, AQuestionThatIsTooLongHarmsNobody_F088) {
  Session& session = bench_.open(url());
  const std::int64_t before = session.session();
  const auto replies =
      ask(session, {{.op = Op::create, .path = at("a"), .data = std::string(2'000'000, 'x')},
                    {.op = Op::create, .path = at("b"), .data = std::string(990'000, 'x')}});
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0].code, Code::too_large);
  EXPECT_EQ(replies[1].code, Code::ok);
  const auto all = ask_as_one(
      session, {{.op = Op::create, .path = at("c"), .data = std::string(2'000'000, 'x')}});
  EXPECT_EQ(all.at(0).code, Code::too_large);
  EXPECT_EQ(session.session(), before);
  EXPECT_EQ(ask(session, {.op = Op::get_data, .path = at("b")}).data.size(), 990'000U);
}

TEST_F(ZooKeeperSession, AnAnswerThatIsTooLongHarmsNobody_F088) {
  Session& session = bench_.open(url());
  for (int part = 0; part < 6; ++part) {
    std::vector<Request> many;
    for (int i = 0; i < 3000; ++i) {
      many.push_back(
          {.op = Op::create, .path = at(std::string(240, 'x') + std::to_string(part * 3000 + i))});
    }
    ASSERT_EQ(ask_as_one(session, std::move(many)).at(0).code, Code::ok);
  }
  const auto replies =
      ask(session, {{.op = Op::get_children, .path = base_}, {.op = Op::exists, .path = base_}});
  EXPECT_EQ(replies.at(0).code, Code::too_large);
  EXPECT_TRUE(replies.at(0).children.empty());
  EXPECT_EQ(replies.at(1).stat.num_children, 18'000);
}

// ---- watches ----

TEST_F(ZooKeeperSession, TellsWhatAWatchWaitedFor) {
  Session& session = bench_.open(url());
  ask(session, {{.op = Op::create, .path = at("data")},
                {.op = Op::create, .path = at("gone")},
                {.op = Op::get_data, .path = at("data"), .watch = true},
                {.op = Op::exists, .path = at("gone"), .watch = true},
                {.op = Op::exists, .path = at("new"), .watch = true},
                {.op = Op::get_data, .path = at("never"), .watch = true}});
  ZookeeperRaw other = raw();
  other.set(at("data"), "x");
  other.remove(at("gone"));
  other.create(at("new"));
  EXPECT_TRUE(bench_.heard().comes(at("data"), Event::data_changed));
  EXPECT_TRUE(bench_.heard().comes(at("gone"), Event::deleted));
  EXPECT_TRUE(bench_.heard().comes(at("new"), Event::created));
  other.set(at("data"), "y");
  other.create(at("never"));
  ask(session, {.op = Op::get_children, .path = base_, .watch = true});
  other.remove(at("never"));
  EXPECT_TRUE(bench_.heard().comes(base_, Event::children_changed));
  EXPECT_EQ(bench_.heard().count(), 4U) << "once each";
}

TEST_F(ZooKeeperSession, AWatchThatIsLeftTellsNobody) {
  Session& session = bench_.open(url());
  ask(session, {{.op = Op::get_children, .path = base_, .watch = true},
                {.op = Op::exists, .path = at("a"), .watch = true}});
  session.leave_watch(at("a"));
  raw().create(at("a"));
  EXPECT_TRUE(bench_.heard().comes(base_, Event::children_changed));
  EXPECT_EQ(bench_.heard().count(), 1U);
}

// ---- what is to go ----

TEST_F(ZooKeeperSession, RemovesForSure) {
  Session& session = bench_.open(url());
  ask(session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  const Signal removed, was_not_there, of_another_session;
  session.remove_for_sure(at("a"), session.session(), [&] { removed.give(); });
  EXPECT_TRUE(removed.comes());
  EXPECT_FALSE(raw().exists(at("a")));
  session.remove_for_sure(at("a"), session.session(), [&] { was_not_there.give(); });
  EXPECT_TRUE(was_not_there.comes());
  raw().create(at("a"));
  session.remove_for_sure(at("a"), session.session() + 1, [&] { of_another_session.give(); });
  EXPECT_TRUE(of_another_session.comes());
  EXPECT_TRUE(raw().exists(at("a"))) << "which has ended, and its nodes with it";
  session.remove_for_sure(at("a"), session.session(), {});
  EXPECT_TRUE(eventually([&] { return !raw().exists(at("a")); }));
}

TEST_F(ZooKeeperSession, ItsNodesGoWhenItCloses) {
  const auto session = std::move(bench_.try_open(url("?session=60s")).value());
  ask(*session, {.op = Op::create, .path = at("a"), .mode = Mode::ephemeral});
  ASSERT_TRUE(raw().exists(at("a")));
  const Stopwatch watch;
  session->close();
  const auto closing = watch.elapsed();
  EXPECT_FALSE(raw().exists(at("a")));
  EXPECT_LT(closing, 900ms) << "it waits for an answer, not for a time";
  Told<Outcome> told = asked(*session, {{.op = Op::exists, .path = base_}});
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(told.get()));
}

// ---- who may ----

TEST_F(ZooKeeperSession, AUserKeepsItsNodesToItself_F087) {
  const std::string host = server_.host() + base_;
  Session& ours = bench_.open("zk://me:secret@" + host);
  ASSERT_EQ(ask(ours, {.op = Op::create, .path = at("a"), .data = "x"}).code, Code::ok);
  ASSERT_EQ(ask(ours, {.op = Op::create_container, .path = at("c")}).code, Code::ok);
  ASSERT_EQ(ask_as_one(ours, {{.op = Op::create, .path = at("m")}}).at(0).code, Code::ok);
  for (const char* who : {"", "me:wrong@", "you:secret@"}) {
    Session& other = bench_.open("zk://" + (who + host));
    for (const char* node : {"a", "c", "m"}) {
      EXPECT_EQ(ask(other, {.op = Op::get_data, .path = at(node)}).code, Code::no_auth) << who;
      EXPECT_EQ(ask(other, {.op = Op::create, .path = at(node) + std::string("/b")}).code,
                Code::no_auth)
          << who;
    }
  }
  Session& again = bench_.open("zk://me:secret@" + host);
  EXPECT_EQ(ask(again, {.op = Op::get_data, .path = at("a")}).data, "x");
}

TEST_F(ZooKeeperSession, WithoutAUserNodesAreEverybodys) {
  Session& ours = bench_.open(url());
  ask(ours, {.op = Op::create, .path = at("a")});
  EXPECT_EQ(raw().set(at("a"), "x").version, 1);
}

TEST(ZooKeeperWithRules, WhoIsNotKnownIsToldSoAtOnce_F087) {
  ZookeeperServer server(
      {.settings = {"enforce.auth.enabled=true", "enforce.auth.schemes=digest"}});
  SessionBench bench;
  const auto unknown = bench.try_open("zk://" + server.host());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error(), Errc::permission) << unknown.error().text();
  Session& known = bench.open("zk://me:secret@" + server.host());
  EXPECT_EQ(ask(known, {.op = Op::create, .path = "/a"}).code, Code::ok);
}

TEST_F(ZooKeeperSession, AChangeThatIsRefusedIsAgreedToLikeOneThatIsMade_F087) {
  Session& owner = bench_.open("zk://me:secret@" + server_.host() + base_);
  ASSERT_EQ(ask(owner, {.op = Op::create, .path = at("a")}).code, Code::ok);
  Session& other = bench_.open(url());
  const TimePoint before = other.valid_until();
  EXPECT_EQ(ask(other, {.op = Op::create, .path = at("a/b")}).code, Code::no_auth);
  EXPECT_GT(other.valid_until(), before);
}

// ---- threads ----

// What a caller that blocks does.
class Waiter final : public store::BlockedCaller {
 public:
  bool done() const override { return done_; }
  TimePoint until() const override { return kNever; }
  void nudge() override {
    nudged_ = true;
    nudged_.notify_all();
  }
  void tell(bool good) {
    good_ = good;
    done_ = true;
    nudge();
  }
  bool good() const { return good_; }
  void sleep() {
    nudged_.wait(false);
    nudged_ = false;
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<bool> good_{false};
  std::atomic<bool> nudged_{false};
};

TEST_F(ZooKeeperSession, EachThreadHearsItsOwnAnswers) {
  Session& session = bench_.open(url());
  constexpr int kThreads = 8;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string mine = at("t" + std::to_string(t));
      for (int i = 0; i < 200; ++i) {
        const auto waiter = std::make_shared<Waiter>();
        const std::string text = std::to_string(i);
        session.ask({{.op = i == 0 ? Op::create : Op::set_data, .path = mine, .data = text},
                     {.op = Op::get_data, .path = mine}},
                    in_time(), true, 0, [&session, waiter, text](const Outcome& outcome) {
                      const auto* const answers = std::get_if<Answers>(&outcome);
                      waiter->tell(answers != nullptr && answers->replies[1].data == text);
                      session.interrupt(*waiter);
                    });
        while (!waiter->done()) {
          if (!session.drive(waiter) && !waiter->done()) waiter->sleep();
        }
        if (!waiter->good()) ++wrong;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
}

// ---- how to get there ----

TEST_F(ZooKeeperSession, OverTls) {
  TestAuthority authority;
  ZookeeperServer server(
      {.tls = ZookeeperTls{.papers = authority.issue(), .authority = authority.certificate()}});
  const std::string host = "zks://127.0.0.1:" + std::to_string(server.tls_port());
  Session& session = bench_.open(host + "?ca=" + authority.certificate());
  EXPECT_EQ(ask(session, {.op = Op::create, .path = "/a"}).code, Code::ok);
  Session& user = bench_.open("zks://me:secret@127.0.0.1:" + std::to_string(server.tls_port()) +
                              "?ca=" + authority.certificate());
  EXPECT_EQ(ask(user, {.op = Op::create, .path = "/b"}).code, Code::ok);
  const auto untrusted = bench_.try_open(host);
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error(), Errc::permission) << untrusted.error().text();
  const auto plain = bench_.try_open("zk://127.0.0.1:" + std::to_string(server.tls_port()));
  ASSERT_FALSE(plain) << "it speaks TLS only";
}

TEST_F(ZooKeeperSession, OneServerOfSeveralIsEnough) {
  const std::uint16_t nobody = free_port();
  const std::string hosts = "127.0.0.1:" + std::to_string(nobody) + "," + server_.host();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(comes_back(bench_.open("zk://" + hosts))) << i;
  }
  const auto none = bench_.try_open("zk://127.0.0.1:" + std::to_string(nobody));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), Errc::unavailable);
  EXPECT_THAT(none.error().text(), HasSubstr(std::to_string(nobody)));
}

}  // namespace
}  // namespace holdfast::test
