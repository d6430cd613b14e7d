// How holds end that Java's programs and ours have of the same lock: on request, by force, and with the process
// that had them. And what the fences of ours are worth after one of Java's.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "integration/zookeeper/curator_bench.hpp"
#include "support/outcome.hpp"
#include "support/processes/holder.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class CuratorEnds : public CuratorBench {
 protected:
  // As an operator sees the only one who holds it.
  static ClaimInfo holder_of(const Client& client) {
    const auto seen = client.inspect("lock");
    const bool one = seen && seen->size() == 1 && seen->front().holders.size() == 1;
    EXPECT_TRUE(one);
    return one ? seen->front().holders.front() : ClaimInfo{};
  }
};

bool is_lost(const Hold& hold) {
  const Signal lost;
  const std::stop_callback tell(hold.lost(), [&] { lost.give(); });
  return lost.comes();
}

// ---- on request ----

// Our client lets go by itself once the hold is not valid any more, whether or not the program listens.
TEST_F(CuratorEnds, JavasRevokerEndsOurHoldWhichIsTold) {
  const Client client = open();
  auto hold = client.mutex("lock").try_acquire({.lease = 3s});
  ASSERT_TRUE(hold) << hold.error().text();
  java().tell("anna", acquire("mutex"));
  ASSERT_TRUE(until_there_are(2));
  EXPECT_EQ(java().ask("main", "revoke " + path_of(nodes().front())), "asked");
  EXPECT_EQ(java().answer("anna"), "held");
  EXPECT_FALSE(hold->valid());
  EXPECT_TRUE(is_lost(*hold));
  EXPECT_TRUE(fails_with(Errc::forced, hold->release()));
}

TEST_F(CuratorEnds, AnOperatorOfOursAsksJavasHolderInItsOwnWords) {
  const Client client = open();
  EXPECT_EQ(java().ask("anna", attempt("revocable")), "held");
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(until_there_are(2));
  const ClaimInfo before = holder_of(client);
  EXPECT_FALSE(before.revoked);
  const auto forced = client.force_release("lock", {.fence = before.fence});
  ASSERT_TRUE(forced) << forced.error().text();
  EXPECT_EQ(java().answer("anna"), "asked to release");
  EXPECT_TRUE(holder_of(client).revoked);
  EXPECT_FALSE(pending.ready()) << "asked, and that is all";
  EXPECT_EQ(java().ask("anna", release("revocable")), "released");
  EXPECT_TRUE(granted(std::move(pending)));
}

// ---- by force ----

TEST_F(CuratorEnds, AnOperatorOfOursTakesAnyKindOfLockFromJavaAtOnce) {
  const Client client = open();
  const std::string permit = "take " + lock_ + " 1 1 0";
  int person = 0;  // each time another one, that has no lock which it does not know to be gone
  for (const std::string& how : {attempt("mutex"), attempt("read"), attempt("write"), permit}) {
    SCOPED_TRACE(how);
    const std::string below = how == permit ? "/leases" : "";
    EXPECT_EQ(java().ask("person" + std::to_string(person++), how), "held");
    const auto forced =
        client.force_release("lock", {.fence = holder_of(client).fence, .now = true});
    EXPECT_TRUE(forced) << forced.error().text();
    ASSERT_TRUE(until_there_are(0, below));
  }
}

TEST_F(CuratorEnds, AnOperatorOfOursRevokesAnyKindOfLockOfOursNextToJava) {
  const Client client = open();
  const auto revoke = [&](const Result<Hold>& hold) {
    ASSERT_TRUE(hold) << hold.error().text();
    const auto forced = client.force_release("lock", {.fence = hold->fence()});
    ASSERT_TRUE(forced) << forced.error().text();
    EXPECT_TRUE(is_lost(*hold));
  };
  revoke(client.shared_mutex("lock").acquire({.lease = 2s}));
  EXPECT_EQ(java().ask("anna", acquire("read")), "held");
  revoke(client.shared_mutex("lock").acquire_shared({.lease = 2s}));
  EXPECT_EQ(java().ask("anna", release("read")), "released");
  EXPECT_EQ(java().ask("bert", acquire("write")), "held");
  EXPECT_EQ(java().ask("bert", release("write")), "released");
  revoke(client.semaphore("lock", {.permits = 2}).acquire(2, {.lease = 2s}));
  EXPECT_EQ(java().ask("carl", "take " + lock_ + " 2 2 30000"), "held");
}

