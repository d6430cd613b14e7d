// Scenarios of shared mutexes (19 to 23) and semaphores (24 to 26), through the client's own API.
#include <algorithm>
#include <future>
#include <optional>
#include <vector>

#include "conformance/scenarios.hpp"
#include "holdfast/owner.hpp"

namespace holdfast::conformance {
namespace {

class SharedScenarios : public Scenarios {
 protected:
  void SetUp() override {
    Scenarios::SetUp();
    HOLDFAST_SCENARIO_NEEDS(shared);
  }
  static SharedMutex lock(const Peer& peer) { return peer.client.shared_mutex("lock"); }
  AcquireOptions usual() { return {.lease = lease()}; }
  AcquireOptions once() { return {.wait = 0s, .lease = lease()}; }

  Hold read(const Peer& peer) { return on().get(lock(peer).async_acquire_shared(usual())).value(); }
  Hold write(const Peer& peer) { return on().get(lock(peer).async_acquire(usual())).value(); }
  bool can_read(const Peer& peer) { return lock(peer).try_acquire_shared(once()).has_value(); }
  bool can_write(const Peer& peer) { return lock(peer).try_acquire(once()).has_value(); }
  bool soon_can_write(const Peer& peer) {
    return on().comes_true([&] { return can_write(peer); }, 20s);
  }
};

TEST_P(SharedScenarios, S19_ReadersShareAndAWriterWaitsForAllOfThem) {
  const Peer alice = on().client(), bob = on().client(), carol = on().client();
  std::optional<Hold> first(read(alice)), second(read(bob)), third(read(alice));
  auto writing = lock(carol).async_acquire(usual());
  until_waiting(1);
  EXPECT_FALSE(can_read(bob)) << "a reader that comes after a waiting writer";
  for (auto* each : {&first, &second}) {
    ASSERT_TRUE((*each)->release());
    EXPECT_FALSE(writing.ready());
  }
  ASSERT_TRUE(third->release());
  const auto written = on().get(std::move(writing));
  ASSERT_TRUE(written);
  EXPECT_TRUE(written->valid());
  EXPECT_FALSE(can_read(alice));
}

TEST_P(SharedScenarios, S20_WhenTheWriterLeavesTwentyParkedReadersEnterTogether) {
  const Peer alice = on().client(), bob = on().client();
  std::optional<Hold> writing(write(alice));
  std::vector<Pending<Hold>> waiting;
  for (std::size_t i = 0; i < 20; ++i) {
    waiting.push_back(lock(i % 2 == 0 ? alice : bob).async_acquire_shared(usual()));
    until_waiting(i + 1);
  }
  ASSERT_TRUE(writing->release());
  std::vector<Hold> readers;
  for (auto& each : waiting) readers.push_back(on().get(std::move(each)).value());
  EXPECT_TRUE(std::all_of(readers.begin(), readers.end(), [](const Hold& hold) {
    return hold.valid();
  })) << "all at the same time";
  EXPECT_FALSE(can_write(alice));
  readers.clear();
  EXPECT_TRUE(soon_can_write(alice));
}

TEST_P(SharedScenarios, S21_ADowngradedWriterLetsReadersInAndKeepsWritersOut) {
  HOLDFAST_SCENARIO_NEEDS(downgrade);
  const Peer alice = on().client(), bob = on().client();
  Hold writing = write(alice);
  const FencingToken before = writing.fence();
  auto reading = lock(alice).downgrade(writing, usual());
  ASSERT_TRUE(reading) << reading.error().text();
  EXPECT_FALSE(writing.valid());
  EXPECT_TRUE(reading->valid());
  EXPECT_GT(reading->fence(), before);
  EXPECT_TRUE(can_read(bob));
  EXPECT_FALSE(can_write(bob));
  on().let_pass(lease() * 2);
  EXPECT_TRUE(reading->valid()) << "it is renewed like any other";
  EXPECT_TRUE(reading->release());
  EXPECT_TRUE(soon_can_write(bob));
}

TEST_P(SharedScenarios, S22_AReaderThatWantsToWriteIsToldThatItWouldDeadlock) {
  const Peer alice = on().client();
  Owner task;
  AcquireOptions mine = usual();
  mine.owner = &task;
  const auto reading = on().get(lock(alice).async_acquire_shared(mine));
  ASSERT_TRUE(reading);
  const auto writing = on().get(lock(alice).async_acquire(mine));
  ASSERT_FALSE(writing);
  EXPECT_EQ(writing.error(), Errc::would_deadlock);
  EXPECT_TRUE(on().get(lock(alice).async_acquire_shared(mine))) << "reading twice is no trouble";
}

TEST_P(SharedScenarios, S22_AnUpgradeableReaderBecomesTheWriterWhenTheOthersLeave) {
  HOLDFAST_SCENARIO_NEEDS(upgradeable);
  const Peer alice = on().client(), bob = on().client();
  Hold before = lock(alice).acquire_upgradeable(once()).value();
  std::optional<Hold> other(read(bob));
  EXPECT_FALSE(lock(bob).try_acquire_upgradeable(once())) << "one at a time";
  auto upgrading =
      std::async(std::launch::async, [&] { return lock(alice).upgrade(before, usual()); });
  until_waiting(1);
  EXPECT_FALSE(can_read(bob)) << "those that come meanwhile wait";
  ASSERT_TRUE(other->release());
  const auto writing = upgrading.get();
  ASSERT_TRUE(writing) << writing.error().text();
  EXPECT_FALSE(before.valid());
  EXPECT_FALSE(can_read(bob));
  EXPECT_FALSE(can_write(bob));
}

TEST_P(SharedScenarios, S22_AnUpgradeThatIsNotGrantedLeavesTheReaderAsItWas) {
  HOLDFAST_SCENARIO_NEEDS(upgradeable);
  const Peer alice = on().client(), bob = on().client();
  Hold before = lock(alice).acquire_upgradeable(once()).value();
  const Hold other = read(bob);
  const auto refused = lock(alice).upgrade(before, once());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::busy);
  EXPECT_TRUE(before.valid());
  EXPECT_TRUE(before.verify());
  const auto wrong = lock(alice).downgrade(before, usual());
  EXPECT_TRUE(wrong) << "an upgradeable reader becomes a plain one";
}

TEST_P(SharedScenarios, S22_WhatIsNotOursCannotBeExchanged) {
  HOLDFAST_SCENARIO_NEEDS(downgrade);
  const Peer alice = on().client(), bob = on().client();
  Hold writing = write(alice);
  EXPECT_EQ(lock(bob).downgrade(writing, usual()).error(), Errc::not_owner);
  EXPECT_EQ(alice.client.shared_mutex("other").downgrade(writing, usual()).error(),
            Errc::not_owner);
  EXPECT_TRUE(writing.valid());
  ASSERT_TRUE(writing.release());
  EXPECT_EQ(lock(alice).downgrade(writing, usual()).error(), Errc::not_owner);
}

TEST_P(SharedScenarios, S23_ADeadReaderKeepsAWriterOutNoLongerThanItsOwnLease_F028) {
  const Peer dead = on().client(), alive = on().client(), carol = on().client();
  const Hold lost = on().get(lock(dead).async_acquire_shared({.lease = lease()})).value();
  const Hold kept = on().get(lock(alive).async_acquire_shared({.lease = lease() * 4})).value();
  dead.link->set(Link::down);
  on().let_pass(lease() * 2);
  EXPECT_FALSE(lost.valid());
  EXPECT_TRUE(kept.valid()) << "its lease is its own";
  alive.link->set(Link::down);
  const TimePoint start = on().now();
  const auto writing = on().get(lock(carol).async_acquire(usual()));
  ASSERT_TRUE(writing);
  EXPECT_LE(on().now() - start, lease() * 4 + on().grace());
}

INSTANTIATE_TEST_SUITE_P(Stores, SharedScenarios, testing::ValuesIn(scenario_stores()),
                         [](const auto& store) { return store.param; });

// ---- semaphores ----

class PermitScenarios : public Scenarios {
 protected:
  void SetUp() override {
    Scenarios::SetUp();
    HOLDFAST_SCENARIO_NEEDS(permits);
  }
  static Semaphore pool(const Peer& peer, std::uint32_t permits = 3) {
    return peer.client.semaphore("lock", {.permits = permits});
  }
  AcquireOptions usual() { return {.lease = lease()}; }
  Result<Hold> take(const Peer& peer, std::uint32_t permits) {
    return on().get(pool(peer).async_acquire(permits, usual()));
  }
};

TEST_P(PermitScenarios, S24_NoMoreAreHeldThanThereAre) {
  const Peer alice = on().client(), bob = on().client();
  std::vector<Hold> holds;
  std::vector<std::uint32_t> slots;
  for (int i = 0; i < 3; ++i) {
    holds.push_back(take(i == 0 ? alice : bob, 1).value());
    for (const std::uint32_t slot : holds.back().slots()) slots.push_back(slot);
  }
  std::sort(slots.begin(), slots.end());
  EXPECT_EQ(slots, (std::vector<std::uint32_t>{0, 1, 2}));
  const auto fourth = pool(alice).try_acquire(1, usual());
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error(), Errc::busy);
  EXPECT_TRUE(fourth.error().detail().holder);
}

