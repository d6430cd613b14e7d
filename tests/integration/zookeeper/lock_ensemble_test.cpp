// Locks on three servers: one that is cut off and goes on talking, and one that led and is gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "integration/zookeeper/lock_faults.hpp"
#include "support/servers/zookeeper_ensemble.hpp"

namespace holdfast::test {
namespace {

class ZooKeeperLockEnsemble : public testing::Test {
 protected:
  Address address_of(std::size_t which) { return Address::tcp(ensemble_[which].port()); }
  Client open_on(std::size_t which, const std::string& options) {
    return connect("zk://" + ensemble_[which].host() + options, {.patience = kSoon}).value();
  }
  Client open(const std::string& options) {
    return connect("zk://" + ensemble_.hosts() + options, {.patience = kSoon}).value();
  }

  // A follower goes on talking for long enough, also where a session ends late.
  ZookeeperEnsemble ensemble_{{.silence = 9s}};
};

// Somebody else's lock as many are written: a node in the line, and the belief that what one's own server shows is so.
class NaiveHolder {
 public:
  NaiveHolder(const Address& server, std::chrono::milliseconds session, const std::string& lock)
      : raw_(server, session) {
    raw_.create_container(lock);
    node_ = raw_.create(lock + "/_c_0aa7e5a0-0000-4000-8000-000000000000-lock-", "",
                        ZookeeperRaw::Mode::ephemeral_sequential)
                .path;
  }
  // And the question keeps the connection and, as far as that server knows, the session.
  bool believes() { return raw_.exists(node_).has_value(); }

 private:
  ZookeeperRaw raw_;
  std::string node_;
};

TEST_F(ZooKeeperLockEnsemble, AFollowerThatIsCutOffKeepsNobodyHoldingPastAnothersGrant_F081_F085) {
  const std::size_t follower = ensemble_.a_follower();
  const Client client = open_on(follower, "?session=3s");
  const Client other = open_on(ensemble_.leader(), "?session=30s");
  const auto hold = client.mutex("lock").acquire().value();
  NaiveHolder naive(address_of(follower), 3s, "/naive");
  LineOnServer seen(address_of(follower), "/lock");  // no session begins there once it is cut off
  const std::string node = seen.all().at(0).path;
  expect_renewed(hold);
  auto waiting = other.mutex("lock").async_acquire({.wait = kSoon});
  auto naive_waiting = other.mutex("naive").async_acquire({.wait = kSoon});
  ASSERT_TRUE(seen.comes_to(2));

  LineOnServer truth(address_of(ensemble_.leader()), "/lock");
  ensemble_.cut_off(follower);
  TimePoint valid_until{};
  TimePoint still_ours{};  // nobody can have been granted it before that
  for (TimePoint sent = boot_now(); truth.raw().exists(node); sent = boot_now()) {
    still_ours = sent;
    valid_until = std::max(valid_until, hold.valid_until());
    ASSERT_TRUE(naive.believes());
  }
  EXPECT_FALSE(hold.valid());
  EXPECT_LT(valid_until, still_ours);
  std::printf("it was valid until %lld ms before another could have it\n",
              static_cast<long long>((still_ours - valid_until) / 1ms));
  const auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence());
  EXPECT_TRUE(comes_to_be_lost(hold));
  EXPECT_FALSE(hold.verify()) << "its server cannot ask the others";

  const auto naive_next = std::move(naive_waiting).get();
  ASSERT_TRUE(naive_next) << naive_next.error().text();
  EXPECT_TRUE(naive.believes()) << "two at once: so it would be if we believed that server";
  EXPECT_TRUE(naive_next->valid());
  EXPECT_TRUE(seen.raw().exists(node)) << "it goes on showing the old holder";

