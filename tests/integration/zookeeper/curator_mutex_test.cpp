// One mutex for Java's programs and ours: Curator's InterProcessMutex and our Mutex are the same nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/zookeeper/curator_bench.hpp"
#include "support/outcome.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::steady_clock;

class CuratorMutex : public CuratorBench {
 protected:
  // Whoever waits has nothing more to ask: from now on it can only be woken.
  bool until_the_second_sleeps() {
    const bool is_watched = until_there_are(2) && eventually([&, first = path_of(nodes().front())] {
                              return server_.word("wchp").find(first) != std::string::npos;
                            });
    std::this_thread::sleep_for(20ms);
    return is_watched;
  }
};

TEST_F(CuratorMutex, WhatJavaHoldsIsBusyForUsAndOursOnceItLetsGo) {
  const Client client = open();
  for (const Order order : {Order::any, Order::fifo}) {
    SCOPED_TRACE(order == Order::fifo ? "fifo" : "any");
    EXPECT_EQ(java().ask("anna", attempt("mutex")), "held");
    const std::string address = raw_.get(path_of(nodes().front())).data;

    const auto busy = client.mutex("lock").try_acquire({.order = order});
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error(), Errc::busy);
    ASSERT_TRUE(busy.error().detail().holder);
    EXPECT_NE(address, "");
    EXPECT_EQ(busy.error().detail().holder->host, address);
    EXPECT_EQ(nodes().size(), 1U) << "who did not want to wait leaves nothing in the line";

    auto pending = client.mutex("lock").async_acquire({.order = order});
    ASSERT_TRUE(until_there_are(2));
    EXPECT_FALSE(pending.ready());
    EXPECT_EQ(java().ask("anna", release("mutex")), "released");
    auto hold = granted(std::move(pending));
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->release());
    EXPECT_TRUE(until_there_are(0));
  }
}

TEST_F(CuratorMutex, WhatWeHoldIsBusyForJavaAndItsOnceWeLetGo) {
  const Client client = open();
  for (const Order order : {Order::any, Order::fifo}) {
    SCOPED_TRACE(order == Order::fifo ? "fifo" : "any");
    auto hold = client.mutex("lock").try_acquire({.order = order});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_EQ(java().ask("anna", attempt("mutex")), "busy");
    EXPECT_EQ(java().ask("main", "participants " + lock_), path_of(nodes().front()));

    java().tell("anna", acquire("mutex"));
    ASSERT_TRUE(until_there_are(2));
    EXPECT_TRUE(hold->valid());
    EXPECT_TRUE(hold->release());
    EXPECT_EQ(java().answer("anna"), "held");
    EXPECT_TRUE(fails_with(Errc::busy, client.mutex("lock").try_acquire({.order = order})));
    EXPECT_EQ(java().ask("anna", release("mutex")), "released");
  }
}

// It is the node that keeps one out, and no other reason.
TEST_F(CuratorMutex, AnotherNodeIsAnotherLock) {
  const Client client = open();
  EXPECT_EQ(java().ask("anna", attempt("mutex")), "held");
  EXPECT_TRUE(client.mutex("Lock").try_acquire());
  const Client elsewhere = connect("zk://" + server_.host() + server_.new_base()).value();
  EXPECT_TRUE(elsewhere.mutex("lock").try_acquire());
  EXPECT_TRUE(fails_with(Errc::busy, client.mutex("lock").try_acquire()));
}

TEST_F(CuratorMutex, NamesThatArePathsAreJavasPaths) {
  const Client client = connect(url("session=10s&names=path")).value();
  EXPECT_EQ(java().ask("anna", "acquire mutex " + base_ + "/team/deploy 0"), "held");
  EXPECT_TRUE(fails_with(Errc::busy, client.mutex("team/deploy").try_acquire()));
  EXPECT_EQ(java().ask("anna", "release mutex " + base_ + "/team/deploy"), "released");
  const auto hold = client.mutex("team/deploy").try_acquire();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(java().ask("anna", "acquire mutex " + base_ + "/team/deploy 0"), "busy");
}