TEST_P(PermitScenarios, S24_TheyAreExactInACrowd) {
  const Peer alice = on().client(), bob = on().client();
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        auto hold = pool(i % 2 == 0 ? alice : bob).acquire(1, usual());
        ASSERT_TRUE(hold) << hold.error().text();
        const int now_inside = ++inside;
        int seen = most;
        while (seen < now_inside && !most.compare_exchange_weak(seen, now_inside)) {
        }
        std::this_thread::yield();
        --inside;
        ASSERT_TRUE(hold->release());
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_LE(most, 3);
}

TEST_P(PermitScenarios, S25_TwoThatWantAllAreServedInTurn) {
  const Peer alice = on().client(), bob = on().client();
  std::optional<Hold> first(take(alice, 3).value());
  auto second = pool(bob).async_acquire(3, usual());
  until_waiting(1);
  EXPECT_FALSE(pool(alice).try_acquire(1, usual()));
  ASSERT_TRUE(first->release());
  const auto taken = on().get(std::move(second));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->slots().size(), 3U);
}

TEST_P(PermitScenarios, S26_PermitsOfADeadHolderComeBack_F028) {
  const Peer dead = on().client(), bob = on().client();
  Hold lost = take(dead, 2).value();
  dead.link->set(Link::down);
  EXPECT_TRUE(take(bob, 3));
  EXPECT_FALSE(lost.valid());
  dead.link->set(Link::up);
  EXPECT_FALSE(lost.release());
}

