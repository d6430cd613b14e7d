// The tools that the other tests stand on: servers that are killed, stopped and cut off, and a client by hand that
// looks at what others have done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/net/address.hpp"
#include "support/servers/zookeeper_ensemble.hpp"
#include "support/servers/zookeeper_raw.hpp"
#include "support/servers/zookeeper_server.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/tls/test_authority.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Mode = ZookeeperRaw::Mode;

ZookeeperRaw client_of(const ZookeeperServer& server, std::chrono::milliseconds timeout = 20s) {
  return ZookeeperRaw(Address::tcp(server.port()), timeout);
}

std::int32_t code_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const ZookeeperNo& no) {
    return no.code;
  }
  return 0;
}

// ---- one server ----

TEST(ZookeeperServers, NodesAreMadeChangedListedAndRemoved) {
  ZookeeperServer& server = ZookeeperServer::shared();
  const std::string base = server.new_base();
  ZookeeperRaw raw = client_of(server);
  raw.create_container(base);
  const ZookeeperNode first = raw.create(base + "/n-", "one", Mode::ephemeral_sequential);
  const ZookeeperNode second = raw.create(base + "/n-", "two", Mode::ephemeral_sequential);
  EXPECT_EQ(first.path, base + "/n-0000000000");
  EXPECT_EQ(first.stat.owner, raw.session());
  EXPECT_GT(second.stat.created, first.stat.created);
  EXPECT_THAT(raw.children(base), ElementsAre("n-0000000000", "n-0000000001"));
  EXPECT_EQ(raw.set(first.path, "three", 0).version, 1);
  EXPECT_EQ(raw.get(first.path).data, "three");
  EXPECT_EQ(code_of([&] { raw.set(first.path, "four", 0); }), ZookeeperNo::kBadVersion);
  EXPECT_EQ(code_of([&] { raw.create(first.path); }), ZookeeperNo::kNodeExists);
  raw.sync();
  raw.remove(first.path);
  EXPECT_EQ(code_of([&] { raw.get(first.path); }), ZookeeperNo::kNoNode);
  EXPECT_FALSE(raw.exists(first.path));
  raw.remove_all(base);
  EXPECT_FALSE(raw.exists(base));
}

TEST(ZookeeperServers, AWordOfFourLettersIsAnswered) {
  ZookeeperServer& server = ZookeeperServer::shared();
  EXPECT_EQ(server.mode(), "standalone");
  EXPECT_THAT(server.word("srvr"), HasSubstr("Zxid"));
  EXPECT_THAT(server.word("wchs"), HasSubstr("watching"));
  EXPECT_EQ(server.number("zk_max_file_descriptor_count") > 0, true);
  EXPECT_EQ(server.number("zk_of_nobody"), -1);
  const ZookeeperRaw raw = client_of(server);
  EXPECT_THAT(zookeeper_sessions(server.word("cons")), testing::Contains(raw.session()));
}

TEST(ZookeeperServers, TheSharedOneComesBackWhenSomebodyHasKilledIt) {
  const std::uint16_t port = ZookeeperServer::shared().port();
  ZookeeperServer::shared().kill();
  EXPECT_EQ(ZookeeperServer::shared().mode(), "standalone");
  EXPECT_EQ(ZookeeperServer::shared().port(), port);
  EXPECT_NE(ZookeeperServer::shared().new_base(), ZookeeperServer::shared().new_base());
}

TEST(ZookeeperServers, AKilledServerKeepsWhatItHasAnswered) {
  ZookeeperServer server;
  ZookeeperRaw before = client_of(server);
  before.create("/kept", "data");
  before.create("/kept/mine", "", Mode::ephemeral);
  server.kill();
  EXPECT_EQ(server.word("ruok"), "");
  EXPECT_EQ(server.mode(), "");
  server.restart();
  ZookeeperRaw again(Address::tcp(server.port()), 20s, before.session());
  EXPECT_EQ(again.session(), before.session());
  EXPECT_EQ(again.get("/kept").data, "data");
  EXPECT_EQ(again.get("/kept/mine").stat.owner, before.session());
  server.restart_empty();
  EXPECT_FALSE(client_of(server).exists("/kept"));
}

