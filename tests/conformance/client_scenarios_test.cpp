// What the suites of other lock libraries hold those to, here through the client's own API on every
// store. The numbers are those of the scenarios: 1 to 14 any order, 15 to 18 strict order. What a store
// alone can show is in the rules beside this file; reentrancy (9) is not a mutex's.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "conformance/scenarios.hpp"

namespace holdfast::conformance {
namespace {

class ClientScenarios : public Scenarios {};

// A counter that is only exact if the lock excludes, and the fences in the order of holding. Where the
// lock goes through files alone, no memory is ordered by it: hence the atomic and the mutex, which
// guard no more than one access each.
struct Guarded {
  std::atomic<int> counter = 0;
  std::mutex mutex;
  std::vector<FencingToken> fences;

  void visit(const Hold& hold) {
    const int seen = counter;
    std::this_thread::yield();
    counter = seen + 1;
    const std::lock_guard lock(mutex);
    fences.push_back(hold.fence());
  }
  bool fences_grow() const {
    return std::adjacent_find(fences.begin(), fences.end(), std::greater_equal<>()) == fences.end();
  }
};

// ---- any order ----

TEST_P(ClientScenarios, S01_FreeHeldAndFreeAreSeenAlikeByAll) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  const auto all_see = [&](bool free) {
    const auto sees = [free](const Peer& peer) {
      auto hold = peer.mutex().try_acquire();
      EXPECT_EQ(hold.has_value(), free);
      if (!hold) {
        EXPECT_EQ(hold.error(), Errc::busy);
        EXPECT_TRUE(hold.error().detail().holder);
      } else {
        EXPECT_TRUE(hold->release());
      }
    };
    sees(alice);
    sees(bob);
    std::thread([&] { sees(alice); }).join();
  };
  all_see(true);
  Hold hold = on().acquire(alice).value();
  EXPECT_TRUE(hold.valid());
  all_see(false);
  EXPECT_TRUE(hold.release());
  EXPECT_FALSE(hold.valid());
  all_see(true);
}

TEST_P(ClientScenarios, S02_AWaitEndsNoEarlierThanAskedAndNotMuchLater) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  const Hold held = on().acquire(alice).value();
  const TimePoint start = on().now();
  const auto waited = on().acquire(bob, {.wait = 3s});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error(), Errc::timed_out);
  EXPECT_TRUE(waited.error().detail().holder);
  EXPECT_GE(on().now() - start, 3s);
  EXPECT_LE(on().now() - start, 3500ms + on().grace());
  EXPECT_TRUE(held.valid());
}

TEST_P(ClientScenarios, S03_AWaiterIsServedAsSoonAsTheLockIsReleased) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  std::optional<Hold> held(on().acquire(alice).value());
  auto waiting = bob.mutex().async_acquire();
  on().let_pass(lease() / 2);
  EXPECT_FALSE(waiting.ready());
  held.reset();
  EXPECT_TRUE(on().comes_true([&] { return waiting.ready(); }, 50ms + on().grace()));
  EXPECT_TRUE(std::move(waiting).get());
}

TEST_P(ClientScenarios, S03_AWaiterIsServedAsSoonAsADeadHoldersLeaseRunsOut_F028) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  const TimePoint start = on().now();
  const Hold held = on().acquire(alice, {.lease = lease(), .renew = false}).value();
  alice.link->set(Link::down);
  const auto next = on().acquire(bob);
  ASSERT_TRUE(next);
  EXPECT_FALSE(held.valid());
  EXPECT_GT(next->fence(), held.fence());
  EXPECT_LE(on().now() - start, lease() + 50ms + on().grace());
}

TEST_P(ClientScenarios, S04_TheHolderOfALapsedLeaseIsToldAndDisturbsNobody_F033) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  Hold lapsed = on().acquire(alice, {.lease = lease(), .renew = false}).value();
  const Hold next = on().acquire(bob).value();
  const auto late = lapsed.release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::lost);
  EXPECT_TRUE(on().comes_true([&] { return lapsed.lost().stop_requested(); }, on().grace()));
  EXPECT_TRUE(next.verify());
}

