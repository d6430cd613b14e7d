// What Curator does, as the tests that share locks with it take it for granted: who excludes whom, and the names of
// its nodes.
#include "integration/zookeeper/curator_peer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "integration/zookeeper/curator_bench.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::MatchesRegex;
using testing::SizeIs;

constexpr const char* kUuid = "_c_[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-";

class Curator : public CuratorBench {
 protected:
  static std::string node(const std::string& kind, int number) {
    const std::string digits = std::to_string(number);
    return kUuid + kind + std::string(10 - digits.size(), '0') + digits;
  }
};

TEST_F(Curator, TwoProcessesExcludeEachOther) {
  CuratorPeer one(server_.host()), other(server_.host());
  EXPECT_EQ(one.ask("anna", "acquire mutex " + lock_ + " 0"), "held");
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(node("lock-", 0))));
  EXPECT_EQ(raw_.get(lock_ + "/" + nodes().front()).stat.owner, one.session());
  EXPECT_EQ(other.ask("bert", "acquire mutex " + lock_ + " 0"), "busy");
  other.tell("bert", "acquire mutex " + lock_ + " 30000");
  ASSERT_TRUE(until_there_are(2));
  EXPECT_EQ(one.ask("anna", "release mutex " + lock_), "released");
  EXPECT_EQ(other.answer("bert"), "held");
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(node("lock-", 2))))
      << "a place that was left counts";
}

TEST_F(Curator, AKilledHolderIsFollowedWhenItsSessionEnds) {
  CuratorPeer other(server_.host());
  {
    CuratorPeer one(server_.host(), 1s);
    EXPECT_EQ(one.ask("anna", "acquire mutex " + lock_ + " 0"), "held");
  }
  EXPECT_EQ(other.ask("bert", "acquire mutex " + lock_ + " 30000"), "held");
}

TEST_F(Curator, AnExpiredSessionIsToldAndItsNodesGo) {
  CuratorPeer java(server_.host());
  EXPECT_EQ(java.ask("anna", "acquire mutex " + lock_ + " 0"), "held");
  EXPECT_EQ(java.ask("main", "expire"), "expired");
  EXPECT_TRUE(until_there_are(0));
  std::string state;
  while (state != "LOST") {
    state = java.answer("peer");
    ASSERT_NE(state, "");
  }
}

TEST_F(Curator, ReadersShareAndAWriterWaitsForThem) {
  CuratorPeer java(server_.host());
  EXPECT_EQ(java.ask("anna", "acquire read " + lock_ + " 0"), "held");
  EXPECT_EQ(java.ask("bert", "acquire read " + lock_ + " 0"), "held");
  java.tell("carl", "acquire write " + lock_ + " 30000");
  ASSERT_TRUE(until_there_are(3));
  EXPECT_THAT(nodes(),
              ElementsAre(MatchesRegex(node("__READ__", 0)), MatchesRegex(node("__READ__", 1)),
                          MatchesRegex(node("__WRIT__", 2))));
  EXPECT_EQ(java.ask("anna", "release read " + lock_), "released");
  EXPECT_EQ(java.ask("bert", "release read " + lock_), "released");
  EXPECT_EQ(java.answer("carl"), "held");
}

TEST_F(Curator, AWriterMayAlsoRead) {
  CuratorPeer java(server_.host());
  EXPECT_EQ(java.ask("anna", "acquire write " + lock_ + " 0"), "held");
  EXPECT_EQ(java.ask("anna", "acquire read " + lock_ + " 0"), "held");
  EXPECT_EQ(java.ask("anna", "release write " + lock_), "released");
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(node("__READ__", 1))));
}

TEST_F(Curator, ASemaphoreHasItsLeasesBesideItsLock) {
  CuratorPeer java(server_.host());
  EXPECT_EQ(java.ask("anna", "take " + lock_ + " 3 2 0"), "held");
  EXPECT_THAT(nodes("/leases"),
              ElementsAre(MatchesRegex(node("lease-", 0)), MatchesRegex(node("lease-", 1))));
  java.tell("bert", "take " + lock_ + " 3 2 30000");
  ASSERT_TRUE(until_there_are(4, "/leases"));
  EXPECT_THAT(nodes("/locks"), SizeIs(1)) << "who waits for leases holds the lock";
  EXPECT_EQ(java.ask("anna", "give_back " + lock_), "released");
  EXPECT_EQ(java.answer("bert"), "held");
}

TEST_F(Curator, AHolderIsAskedToRelease) {
  CuratorPeer java(server_.host());
  EXPECT_EQ(java.ask("anna", "acquire revocable " + lock_ + " 0"), "held");
  const std::string node = lock_ + "/" + nodes().front();
  EXPECT_EQ(raw_.get(node).data, "");
  EXPECT_EQ(java.ask("main", "revoke " + node), "asked");
  EXPECT_EQ(raw_.get(node).data, "__REVOKE__");
  EXPECT_EQ(java.answer("anna"), "asked to release");
}

TEST_F(Curator, PairsAreCounted) {
  CuratorPeer java(server_.host());
  EXPECT_THAT(java.ask("main", "pairs " + lock_ + " 4 200 one"),
              MatchesRegex("[1-9][0-9.]+ [1-9][0-9.]+"));
  EXPECT_THAT(java.ask("main", "pairs " + lock_ + " 4 200 each"),
              MatchesRegex("[1-9][0-9.]+ [1-9][0-9.]+"));
}

}  // namespace
}  // namespace holdfast::test