TEST(ZookeeperServers, AStoppedServerIsSilentAndThenGoesOn) {
  ZookeeperServer server;
  ZookeeperRaw raw = client_of(server);
  server.pause();
  EXPECT_EQ(server.word("ruok", 100ms), "");
  server.resume();
  EXPECT_EQ(server.word("ruok"), "imok");
  EXPECT_TRUE(raw.exists("/"));
}

TEST(ZookeeperServers, SessionsLastAsLongAsTheOptionsAllow) {
  ZookeeperServer server({.tick = 100ms, .min_session = 300ms, .max_session = 5s});
  EXPECT_EQ(client_of(server, 1ms).timeout(), 300ms);
  EXPECT_EQ(client_of(server, 1min).timeout(), 5s);
  ZookeeperRaw left = client_of(server, 500ms);
  left.create("/ephemeral", "", Mode::ephemeral);
  const Stopwatch watch;
  ZookeeperRaw other = client_of(server, 5s);
  EXPECT_TRUE(eventually([&] { return !other.exists("/ephemeral"); }));
  EXPECT_GT(watch.elapsed(), 300ms);
}

TEST(ZookeeperServers, AnEmptyContainerGoesAtTheNextCheck) {
  ZookeeperServer server({.container_check = 100ms});
  ZookeeperRaw raw = client_of(server);
  raw.create_container("/box");
  raw.create("/box/thing");
  raw.remove("/box/thing");
  EXPECT_TRUE(eventually([&] { return !raw.exists("/box"); }));
}

TEST(ZookeeperServers, OneThatDoesNotStartShowsItsLog) {
  try {
    ZookeeperServer server({.settings = {"tickTime=many"}});
    FAIL() << "it started";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("many"));
  }
}

// What TLS says about itself; empty if there is no agreement.
std::string tls_of(std::uint16_t port, const std::string& authority, const Papers* papers) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_load_verify_file(context.get(), authority.c_str());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (papers != nullptr) {
    SSL_CTX_use_certificate_file(context.get(), papers->certificate.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context.get(), papers->key.c_str(), SSL_FILETYPE_PEM);
  }
  const transport::Fd socket = connected_socket(Address::tcp(port));
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), &SSL_free);
  SSL_set_fd(tls.get(), socket.get());
  if (SSL_connect(tls.get()) != 1 || SSL_write(tls.get(), "ruok", 4) != 4) return "";
  char answer[4] = {};
  return SSL_read(tls.get(), answer, 4) == 4 ? std::string(answer, 4) : "";
}

TEST(ZookeeperServers, SpeaksTlsOnAPortBeside) {
  TestAuthority authority;
  const Papers ours = authority.issue();
  ZookeeperServer server({.tls = ZookeeperTls{authority.issue(), authority.certificate(), true}});
  EXPECT_EQ(tls_of(server.tls_port(), authority.certificate(), &ours), "imok");
  EXPECT_EQ(tls_of(server.tls_port(), authority.certificate(), nullptr), "") << "it wants papers";
  EXPECT_EQ(server.word("ruok"), "imok") << "the other port speaks plainly";
  EXPECT_TRUE(client_of(server).exists("/"));
}

// ---- other people's sessions ----

TEST(ZookeeperServers, ThePasswordFollowsFromTheNumberOfTheSession) {
  const ZookeeperRaw raw = client_of(ZookeeperServer::shared());
  EXPECT_EQ(zookeeper_password(raw.session()), raw.password());
}

TEST(ZookeeperServers, ASessionIsEndedFromOutside) {
  ZookeeperServer& server = ZookeeperServer::shared();
  const std::string path = server.new_base();
  ZookeeperRaw victim = client_of(server);
  victim.create(path, "", Mode::ephemeral);
  ZookeeperRaw witness = client_of(server);
  EXPECT_TRUE(witness.exists(path));
  end_zookeeper_session(Address::tcp(server.port()), victim.session());
  EXPECT_FALSE(witness.exists(path));
  EXPECT_ANY_THROW(victim.exists(path));
  EXPECT_ANY_THROW(ZookeeperRaw(Address::tcp(server.port()), 20s, victim.session()));
}

