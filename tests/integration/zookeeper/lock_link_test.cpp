// What lies between a client and its ZooKeeper server: answers that are lost or late, connections that break and come
// back, and a server that does not let us.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "integration/zookeeper/lock_faults.hpp"

namespace holdfast::test {
namespace {

class ZooKeeperLockLink : public LockFaults {
 protected:
  // So that the first question makes a node and not the parents that it lacks.
  ZooKeeperLockLink() {
    static_cast<void>(open_direct("?session=20s").mutex("lock").acquire().value().release());
  }

  // Nothing is asked and nothing answered: whoever waits has nothing to do but to wait to be told.
  bool comes_to_rest() const {
    return eventually([&] {
      const std::uint64_t before = proxy_.traffic(Way::to_client).passed;
      std::this_thread::sleep_for(200ms);
      return proxy_.traffic(Way::to_client).passed == before;
    });
  }
  // It is ours with the one node that there is, and nothing stays behind it.
  void expect_one_node_and_then_none(Result<Hold> hold) {
    ASSERT_TRUE(hold) << hold.error().text();
    auto seen = line();
    const auto nodes = seen.all();
    ASSERT_EQ(nodes.size(), 1U);
    EXPECT_EQ(fence_of(nodes[0]), hold->fence().value());
    EXPECT_TRUE(eventually([&] { return hold->verify().has_value(); }));
    EXPECT_TRUE(hold->release());
    EXPECT_EQ(seen.size(), 0U);
  }
};

// ---- the answer to the making of a node ----

TEST_F(ZooKeeperLockLink, ANodeWhoseAnswerWasLostWithTheConnectionIsFound_F078) {
  const Client client = open("?session=20s");
  auto seen = line();
  proxy_.hold(Way::to_client);
  auto pending = client.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(seen.comes_to(1)) << "it is made, nobody was told";
  const auto made = seen.all().at(0);
  proxy_.reset();
  proxy_.release(Way::to_client);
  auto hold = std::move(pending).get();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), fence_of(made)) << "the very same node";
  expect_one_node_and_then_none(std::move(hold));
}

TEST_F(ZooKeeperLockLink, ANodeWhoseAnswerComesTooLateIsFound_F078) {
  const Client client = open("?session=20s", 300ms);
  auto seen = line();
  proxy_.hold(Way::to_client);
  auto pending = client.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(seen.comes_to(1));
  const auto made = seen.all().at(0);
  ASSERT_TRUE(proxy_.until_connections(2)) << "an answer that is overdue is the end of the first";
  proxy_.release(Way::to_client);
  auto hold = std::move(pending).get();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), fence_of(made));
  expect_one_node_and_then_none(std::move(hold));
}

TEST_F(ZooKeeperLockLink, ANodeWhoseAnswerWasLostInSilenceIsFound_F078) {
  const Client client = open("?session=6s", 300ms);
  auto seen = line();
  proxy_.set(Way::to_client, {.drop = true}, proxy_.connections());
  auto pending = client.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(seen.comes_to(1));
  const auto made = seen.all().at(0);
  auto hold = std::move(pending).get();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), fence_of(made));
  EXPECT_GE(proxy_.connections(), 2U) << "it was the silence that ended the first";
  expect_one_node_and_then_none(std::move(hold));
}

TEST_F(ZooKeeperLockLink, ANodeThatNobodyHearsOfIsTakenAwayLongBeforeTheSessionEnds_F078) {
  const Client client = open("?session=2m", 300ms);
  auto seen = line();
  proxy_.hold(Way::to_client);
  auto pending = client.mutex("lock").async_acquire({.wait = 0s, .lease = 1h});
  ASSERT_TRUE(seen.comes_to(1));
  EXPECT_TRUE(fails_with(Errc::unknown, std::move(pending).get()));
  EXPECT_EQ(seen.size(), 1U);
  proxy_.reset();
  proxy_.release(Way::to_client);
  EXPECT_TRUE(seen.comes_to(0));
}

// The wait ends while nobody hears of the place in line.
TEST_F(ZooKeeperLockLink, APlaceInLineThatNobodyHearsOfIsTakenAway_F078) {
  const Client other = open_direct("?session=20s"), client = open("?session=2m", 300ms);
  auto seen = line();
  auto hold = other.mutex("lock").acquire().value();
  proxy_.hold(Way::to_client);
  auto pending = client.mutex("lock").async_acquire({.wait = 1s, .lease = 1h});
  ASSERT_TRUE(seen.comes_to(2));
  EXPECT_FALSE(std::move(pending).get());
  proxy_.reset();
  proxy_.release(Way::to_client);
  EXPECT_TRUE(seen.comes_to(1));
  EXPECT_TRUE(hold.verify());
}