// ---- with the process ----

TEST_F(CuratorEnds, OfAKilledJavaProcessIsOursWhenItsSessionEnds_F028) {
  const Client client = open();
  CuratorPeer dies(server_.host(), kShortSession);
  EXPECT_EQ(dies.ask("anna", attempt("mutex")), "held");
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(until_there_are(2));
  dies.process().kill();
  const auto hold = granted(std::move(pending));
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(CuratorEnds, OfOurKilledProcessIsJavasWhenItsSessionEnds_F028) {
  ChildProcess dies(kHolder, {url(kShort), "30000"});
  ASSERT_NE(dies.hear(), "");
  java().tell("anna", acquire("mutex"));
  ASSERT_TRUE(until_there_are(2));
  dies.kill();
  EXPECT_EQ(java().answer("anna"), "held");
  EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(CuratorEnds, AKilledWaiterOfEitherSideIsPassedOver_F029) {
  const Client client = open();
  EXPECT_EQ(java().ask("first", attempt("mutex")), "held");
  std::optional<CuratorPeer> dies(std::in_place, server_.host(), kShortSession);
  dies->tell("anna", acquire("mutex"));
  ASSERT_TRUE(until_there_are(2));
  std::optional<ChildProcess> ours(std::in_place, kHolder, Words{url(kShort), "30000"});
  ASSERT_TRUE(until_there_are(3));
  java().tell("bert", acquire("mutex"));
  ASSERT_TRUE(until_there_are(4));
  auto last = client.mutex("lock").async_acquire({.order = Order::fifo});
  ASSERT_TRUE(until_there_are(5));
  dies.reset();
  ours.reset();
  EXPECT_EQ(java().ask("first", release("mutex")), "released");
  EXPECT_EQ(java().answer("bert"), "held");
  EXPECT_FALSE(last.ready());
  EXPECT_EQ(java().ask("bert", release("mutex")), "released");
  EXPECT_TRUE(granted(std::move(last)));
}

// ---- fences ----

TEST_F(CuratorEnds, OurFencesGrowOverJavasHolds) {
  const Client client = open();
  FencingToken newest;
  for (int round = 0; round < 3; ++round) {
    auto hold = client.mutex("lock").try_acquire();
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_GT(hold->fence(), newest);
    newest = hold->fence();
    EXPECT_TRUE(hold->release());
    EXPECT_EQ(java().ask("anna", attempt("mutex")), "held");
    const FencingToken java_has = holder_of(client).fence;
    EXPECT_GT(java_has, newest);
    newest = java_has;
    EXPECT_EQ(java().ask("anna", release("mutex")), "released");
  }
}

// Which a Java program knows of its own node as well.
TEST_F(CuratorEnds, NativeFencesAreTheNumberOfTheNodesCreation) {
  const Client client = open("session=10s&fence=native");
  const auto created = [&] {
    return static_cast<std::uint64_t>(raw_.get(path_of(nodes().front())).stat.created);
  };
  auto hold = client.mutex("lock").try_acquire();
  ASSERT_TRUE(hold) << hold.error().text();
  const std::uint64_t before = hold->fence().value();
  EXPECT_EQ(before, created());
  EXPECT_TRUE(hold->release());
  EXPECT_EQ(java().ask("anna", attempt("mutex")), "held");
  const std::uint64_t java_has = created();
  EXPECT_EQ(holder_of(client).fence.value(), java_has);
  EXPECT_EQ(java().ask("anna", release("mutex")), "released");
  hold = client.mutex("lock").try_acquire();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), created());
  EXPECT_LT(before, java_has);
  EXPECT_LT(java_has, hold->fence().value());
}

}  // namespace
}  // namespace holdfast::test