TEST_P(ClientScenarios, S05_TheLockOfAClientThatGoesIsFree) {
  const Peer bob = on().client();
  {
    const Peer alice = on().client();
    const Hold held = on().acquire(alice).value();
  }
  EXPECT_TRUE(on().comes_true([&] { return bob.mutex().try_acquire().has_value(); }, on().grace()));
}

TEST_P(ClientScenarios, S05_TheLockOfAClientThatDiesIsFreeWithinItsLease_F028) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  const Hold held = on().acquire(alice, {.lease = lease()}).value();
  on().let_pass(lease() * 2);  // it was renewed
  EXPECT_TRUE(held.valid());
  alice.link->set(Link::down);
  const TimePoint dead = on().now();
  EXPECT_TRUE(on().acquire(bob));
  EXPECT_LE(on().now() - dead, lease() + 50ms + on().grace());
  EXPECT_FALSE(held.valid());
}

TEST_P(ClientScenarios, S06_ASecondReleaseChangesNothing_F032) {
  const Peer alice = on().client();
  const Peer bob = on().client();
  Hold hold = on().acquire(alice).value();
  EXPECT_TRUE(hold.release());
  const Hold next = on().acquire(bob).value();
  EXPECT_EQ(hold.release().error(), Errc::not_owner);
  EXPECT_TRUE(next.verify());
}

TEST_P(ClientScenarios, S07_RemainingSaysTheTruth) {
  const Peer alice = on().client();
  const Hold hour = on().acquire(alice, {.lease = 1h}).value();
  const Duration given = std::min<Duration>(1h, on().fixture().pace().longest_lease);
  EXPECT_LE(hour.remaining(), 1h - 36s - 2ms);
  EXPECT_GE(hour.remaining(), given - given / 100 - 2ms - 10ms - on().grace());
}

TEST_P(ClientScenarios, S07_ARenewedLockNeverHasLessThanHalfItsLease) {
  const Peer alice = on().client();
  const Hold renewed = on().get(alice.mutex().async_acquire({.lease = 10 * lease()})).value();
  for (int i = 0; i < 50; ++i) {
    on().let_pass(lease() / 2);
    EXPECT_GE(renewed.remaining(), 5 * lease());
  }
}

TEST_P(ClientScenarios, S08_AnUnreachableStoreIsAnErrorAndThenWorksAgain_F003) {
  const Peer alice = on().client({.answer_within = 250ms, .patience = 1s});
  alice.link->set(Link::down);
  const TimePoint start = on().now();
  EXPECT_EQ(on().acquire(alice).error(), Errc::unavailable);
  EXPECT_EQ(on().acquire(alice, {.wait = 0s}).error(), Errc::unavailable);
  EXPECT_LE(on().now() - start, 3s + on().grace());
  alice.link->set(Link::up);
  EXPECT_TRUE(on().acquire(alice));
}

TEST_P(ClientScenarios, S08_ADeadServerIsAnErrorAndThenWorksAgain) {
  const Peer alice = on().client({.patience = 1s});
  if (!on().fixture().kill()) GTEST_SKIP() << "the store " << GetParam() << " cannot be killed";
  const auto down = on().acquire(alice);
  ASSERT_FALSE(down);
  EXPECT_NE(down.error(), Errc::busy);
  ASSERT_TRUE(on().fixture().restart(false));
  const auto works_again = [&] { return on().acquire(alice).has_value(); };
  EXPECT_TRUE(on().comes_true(works_again, 10s)) << "the client finds the server by itself";
}

