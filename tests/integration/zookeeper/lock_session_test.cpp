// A lock whose session is ended by others, or by a server that stood still for too long.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "integration/zookeeper/lock_faults.hpp"

namespace holdfast::test {
namespace {

class ZooKeeperLockSession : public LockFaults {};

TEST_F(ZooKeeperLockSession, WhoeverLosesItsSessionLosesItsHoldAndGoesOnInAnother_F080) {
  const Client client = open_direct("?session=3s"), other = open_direct("?session=3s");
  auto seen = line();
  auto hold = client.mutex("lock").acquire().value();
  const std::int64_t session = seen.session_of(0);
  end_zookeeper_session(address(), session);
  EXPECT_TRUE(comes_to_be_lost(hold));
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(fails_with(Errc::lost, hold.release()));

  auto next = other.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence());
  EXPECT_TRUE(next->release());

  auto again = client.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_GT(again->fence(), next->fence());
  EXPECT_NE(seen.session_of(0), session);
  expect_renewed(*again);
  EXPECT_TRUE(again->release());
  EXPECT_EQ(seen.size(), 0U);
}

// All holds of the session, not only the one that is asked about.
TEST_F(ZooKeeperLockSession, AllHoldsOfASessionEndWithIt_F080) {
  const Client client = open_direct("?session=3s");
  const auto one = client.mutex("lock").acquire().value();
  const auto two = client.mutex("two").acquire().value();
  const auto pool = client.semaphore("pool", {.permits = 2}).acquire().value();
  end_zookeeper_session(address(), line().session_of(0));
  for (const Hold* each : {&one, &two, &pool}) {
    EXPECT_TRUE(comes_to_be_lost(*each)) << each->name();
    EXPECT_FALSE(each->valid());
  }
  EXPECT_EQ(line("two").size(), 0U);
  EXPECT_EQ(line("pool/leases").size(), 0U);
}

// The session lives on, so the store knows of no end of its own; and it gives leases of half a session at most.
TEST_F(ZooKeeperLockSession, WithoutRenewalAHoldLastsForTheLeaseThatWasAskedFor) {
  constexpr Duration kLease = 4s;
  const Client client = open_direct("?session=2s");
  const auto hold = client.mutex("lock").acquire({.lease = kLease, .renew = false}).value();
  const TimePoint taken = boot_now();
  TimePoint until = hold.valid_until();
  EXPECT_LT(until, taken + kLease / 2) << "a part of it";
  EXPECT_TRUE(eventually([&] {
    until = std::max(until, hold.valid_until());
    return is_lost(hold);
  }));
  EXPECT_GT(until, taken + kLease * 3 / 4);
  EXPECT_LE(until, taken + kLease);
  EXPECT_TRUE(line().comes_to(0));
}

class ZooKeeperWaiting : public LockFaults, public testing::WithParamInterface<Order> {};

TEST_P(ZooKeeperWaiting, WhoeverLosesItsSessionStandsInLineAnewAndIsServed_F080_F082) {
  const Client client = open_direct("?session=3s"), other = open_direct("?session=3s");
  auto seen = line();
  auto hold = client.mutex("lock").acquire().value();
  auto waiting = other.mutex("lock").async_acquire({.wait = kSoon, .order = GetParam()});
  ASSERT_TRUE(seen.comes_to(2));
  const std::int64_t session = seen.session_of(1);
  ASSERT_NE(session, seen.session_of(0));
  end_zookeeper_session(address(), session);
  ASSERT_TRUE(eventually([&] {
    const auto line = seen.all();
    return line.size() == 2 && line[1].stat.owner != session;
  })) << "nobody has asked for it again";
  EXPECT_FALSE(waiting.ready());
  EXPECT_TRUE(hold.valid()) << "that was not its session";

  const FencingToken fence = hold.fence();
  EXPECT_TRUE(hold.release());
  auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), fence);
  EXPECT_EQ(seen.size(), 1U) << "one node, and no ghost";
  expect_renewed(*next);
  EXPECT_TRUE(next->release());
  EXPECT_EQ(seen.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Orders, ZooKeeperWaiting, testing::Values(Order::any, Order::fifo),
                         [](const auto& chosen) {
                           return chosen.param == Order::any ? "Any" : "Fifo";
                         });

// Its clock stood still as well: no session can end before it goes on, and ours must have counted as over by then.
TEST(ZooKeeperLockStandstill, ALockIsLostByOurOwnClockBeforeTheSessionCanEnd_F080_F081) {
  constexpr Duration kSession = 3s;
  ZookeeperServer server;
  const std::string url = "zk://" + server.host() + "?session=3s";
  const Client client = connect(url, {.patience = kSoon}).value();
  const Client other = connect(url, {.patience = kSoon}).value();
  auto hold = client.mutex("lock").acquire().value();
  expect_renewed(hold);
  server.pause();
  const TimePoint stood = boot_now();
  TimePoint until = hold.valid_until();
  EXPECT_TRUE(eventually([&] {
    until = std::max(until, hold.valid_until());
    return is_lost(hold);
  })) << "nobody has told it";
  EXPECT_FALSE(hold.valid());
  EXPECT_LT(until, later(stood, kSession / 2)) << "no question was answered since";
  std::printf("it was valid for %lld ms since, and lost after %lld ms\n",
              static_cast<long long>((until - stood) / 1ms),
              static_cast<long long>((boot_now() - stood) / 1ms));

  auto waiting = other.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(eventually([&] { return boot_now() > later(stood, kSession + 500ms); }));
  server.resume();
  auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence());
  EXPECT_FALSE(hold.valid()) << "nothing revives it";
  EXPECT_TRUE(fails_with(Errc::lost, hold.release()));
  EXPECT_TRUE(next->verify());
  EXPECT_TRUE(next->release());

  auto again = client.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_GT(again->fence(), next->fence());
  expect_renewed(*again);
}

}  // namespace
}  // namespace holdfast::test