  ensemble_.join(follower);
  EXPECT_TRUE(next->verify());
  EXPECT_FALSE(hold.valid());
}

// A leader that the others have given up, and that has not heard of it: it answers its own clients, syncs too, for as
// long as it would wait for a follower. The new one gives each session its whole time anew, and then ends it.
TEST(ZooKeeperDeposedLeader, KeepsNobodyHoldingPastAnothersGrant_F081_F089) {
  ZookeeperEnsemble ensemble({.each = {.tick = 1s}, .silence = 25s});
  const std::size_t old = ensemble.leader();
  const auto open = [](const std::string& hosts, const char* options) {
    return connect("zk://" + hosts + options, {.patience = kSoon}).value();
  };
  const Client client = open(ensemble[old].host(), "?session=3s");
  const auto hold = client.mutex("lock").acquire().value();
  LineOnServer seen(Address::tcp(ensemble[old].port()), "/lock");
  expect_renewed(hold);

  TimePoint valid_until = hold.valid_until();
  ensemble.depose(old);
  const Client other = open(ensemble.hosts_without(old), "?session=30s");
  auto waiting = other.mutex("lock").async_acquire({.wait = kSoon});
  TimePoint not_yet{};  // another has it
  for (TimePoint now = boot_now(); !waiting.ready(); now = boot_now()) {
    not_yet = now;
    valid_until = std::max(valid_until, hold.valid_until());
    std::this_thread::sleep_for(1ms);
  }
  const auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_FALSE(hold.valid());
  EXPECT_LT(valid_until, not_yet);
  EXPECT_GT(next->fence(), hold.fence());
  std::printf("it was valid until %lld ms before another had it\n",
              static_cast<long long>((not_yet - valid_until) / 1ms));
  seen.raw().sync();
  EXPECT_EQ(seen.size(), 1U)
      << "so it would be if we believed that server: it shows the old holder";
  EXPECT_TRUE(comes_to_be_lost(hold));
}

// A pause of the network that is shorter than the session costs no more than the time: what was lost by our own clock
// is given back, and can be had again.
TEST_F(ZooKeeperLockEnsemble, WhoeverWasCutOffForAShortWhileComesBack_F081) {
  const std::size_t follower = ensemble_.a_follower();
  const Client client = open_on(follower, "?session=8s");
  const auto hold = client.mutex("lock").acquire().value();
  expect_renewed(hold);
  ensemble_.cut_off(follower);
  EXPECT_TRUE(comes_to_be_lost(hold));
  ensemble_.join(follower);
  const Client other = open_on(ensemble_.leader(), "?session=30s");
  const auto next = other.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence());
  EXPECT_FALSE(hold.valid());
}

TEST_F(ZooKeeperLockEnsemble, HoldsAndPlacesInLineOutliveTheLeader_F089) {
  const Client client = open("?session=20s"), second = open("?session=20s"),
               third = open("?session=20s");
  auto hold = client.mutex("lock").acquire().value();
  const FencingToken fence = hold.fence();
  auto second_waits = second.mutex("lock").async_acquire({.wait = 1min, .order = Order::fifo});
  const std::size_t old = ensemble_.leader();
  {
    LineOnServer seen(address_of(old), "/lock");
    ASSERT_TRUE(seen.comes_to(2));
  }
  auto third_waits = third.mutex("lock").async_acquire({.wait = 1min, .order = Order::fifo});
  {
    LineOnServer seen(address_of(old), "/lock");
    ASSERT_TRUE(seen.comes_to(3));
  }
  const TimePoint before = hold.valid_until();
  ensemble_[old].kill();
  const Stopwatch watch;
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(hold.valid());
    return hold.valid_until() > before && hold.verify().has_value();
  })) << "it is renewed";
  std::printf("renewed %lld ms after the leader's death\n",
              static_cast<long long>(watch.elapsed().count()));
  const std::size_t leader = ensemble_.leader();
  ASSERT_NE(leader, old);
  LineOnServer seen(address_of(leader), "/lock");
  seen.raw().sync();
  EXPECT_EQ(seen.size(), 3U) << "nobody has come twice";
  EXPECT_EQ(fence_of(seen.all().at(0)), fence.value());
  EXPECT_FALSE(is_lost(hold));
  EXPECT_FALSE(second_waits.ready() || third_waits.ready());

  EXPECT_TRUE(hold.release());
  auto next = std::move(second_waits).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), fence);
  EXPECT_FALSE(third_waits.ready());
  EXPECT_TRUE(next->release());
  auto last = std::move(third_waits).get();
  ASSERT_TRUE(last) << last.error().text();
  EXPECT_GT(last->fence(), next->fence());
  EXPECT_TRUE(last->release());
  seen.raw().sync();
  EXPECT_EQ(seen.size(), 0U);
}

}  // namespace
}  // namespace holdfast::test