// The link loses answers and nothing else. Towards the end it may lose everything, so that not even the
// release which follows the loss gets through: then the store keeps the lock for as long as it can.
TEST_P(ClientScenarios, RenewalsThatAreNeverConfirmedKeepTheLockForALeaseAtMost_F008) {
  for (const Link in_the_end : {Link::deaf, Link::down}) {
    const Peer alice = on().client();
    const Peer bob = on().client();
    const Hold hold = on().acquire(alice, {.lease = lease()}).value();
    alice.link->set(Link::deaf);
    const TimePoint confirmed = hold.valid_until();
    auto waiting = bob.mutex().async_acquire();
    TimePoint last_renewal{};
    std::uint64_t renewals = 0;
    const auto is_near_its_end = [&] {
      if (const auto seen = alice.link->counts().renew; seen != renewals) {
        renewals = seen;
        last_renewal = on().now();
      }
      if (const TimePoint until = hold.valid_until(); hold.valid()) {
        EXPECT_EQ(until, confirmed) << "a renewal counts when it is confirmed";
      }
      return hold.remaining() < lease() / 10;
    };
    ASSERT_TRUE(on().comes_true(is_near_its_end, lease() + on().grace()));
    EXPECT_GT(renewals, 1U) << "they are asked for again and again";
    alice.link->set(in_the_end);
    const auto is_lost = [&] { return hold.lost().stop_requested(); };
    EXPECT_TRUE(on().comes_true(is_lost, lease() + on().grace()));
    EXPECT_GE(on().now(), confirmed);
    const auto next = on().get(std::move(waiting));
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_LE(on().now() - last_renewal, lease() + lease() / 10 + 50ms + on().grace());
    EXPECT_GT(next->fence(), hold.fence());
    if (in_the_end == Link::down && on().grace() == Duration::zero()) {
      EXPECT_GT(on().now() - confirmed, lease() / 2) << "this long after the loss";
    }
  }
}

void count_together(const std::vector<Peer>& peers, int threads, int rounds) {
  Guarded guarded;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      const Mutex mutex = peers[static_cast<std::size_t>(t) % peers.size()].mutex();
      for (int i = 0; i < rounds; ++i) {
        auto hold = mutex.acquire();
        ASSERT_TRUE(hold) << hold.error().text();
        guarded.visit(*hold);
        ASSERT_TRUE(hold->release());
      }
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_EQ(guarded.counter, threads * rounds);
  EXPECT_TRUE(guarded.fences_grow());
}

TEST_P(ClientScenarios, S10_SixteenClientsCountExactly) {
  std::vector<Peer> peers;
  for (int i = 0; i < 16; ++i) peers.push_back(on().client());
  count_together(peers, 16, 100);
}

TEST_P(ClientScenarios, S10_AHundredClientsTakeTheirTurns) {
  std::vector<Peer> peers;
  // They all begin at once; on a slow machine that is a long queue for one file.
  const ClientOptions patient{.answer_within = 20s, .patience = 60s};
  for (int i = 0; i < 100; ++i) peers.push_back(on().client(patient));
  count_together(peers, 100, 1);
}

TEST_P(ClientScenarios, S10_FifteenThreadsOfOneClientCountExactly) {
  count_together({on().client()}, 15, 100);
}

TEST_P(ClientScenarios, S11_ARevokedLockIsFreeForAllAndItsHolderIsTold) {
  HOLDFAST_SCENARIO_NEEDS(inspect);
  const Peer alice = on().client();
  const Peer bob = on().client();
  Hold held = on().acquire(alice, {.lease = lease()}).value();
  ASSERT_TRUE(on().revoke(held));
  EXPECT_TRUE(on().acquire(bob));
  EXPECT_FALSE(held.valid());
  EXPECT_TRUE(on().comes_true([&] { return held.lost().stop_requested(); }, on().grace()));
  EXPECT_EQ(held.release().error(), Errc::forced);
}

TEST_P(ClientScenarios, S12_AwkwardNamesAreDistinctLocks_F131_F132) {
  const Peer alice = on().client();
  const std::string names[] = {"a",
                               "a:b",
                               "a/b",
                               "a b",
                               "{a}",
                               "{a}b",
                               "a%2Fb",
                               "é",
                               "A",
                               "a\n",
                               "*",
                               std::string("a\0b", 3),
                               "..",
                               "a.",
                               "\"a\"",
                               std::string(512, 'x'),
                               std::string(511, 'x')};
  std::vector<Hold> holds;
  for (const std::string& name : names) {
    auto hold = on().get(alice.client.mutex(name).async_acquire({.wait = 0s}));
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_EQ(hold->name(), name);
    holds.push_back(std::move(*hold));
  }
  for (const Hold& hold : holds) EXPECT_TRUE(hold.verify());
}