// Whoever had the lock to itself makes a node alone, and reads the line if that had not the next number. The node is
// found again over the next connection, and the line has still to be read as nobody has read it.
TEST_F(ZooKeeperLockLink, AWriterIsSeenBehindANodeWhoseLineWasNotReadForABrokenConnection_F078) {
  const Client client = open("?session=20s"), other = open_direct("?session=20s");
  for (int i = 0; i < 6; ++i) {
    auto hold = client.mutex("lock").acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    ASSERT_TRUE(hold->release());
  }
  auto his = other.shared_mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(his) << his.error().text();
  std::atomic<int> questions = 0;
  proxy_.set(Way::to_server, {.rewrite = [&](std::string& bytes) {
               if (++questions > 1) bytes.clear();
             }});
  auto pending = client.mutex("lock").async_acquire({.wait = kSoon});
  EXPECT_TRUE(eventually([&] { return questions > 1; })) << "the node was not made alone";
  proxy_.set(Way::to_server, {});
  proxy_.reset();
  EXPECT_TRUE(fails_with(Errc::invalid_argument, std::move(pending).get()));
  EXPECT_TRUE(his->verify());
  EXPECT_TRUE(line().comes_to(1));
}

// A node with our mark that is another session's, as our own would be that is over and has not gone yet. It is in our
// way like anybody's.
TEST_F(ZooKeeperLockLink, ANodeOfAnotherSessionIsNotTakenForOurs_F079) {
  for (const bool session_ends : {false, true}) {
    const Client client = open("?session=20s");
    auto seen = line();
    proxy_.hold(Way::to_client);
    auto pending = client.mutex("lock").async_acquire({.wait = kSoon});
    ASSERT_TRUE(seen.comes_to(1));
    const auto made = seen.all().at(0);
    ZookeeperRaw dying(address(), 1min);
    constexpr std::size_t kDigits = 10;
    const auto planted =
        dying.create(made.path.substr(0, made.path.size() - kDigits), dying.get(made.path).data,
                     ZookeeperRaw::Mode::ephemeral_sequential);
    if (session_ends) {
      end_zookeeper_session(address(), made.stat.owner);
    } else {
      dying.remove(made.path);
    }
    ASSERT_EQ(seen.size(), 1U);
    proxy_.reset();
    proxy_.release(Way::to_client);
    ASSERT_TRUE(seen.comes_to(2)) << "it makes one of its own, behind that one";
    EXPECT_FALSE(pending.ready());
    EXPECT_EQ(seen.session_of(0), dying.session());
    EXPECT_EQ(seen.session_of(1) == made.stat.owner, !session_ends);
    dying.end_session();
    auto hold = std::move(pending).get();
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_GT(hold->fence().value(), fence_of(planted));
    expect_one_node_and_then_none(std::move(hold));
  }
}

// ---- away and back within the session ----

TEST_F(ZooKeeperLockLink, AHoldOutlivesItsConnection_F081) {
  const Client client = open("?session=10s");
  auto hold = client.mutex("lock").acquire().value();
  const auto node = line().all().at(0);
  for (int i = 0; i < 3; ++i) {
    disconnect();
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(is_no_answer(hold.verify()));
    reconnect();
    expect_renewed(hold);
  }
  EXPECT_FALSE(is_lost(hold));
  EXPECT_EQ(hold.fence().value(), fence_of(node));
  EXPECT_EQ(line().session_of(0), node.stat.owner) << "in the same session";
  expect_one_node_and_then_none(std::move(hold));
}

TEST_F(ZooKeeperLockLink, ALockThatIsGivenBackWhileTheNextIsAwayIsTheirsWhenTheyReturn_F082) {
  const Client holder = open_direct("?session=20s"), client = open("?session=20s");
  for (int i = 0; i < 3; ++i) {
    auto hold = holder.mutex("lock").acquire({.wait = kSoon}).value();
    auto waiting = client.mutex("lock").async_acquire({.wait = kSoon});
    ASSERT_TRUE(line().comes_to(2));
    ASSERT_TRUE(comes_to_rest());
    disconnect();
    EXPECT_TRUE(hold.release());
    EXPECT_FALSE(waiting.ready());
    const Stopwatch watch;
    reconnect();
    const auto next = std::move(waiting).get();
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_GT(next->fence(), hold.fence());
    EXPECT_LT(watch.elapsed(), 4s) << "whoever is not woken looks after five seconds";
  }
}