TEST_F(CuratorMutex, TheLineIsServedInOrderOfArrivalAcrossBoth) {
  const Client one = open(), other = open();
  EXPECT_EQ(java().ask("first", attempt("mutex")), "held");
  const std::vector<std::string> people{"anna", "bert", "carl", "dora"};
  std::vector<Pending<Hold>> ours;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Client& client = i % 2 == 0 ? one : other;
    ours.push_back(client.mutex("lock").async_acquire({.order = Order::fifo}));
    ASSERT_TRUE(until_there_are(2 * i + 2));
    java().tell(people[i], acquire("mutex"));
    ASSERT_TRUE(until_there_are(2 * i + 3));
  }
  // Nobody lets go by himself: had it gone to another one, the one asked about would not get it.
  EXPECT_EQ(java().ask("first", release("mutex")), "released");
  for (std::size_t i = 0; i < people.size(); ++i) {
    auto hold = granted(std::move(ours[i]));
    ASSERT_TRUE(hold) << i << ": " << hold.error().text();
    EXPECT_TRUE(hold->release());
    ASSERT_EQ(java().answer(people[i]), "held");
    EXPECT_EQ(java().ask(people[i], release("mutex")), "released");
  }
}

// What would break the order above: places count by the number behind "lock-", not by the whole name nor by
// the time of arrival, and both sides have to see it so.
TEST_F(CuratorMutex, ASmallerNumberGoesFirstForBothWheneverItCame) {
  const Client client = open();
  const std::string uuid = "_c_ffffffff-533a-4ee5-a79b-948e52e4650a-";
  raw_.create(base_);
  raw_.create(lock_);
  raw_.create(path_of(uuid + "lock-0000000100"));
  {
    const auto hold = client.mutex("lock").try_acquire();
    ASSERT_TRUE(hold) << "100 came before: " << hold.error().text();
  }
  ASSERT_TRUE(until_there_are(1));
  EXPECT_EQ(java().ask("anna", attempt("mutex")), "held");
  EXPECT_EQ(java().ask("anna", release("mutex")), "released");
  raw_.create(path_of(uuid + "lock-0000000000"));
  EXPECT_TRUE(fails_with(Errc::busy, client.mutex("lock").try_acquire()));
  EXPECT_EQ(java().ask("anna", attempt("mutex")), "busy");
}

// ---- how fast ----

void report(const char* what, std::vector<microseconds>& times) {
  std::sort(times.begin(), times.end());
  const auto median = times[times.size() / 2];
  std::printf("%s: median %.1f ms, worst %.1f ms\n", what,
              static_cast<double>(median.count()) / 1000,
              static_cast<double>(times.back().count()) / 1000);
  EXPECT_LT(median, 100ms) << what;
}

// Both ways with the pipe to and from Java, which can only make it slower. The median, since a busy machine
// may stop anybody for a while.
TEST_F(CuratorMutex, AReleaseWakesTheOtherSideWithin100Ms) {
  const Client client = open();
  std::vector<microseconds> to_us, to_java;
  const auto since = [](steady_clock::time_point start) {
    return std::chrono::duration_cast<microseconds>(steady_clock::now() - start);
  };
  EXPECT_EQ(java().ask("anna", attempt("mutex")), "held");
  for (int round = 0; round < 20; ++round) {
    auto pending = client.mutex("lock").async_acquire();
    ASSERT_TRUE(until_the_second_sleeps());
    auto start = steady_clock::now();
    java().tell("anna", release("mutex"));
    auto hold = granted(std::move(pending));
    to_us.push_back(since(start));
    ASSERT_TRUE(hold) << hold.error().text();
    ASSERT_EQ(java().answer("anna"), "released");

    java().tell("anna", acquire("mutex"));
    ASSERT_TRUE(until_the_second_sleeps());
    start = steady_clock::now();
    ASSERT_TRUE(hold->release());
    ASSERT_EQ(java().answer("anna"), "held");
    to_java.push_back(since(start));
  }
  report("Java lets go, we have it", to_us);
  report("we let go, Java has it", to_java);
}

}  // namespace
}  // namespace holdfast::test