TEST_P(ClientScenarios, S13_OverARestartAHoldIsKeptOrToldLost) {
  const Peer alice = on().client();
  const Hold held = on().acquire(alice, {.lease = lease()}).value();
  if (!on().fixture().kill()) GTEST_SKIP() << "the store " << GetParam() << " cannot be killed";
  ASSERT_TRUE(on().fixture().restart(false));
  on().let_pass(lease());
  EXPECT_NE(held.valid(), held.lost().stop_requested());
  const Hold next = held.valid() ? on().get(alice.mutex("next").async_acquire()).value()
                                 : on().acquire(alice).value();
  on().let_pass(lease() * 2);
  EXPECT_TRUE(next.valid()) << "a new lock is renewed as usual";
}

TEST_P(ClientScenarios, S14_AWaiterCancelledAtAnyMomentLeavesNothing_F037) {
  HOLDFAST_SCENARIO_NEEDS(inspect);
  const Peer alice = on().client();
  const Peer bob = on().client();
  for (const Order order : {Order::any, Order::fifo}) {
    if (order == Order::fifo && !has_fifo()) continue;
    for (int moment = 0; moment < 4; ++moment) {
      std::optional<Hold> held(on().acquire(alice).value());
      std::stop_source stop;
      AcquireOptions options = with(order);
      options.stop = stop.get_token();
      auto waiting = bob.mutex().async_acquire(options);
      if (moment > 0) on().settle();
      if (moment > 1) on().let_pass(lease() / 2);
      if (moment > 2) held.reset();  // the grant and the cancel cross
      stop.request_stop();
      {
        const auto result = on().get(std::move(waiting));
        EXPECT_TRUE(result || result.error() == Errc::cancelled);
      }
      held.reset();
      EXPECT_TRUE(on().is_empty());
    }
  }
}

// ---- strict order ----

TEST_P(ClientScenarios, S15_FifoServesInTheOrderOfArrival) {
  HOLDFAST_SCENARIO_NEEDS(mutex_fifo);
  const Peer first = on().client();
  const Peer peers[] = {on().client(), on().client(), on().client()};
  std::optional<Hold> held(on().acquire(first, with(Order::fifo)).value());
  std::vector<Pending<Hold>> line;
  for (std::size_t i = 0; i < 12; ++i) {
    line.push_back(peers[i % 3].mutex().async_acquire(with(Order::fifo)));
    until_waiting(line.size());
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (std::size_t j = i; j < line.size(); ++j) EXPECT_FALSE(line[j].ready());
    held.reset();
    held.emplace(on().get(std::move(line[i])).value());
    EXPECT_TRUE(held->valid());
  }
}

TEST_P(ClientScenarios, S15_FifoKeepsItsOrderWhenLeasesRunOut) {
  HOLDFAST_SCENARIO_NEEDS(mutex_fifo);
  AcquireOptions options = with(Order::fifo);
  options.renew = false;
  const Peer alice = on().client();
  const Hold first = on().acquire(alice, options).value();
  const Peer peers[] = {on().client(), on().client(), on().client()};
  std::vector<Pending<Hold>> line;
  for (const Peer& peer : peers) {
    line.push_back(peer.mutex().async_acquire(options));
    until_waiting(line.size());
  }
  std::vector<Hold> lapsed;
  for (std::size_t i = 0; i < line.size(); ++i) {
    lapsed.push_back(on().get(std::move(line[i])).value());  // nobody releases
    for (std::size_t j = i + 1; j < line.size(); ++j) EXPECT_FALSE(line[j].ready());
  }
  EXPECT_FALSE(first.valid());
}