// On a server of its own, which counts the watches of all its clients.
TEST(ZooKeeperLockWatches, AreSetAgainWhenAWaitingClientReturns_F082) {
  ZookeeperServer server;
  Proxy proxy(Address::tcp(server.port()));
  const Client holder = connect("zk://" + server.host() + "?session=20s").value();
  const Client client =
      connect("zk://" + proxy.address().text() + "?session=20s", {.patience = kSoon}).value();
  const auto watches = [&](std::int64_t count) {
    return eventually([&] { return server.number("zk_watch_count") == count; });
  };
  auto hold = holder.mutex("lock").acquire().value();
  auto waiting = client.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(watches(1));
  proxy.refuse();
  proxy.reset();
  ASSERT_TRUE(watches(0));
  proxy.admit();
  EXPECT_TRUE(watches(1));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(std::move(waiting).get());
  EXPECT_TRUE(watches(0)) << "nobody waits any more";
}

TEST_F(ZooKeeperLockLink, WhatIsGivenBackWithoutAConnectionIsFreeAtTheReturn_F081) {
  const Client client = open("?session=2m", 500ms), other = open_direct("?session=20s");
  auto seen = line();
  auto hold = client.mutex("lock").acquire().value();
  const std::int64_t session = seen.session_of(0);
  const auto elsewhere = client.mutex("elsewhere").acquire().value();
  auto waiting = other.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(seen.comes_to(2));
  disconnect();
  EXPECT_TRUE(is_no_answer(hold.release()));
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(seen.size(), 2U);
  const Stopwatch watch;
  reconnect();
  const auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_LT(watch.elapsed(), 10s) << "not only when everything is looked after again";
  EXPECT_GT(next->fence(), hold.fence());
  EXPECT_EQ(line("elsewhere").session_of(0), session) << "the session has not ended for it";
  EXPECT_TRUE(eventually([&] { return elsewhere.verify().has_value(); }));
}

// The same with the delete done and its answer lost.
TEST_F(ZooKeeperLockLink, AReleaseWhoseAnswerIsLostHarmsNobody_F081) {
  const Client client = open("?session=2m", 500ms), other = open_direct("?session=20s");
  auto seen = line();
  auto hold = client.mutex("lock").acquire().value();
  auto waiting = other.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(seen.comes_to(2));
  proxy_.hold(Way::to_client);
  EXPECT_TRUE(is_no_answer(hold.release()));
  const auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  proxy_.reset();
  proxy_.release(Way::to_client);
  ASSERT_TRUE(eventually([&] { return client.mutex("elsewhere").try_acquire().has_value(); }));
  EXPECT_TRUE(next->verify()) << "what is deleted again is not another's";
  EXPECT_EQ(seen.size(), 1U);
}

// ---- those who may not ----

class ZooKeeperLockRights : public LockFaults {
 protected:
  Client as(const std::string& who) const {
    return connect("zk://" + who + proxy_.address().text() + base_ + "?session=20s").value();
  }
};

TEST_F(ZooKeeperLockRights, WhoeverMayNotIsToldSoAtOnceAndAsksNoMore_F087) {
  const Client owner = as("us:right@");
  auto hold = owner.mutex("lock").acquire().value();
  for (const std::string who : {"us:wrong@", "them:right@", ""}) {
    const Client client = as(who);
    const std::uint64_t before = proxy_.traffic(Way::to_server).came;
    const std::uint64_t connections = proxy_.connections();
    const Stopwatch watch;
    EXPECT_TRUE(fails_with(Errc::permission, client.mutex("lock").acquire({.wait = kSoon}))) << who;
    EXPECT_LT(watch.elapsed(), 5s) << who;
    EXPECT_LT(proxy_.traffic(Way::to_server).came - before, 4096U) << who;
    EXPECT_EQ(proxy_.connections(), connections) << who;
    EXPECT_TRUE(fails_with(Errc::permission, client.mutex("other").acquire({.wait = kSoon})))
        << "not even beside it: the base is the owner's";
  }
  EXPECT_TRUE(hold.verify());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(as("us:right@").mutex("lock").acquire({.wait = kSoon}));
}

}  // namespace
}  // namespace holdfast::test
