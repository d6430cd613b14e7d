// One semaphore for Java's programs and ours: Curator's InterProcessSemaphoreV2 and our Semaphore.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "integration/zookeeper/curator_bench.hpp"
#include "support/child_process.hpp"
#include "support/outcome.hpp"

namespace holdfast::test {
namespace {

// Takes permits of "lock" and keeps them. Arguments: URL, how many there are, how many it takes.
const Role kPermitHolder("permit holder", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  const auto there_are = static_cast<std::uint32_t>(std::stoul(arguments.at(1)));
  const auto takes = static_cast<std::uint32_t>(std::stoul(arguments.at(2)));
  const Hold hold = client.semaphore("lock", {.permits = there_are}).acquire(takes).value();
  parent.tell("held");
  parent.hear();
});

class CuratorPermits : public CuratorBench {
 protected:
  std::string take(int max, int count) const { return take(max, count, 30000); }
  std::string try_take(int max, int count) const { return take(max, count, 0); }
  const std::string give_back_ = "give_back " + lock_;

 private:
  std::string take(int max, int count, int wait_ms) const {
    return "take " + lock_ + " " + std::to_string(max) + " " + std::to_string(count) + " " +
           std::to_string(wait_ms);
  }
};

TEST_F(CuratorPermits, WhatJavaTookIsMissingForUsUntilItComesBack) {
  const Client client = open();
  const Semaphore three = client.semaphore("lock", {.permits = 3});
  EXPECT_EQ(java().ask("anna", try_take(3, 2)), "held");
  const std::string address = raw_.get(lock_ + "/leases/" + nodes("/leases").front()).data;
  const auto third = three.try_acquire();
  ASSERT_TRUE(third) << third.error().text();
  const auto busy = three.try_acquire();
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error(), Errc::busy);
  ASSERT_TRUE(busy.error().detail().holder);
  EXPECT_EQ(busy.error().detail().holder->host, address);

  auto pending = three.async_acquire(2);
  ASSERT_TRUE(until_there_are(1, "/locks"));
  EXPECT_EQ(java().ask("bert", try_take(3, 1)), "busy");
  EXPECT_EQ(java().ask("anna", give_back_), "released");
  EXPECT_TRUE(granted(std::move(pending)));
}

TEST_F(CuratorPermits, WhatWeTookIsMissingForJavaUntilItComesBack) {
  const Client client = open();
  const Semaphore three = client.semaphore("lock", {.permits = 3});
  auto two = three.try_acquire(2);
  ASSERT_TRUE(two) << two.error().text();
  EXPECT_EQ(java().ask("anna", try_take(3, 2)), "busy");
  EXPECT_EQ(java().ask("anna", try_take(3, 1)), "held");
  EXPECT_EQ(java().ask("bert", try_take(3, 1)), "busy");
  EXPECT_TRUE(fails_with(Errc::busy, three.try_acquire()));
  java().tell("bert", take(3, 2));
  ASSERT_TRUE(until_there_are(4, "/leases"));
  EXPECT_TRUE(two->valid()) << "it has made its node, and does not hold yet";
  EXPECT_TRUE(two->release());
  EXPECT_EQ(java().answer("bert"), "held");
}

// Curator's own clients that want two of two each may wait for each other for ever: they take one by one.
TEST_F(CuratorPermits, TwoOfOursThatWantAllAreServedInTurnWithJavaBetween) {
  const Client one = open(), other = open();
  EXPECT_EQ(java().ask("first", try_take(2, 1)), "held");
  for (int round = 0; round < 5; ++round) {
    auto mine = one.semaphore("lock", {.permits = 2}).async_acquire(2);
    ASSERT_TRUE(until_there_are(1, "/locks"));
    java().tell("anna", take(2, 1));
    ASSERT_TRUE(until_there_are(2, "/locks"));
    auto yours = other.semaphore("lock", {.permits = 2}).async_acquire(2);
    ASSERT_TRUE(until_there_are(3, "/locks"));
    java().tell("bert", take(2, 1));
    ASSERT_TRUE(until_there_are(4, "/locks"));

    EXPECT_EQ(java().ask("first", give_back_), "released");
    auto hold = granted(std::move(mine));
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->release());
    ASSERT_EQ(java().answer("anna"), "held");
    EXPECT_EQ(java().ask("anna", give_back_), "released");
    hold = granted(std::move(yours));
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->release());
    ASSERT_EQ(java().answer("bert"), "held");
    EXPECT_EQ(java().ask("bert", give_back_), "released");
    EXPECT_EQ(java().ask("first", try_take(2, 1)), "held");
  }
}

TEST_F(CuratorPermits, SeveralForUsAndSeveralForJavaAreServedWhileThereAreEnoughForBoth) {
  const Client one = open(), other = open();
  auto all = one.semaphore("lock", {.permits = 3}).try_acquire(3);
  ASSERT_TRUE(all) << all.error().text();
  java().tell("anna", take(3, 2));
  ASSERT_TRUE(until_there_are(4, "/leases"));
  auto mine = one.semaphore("lock", {.permits = 3}).async_acquire(2);
  ASSERT_TRUE(until_there_are(2, "/locks"));
  auto yours = other.semaphore("lock", {.permits = 3}).async_acquire(2);
  ASSERT_TRUE(until_there_are(3, "/locks"));
  EXPECT_TRUE(all->release());
  // Java has its first; ours comes before its second.
  auto hold = granted(std::move(mine));
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(nodes("/leases").size(), 3U);
  EXPECT_TRUE(hold->release());
  hold = granted(std::move(yours));
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_TRUE(hold->release());
  EXPECT_EQ(java().answer("anna"), "held");
}

// Where there are not, one of both has to give up: Java's has one and stands in line for the next, behind ours
// that needs it.
TEST_F(CuratorPermits, JavaThatTakesOneByOneIsInOurWayUntilItsTimeIsUp) {
  const Client client = open();
  const Semaphore two = client.semaphore("lock", {.permits = 2});
  auto all = two.try_acquire(2);
  ASSERT_TRUE(all) << all.error().text();
  java().tell("anna", "take " + lock_ + " 2 2 3000");
  ASSERT_TRUE(until_there_are(3, "/leases"));
  auto pending = two.async_acquire(2);
  ASSERT_TRUE(until_there_are(2, "/locks"));
  EXPECT_TRUE(all->release());
  EXPECT_EQ(java().answer("anna"), "busy");
  EXPECT_TRUE(granted(std::move(pending)));
}

TEST_F(CuratorPermits, ThoseOfAKilledJavaProcessComeBackWithItsSession_F028) {
  const Client client = open();
  CuratorPeer dies(server_.host(), kShortSession);
  EXPECT_EQ(dies.ask("anna", try_take(2, 2)), "held");
  auto pending = client.semaphore("lock", {.permits = 2}).async_acquire(2);
  ASSERT_TRUE(until_there_are(1, "/locks"));
  dies.process().kill();
  EXPECT_TRUE(granted(std::move(pending)));
}

TEST_F(CuratorPermits, ThoseOfOurKilledProcessComeBackWithItsSession_F028) {
  ChildProcess dies(kPermitHolder, {url(kShort), "2", "2"});
  ASSERT_EQ(dies.hear(), "held");
  java().tell("anna", take(2, 2));
  ASSERT_TRUE(until_there_are(1, "/locks"));
  dies.kill();
  EXPECT_EQ(java().answer("anna"), "held");
}

}  // namespace
}  // namespace holdfast::test