// A server hangs up on whoever had the session when somebody comes in with it; so clients take theirs back at once.
TEST(ZookeeperServers, ASessionThatItsClientTakesBackIsEndedAllTheSame) {
  ZookeeperServer& server = ZookeeperServer::shared();
  const Address address = Address::tcp(server.port());
  for (int i = 0; i < 20; ++i) {
    const std::int64_t session = client_of(server).session();
    std::atomic<bool> leaves = false;
    std::jthread client([&] {
      while (!leaves) {
        try {
          ZookeeperRaw raw(address, 20s, session);
          raw.be_patient_for(1s);
          while (!leaves) raw.exists("/");
        } catch (const ZookeeperExpired&) {
          return;
        } catch (const std::runtime_error&) {
          // It was hung up on, or told that its session has ended, or not answered: it asks once more.
        }
      }
    });
    EXPECT_NO_THROW(end_zookeeper_session(address, session));
    leaves = true;
    client.join();
    EXPECT_THROW(ZookeeperRaw(address, 20s, session), ZookeeperExpired);
  }
}

// ---- three ----

class ZookeeperEnsembles : public testing::Test {
 protected:
  ZookeeperEnsemble ensemble_;
};

TEST_F(ZookeeperEnsembles, WhatOneHasAllHave) {
  const std::size_t leader = ensemble_.leader();
  client_of(ensemble_[leader]).create("/node", "data");
  for (std::size_t i = 0; i < ZookeeperEnsemble::kSize; ++i) {
    EXPECT_EQ(ensemble_[i].mode(), i == leader ? "leader" : "follower");
    ZookeeperRaw raw = client_of(ensemble_[i]);
    raw.sync();
    EXPECT_EQ(raw.get("/node").data, "data");
  }
}

TEST_F(ZookeeperEnsembles, AKilledLeaderIsFollowedByAnotherAndSessionsGoOn) {
  const std::size_t old = ensemble_.leader();
  ZookeeperRaw before = client_of(ensemble_[ensemble_.a_follower()]);
  before.create("/mine", "", Mode::ephemeral);
  ensemble_[old].kill();
  const std::size_t next = ensemble_.leader();
  EXPECT_NE(next, old);
  ZookeeperRaw again(Address::tcp(ensemble_[next].port()), 20s, before.session());
  EXPECT_EQ(again.get("/mine").stat.owner, before.session());
  ensemble_[old].restart();
  ensemble_.until_all_serve();
  EXPECT_EQ(ensemble_[old].mode(), "follower");
}

TEST_F(ZookeeperEnsembles, AFollowerThatIsCutOffGoesOnAnsweringAfterTheSessionHasEnded) {
  const std::size_t leader = ensemble_.leader(), follower = ensemble_.a_follower();
  ZookeeperRaw client = client_of(ensemble_[follower], 500ms);
  client.create("/mine", "", Mode::ephemeral);
  ensemble_.cut_off(follower);
  ZookeeperRaw other = client_of(ensemble_[leader]);
  EXPECT_TRUE(eventually([&] {
    client.exists("/mine");  // it is heard of by the follower all the time
    return !other.exists("/mine");
  }));
  EXPECT_TRUE(client.exists("/mine")) << "as the follower sees it";
  EXPECT_EQ(ensemble_[follower].mode(), "follower");
  ensemble_.join(follower);
  ensemble_.until_all_serve();
  ZookeeperRaw there = client_of(ensemble_[follower]);
  there.sync();
  EXPECT_FALSE(there.exists("/mine"));
}

TEST(ZookeeperCuts, ALeaderThatIsCutOffIsFollowedByAnother) {
  ZookeeperEnsemble ensemble({.silence = 1s});
  const std::size_t old = ensemble.leader();
  ensemble.cut_off(old);
  std::size_t next = old;
  EXPECT_TRUE(eventually([&] {
    next = ensemble.leader();
    return next != old && ensemble[old].mode().empty();
  })) << "it serves no more";
  client_of(ensemble[next]).create("/since");
  ensemble.join(old);
  ensemble.until_all_serve();
  EXPECT_EQ(ensemble[old].mode(), "follower");
  ZookeeperRaw there = client_of(ensemble[old]);
  there.sync();
  EXPECT_TRUE(there.exists("/since"));
}

}  // namespace
}  // namespace holdfast::test