TEST_P(ClientScenarios, S16_ADeadHeadIsPassedOverAndNobodyAsksInALoop_F029) {
  HOLDFAST_SCENARIO_NEEDS(mutex_fifo);
  const Peer alice = on().client();
  const Peer dead = on().client();
  const Peer second = on().client();
  const Peer third = on().client();
  std::optional<Hold> held(on().acquire(alice, with(Order::fifo)).value());
  std::vector<Pending<Hold>> line;
  for (const Peer* peer : {&dead, &second, &third}) {
    line.push_back(peer->mutex().async_acquire(with(Order::fifo)));
    until_waiting(line.size());
  }
  dead.link->set(Link::down);
  const auto asked = second.link->counts().all() + third.link->counts().all();
  held.reset();
  const TimePoint freed = on().now();
  held.emplace(on().get(std::move(line[1])).value());
  EXPECT_LE(on().now() - freed, lease() + on().grace()) << "an offer is not waited for that long";
  EXPECT_FALSE(line[2].ready());
  EXPECT_LE(second.link->counts().all() + third.link->counts().all() - asked, 20U);
  held.reset();
  EXPECT_TRUE(on().get(std::move(line[2])));
}

TEST_P(ClientScenarios, S17_AWaiterThatGivesUpFreesItsPlace_F037) {
  HOLDFAST_SCENARIO_NEEDS(mutex_fifo);
  const Peer alice = on().client();
  const Peer bob = on().client();
  const Peer carol = on().client();
  std::optional<Hold> held(on().acquire(alice, with(Order::fifo)).value());
  auto gives_up = bob.mutex().async_acquire(with(Order::fifo));
  until_waiting(1);
  auto stays = carol.mutex().async_acquire(with(Order::fifo));
  until_waiting(2);
  gives_up.cancel();
  EXPECT_EQ(on().get(std::move(gives_up)).error(), Errc::cancelled);
  held.reset();
  EXPECT_TRUE(on().comes_true([&] { return stays.ready(); }, 50ms + on().grace()));
}

TEST_P(ClientScenarios, S17_AnImmediateAttemptLeavesNoPlace) {
  HOLDFAST_SCENARIO_NEEDS(mutex_fifo);
  HOLDFAST_SCENARIO_NEEDS(inspect);
  const Peer alice = on().client();
  const Peer bob = on().client();
  std::optional<Hold> held(on().acquire(alice).value());
  for (const Order order : {Order::any, Order::fifo}) {
    EXPECT_EQ(bob.mutex().try_acquire({.order = order}).error(), Errc::busy);
  }
  ASSERT_EQ(on().look().size(), 1U);
  EXPECT_TRUE(on().look()[0].line.empty());
}

// Every one of them refreshes its place, which under a sanitizer takes longer than the places last.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kCrowd = 60;
#else
constexpr std::size_t kCrowd = 500;
#endif

TEST_P(ClientScenarios, S18_FiveHundredWaitersAreAllServedInOrder) {
  HOLDFAST_SCENARIO_NEEDS(mutex_fifo);
  std::vector<Peer> peers;
  for (int i = 0; i < 10; ++i) peers.push_back(on().client());
  const AcquireOptions options{.lease = 30s, .order = Order::fifo};
  std::optional<Hold> held(on().acquire(peers[0], options).value());
  std::vector<Pending<Hold>> line;
  for (std::size_t i = 0; i < kCrowd; ++i) {
    line.push_back(peers[i % 10].mutex().async_acquire(options));
    until_waiting(line.size());
  }
  FencingToken last = held->fence();
  for (auto& pending : line) {
    held.reset();
    held.emplace(on().get(std::move(pending)).value());
    EXPECT_GT(held->fence(), last);
    last = held->fence();
  }
  held.reset();
  EXPECT_TRUE(on().is_empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, ClientScenarios, testing::ValuesIn(scenario_stores()),
                         [](const auto& store) { return store.param; });

}  // namespace
}  // namespace holdfast::conformance