TEST_P(PermitScenarios, S27_TheSizeGoesUpAndDownAlsoBelowWhatIsInUse) {
  const Peer alice = on().client(), bob = on().client();
  EXPECT_EQ(pool(alice).size().value(), 3U);
  std::optional<Hold> first(take(alice, 3).value());
  auto second = pool(bob).async_acquire(2, usual());
  until_waiting(1);
  ASSERT_TRUE(pool(alice).set_size(5));
  std::optional<Hold> more(on().get(std::move(second)).value());
  EXPECT_EQ(pool(bob).size().value(), 5U);

  ASSERT_TRUE(pool(alice).set_size(2));
  EXPECT_TRUE(first->verify());
  EXPECT_TRUE(more->verify());
  ASSERT_TRUE(more->release());
  EXPECT_EQ(pool(bob).try_acquire(1, usual()).error(), Errc::busy) << "three of two are in use";
  ASSERT_TRUE(first->release());
  EXPECT_TRUE(take(bob, 2));
  EXPECT_EQ(pool(bob).try_acquire(3, usual()).error(), Errc::size_mismatch);
  EXPECT_EQ(pool(bob).set_size(0).error(), Errc::invalid_argument);
}

TEST_P(PermitScenarios, AnotherNumberIsRefusedWhileItIsInUse_F135) {
  const Peer alice = on().client();
  const Hold held = take(alice, 1).value();
  const auto other = pool(alice, 5).try_acquire(1, usual());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error(), Errc::size_mismatch);
  const auto many = pool(alice).try_acquire(4, usual());
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error(), Errc::size_mismatch);
}

INSTANTIATE_TEST_SUITE_P(Stores, PermitScenarios, testing::ValuesIn(scenario_stores()),
                         [](const auto& store) { return store.param; });

}  // namespace
}  // namespace holdfast::conformance
