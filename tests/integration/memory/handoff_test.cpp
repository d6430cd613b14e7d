// A lock that goes from thread to thread of one client without asking the store: fast, within a budget,
// and never at the cost of the fences' order or of other clients.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// ---- by hand: the budget, exactly ----

class HandOff : public testing::Test {
 protected:
  // Lets `count` callers of alice's line up behind bob, and bob go.
  std::vector<Pending<Hold>> line_up(HandBench::Seat& alice, int count,
                                     AcquireOptions options = {}) {
    std::optional<Hold> held(bob_.mutex().acquire().value());
    std::vector<Pending<Hold>> waiting;
    for (int i = 0; i < count; ++i) waiting.push_back(alice.mutex().async_acquire(options));
    bench_.let_pass(15s);  // the claim is told anew, and knows now how many wait
    held.reset();
    bench_.settle();
    return waiting;
  }

  // Everyone takes the lock for that long. Says how often the store granted it.
  std::uint64_t serve(HandBench::Seat& alice, std::vector<Pending<Hold>> waiting, Duration each) {
    const auto before = alice.link().counts();
    FencingToken last;
    for (auto& pending : waiting) {
      bench_.settle();
      EXPECT_TRUE(pending.ready());
      if (!pending.ready()) return 0;
      const Hold hold = std::move(pending).get().value();
      EXPECT_GT(hold.fence(), last);
      last = hold.fence();
      bench_.let_pass(each);
    }
    bench_.settle();
    return alice.link().counts().release - before.release;
  }

  HandBench bench_;
  HandBench::Seat& bob_ = bench_.client();
};

TEST_F(HandOff, SparesTheStoreASixteenTimesLongerQueue) {
  auto& alice = bench_.client();
  EXPECT_EQ(serve(alice, line_up(alice, 17), 1ms), 1U);
  EXPECT_EQ(serve(alice, line_up(alice, 18), 1ms), 2U);
}

TEST_F(HandOff, KeepsToItsCount) {
  auto& alice = bench_.client({.handoff_count = 3});
  EXPECT_EQ(serve(alice, line_up(alice, 12), 1ms), 3U);
}

TEST_F(HandOff, KeepsToItsTime) {
  auto& alice = bench_.client({.handoff_count = 1000, .handoff_time = 10ms});
  EXPECT_EQ(serve(alice, line_up(alice, 12), 5ms), 6U);
}

TEST_F(HandOff, CanBeSwitchedOff) {
  auto& alice = bench_.client({.handoff_count = 0});
  EXPECT_EQ(serve(alice, line_up(alice, 5), 1ms), 5U);
}

TEST_F(HandOff, IsNotForFifo) {
  auto& alice = bench_.client();
  EXPECT_EQ(serve(alice, line_up(alice, 5, {.order = Order::fifo}), 1ms), 5U);
}

TEST_F(HandOff, IsNotForLeasesThatAreNotRenewed) {
  auto& alice = bench_.client();
  EXPECT_EQ(serve(alice, line_up(alice, 5, {.renew = false}), 1ms), 5U);
}

TEST_F(HandOff, IsNotForAnotherLease) {
  auto& alice = bench_.client();
  auto waiting = line_up(alice, 1, {.lease = 30s});
  waiting.push_back(alice.mutex().async_acquire({.lease = 10s}));
  EXPECT_EQ(serve(alice, std::move(waiting), 1ms), 2U);
}

// The store knows nothing of it, so the lease is what is left of the first one's.
TEST_F(HandOff, DoesNotLengthenTheLease) {
  auto& alice = bench_.client();
  auto waiting = line_up(alice, 2);
  std::optional<Hold> hold(std::move(waiting[0]).get().value());
  const TimePoint end = hold->valid_until();
  bench_.let_pass(15ms);
  hold.reset();
  bench_.settle();
  hold.emplace(std::move(waiting[1]).get().value());
  EXPECT_EQ(hold->valid_until(), end);
}

// After the budget another client is served, although this one has more to do.
TEST_F(HandOff, LetsOthersInAfterItsBudget) {
  auto& alice = bench_.client({.handoff_count = 2});
  auto waiting = line_up(alice, 9);
  auto other = bob_.mutex().async_acquire();
  bench_.settle();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(other.ready());
    ASSERT_TRUE(waiting[static_cast<std::size_t>(i)].ready());
    { const auto hold = std::move(waiting[static_cast<std::size_t>(i)]).get(); }
    bench_.settle();
  }
  ASSERT_TRUE(other.ready());
  EXPECT_FALSE(waiting[3].ready());
  { const auto hold = std::move(other).get(); }
  bench_.settle();
  EXPECT_TRUE(waiting[3].ready());
}

// ---- threads ----

// What the lock guards. Neither is safe from two threads at once.
struct Guarded {
  long counter = 0;
  std::vector<std::pair<FencingToken, int>> holders;  // fence, client

  void visit(const Hold& hold, int client) {
    const long seen = counter;
    if (seen % 7 == 0) std::this_thread::yield();
    counter = seen + 1;
    holders.emplace_back(hold.fence(), client);
  }
  bool fences_grow() const {
    return std::adjacent_find(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
             return a.first >= b.first;
           }) == holders.end();
  }
};

// Each of so many threads takes the lock so often, in turn through the clients.
void run_threads(const std::vector<const Client*>& clients, int threads, int rounds,
                 Guarded& guarded, AcquireOptions options = {}) {
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    const int client = t % static_cast<int>(clients.size());
    running.emplace_back([&, client] {
      const Mutex mutex = clients[static_cast<std::size_t>(client)]->mutex("lock");
      for (int i = 0; i < rounds; ++i) {
        auto hold = mutex.acquire(options);
        ASSERT_TRUE(hold) << hold.error().text();
        guarded.visit(*hold, client);
        ASSERT_TRUE(hold->release());
      }
    });
  }
  for (auto& each : running) each.join();
}

TEST(HandOffThreads, SixteenOfOneClientCountExactly) {
  const auto linked = connect_linked(std::make_shared<store::MemoryServer>());
  Guarded guarded;
  run_threads({&linked.client}, 16, 250, guarded);
  EXPECT_EQ(guarded.counter, 4'000);
  EXPECT_TRUE(guarded.fences_grow());
  const auto counts = linked.link->counts();
  EXPECT_GE(counts.release, 4'000U / 17) << "the budget is 16 hand-offs for each grant";
  EXPECT_LT(counts.release, 4'000U) << "there should have been hand-offs";
}

TEST(HandOffThreads, SixteenOfTwoClientsCountExactlyAndBothAreServed) {
  const auto server = std::make_shared<store::MemoryServer>();
  const auto one = connect_linked(server);
  const auto two = connect_linked(server);
  Guarded guarded;
  run_threads({&one.client, &two.client}, 16, 250, guarded);
  EXPECT_EQ(guarded.counter, 4'000);
  EXPECT_TRUE(guarded.fences_grow());
  EXPECT_GE(one.link->counts().release + two.link->counts().release, 4'000U / 17);
  // In the half of the time in which both certainly have much to do.
  const auto half = guarded.holders.begin() + 2'000;
  const auto of_one = std::count_if(guarded.holders.begin(), half,
                                    [](const auto& each) { return each.second == 0; });
  EXPECT_GE(of_one, 100);
  EXPECT_LE(of_one, 1'900);
}

TEST(HandOffThreads, SixteenInStrictOrderCountExactly) {
  const auto server = std::make_shared<store::MemoryServer>();
  const auto one = connect_linked(server);
  const auto two = connect_linked(server);
  Guarded guarded;
  run_threads({&one.client, &two.client}, 16, 50, guarded, {.order = Order::fifo});
  EXPECT_EQ(guarded.counter, 800);
  EXPECT_TRUE(guarded.fences_grow());
  EXPECT_EQ(one.link->counts().release + two.link->counts().release, 800U);
}

// Callers with every kind of wish, which come and go in the middle of it.
TEST(HandOffThreads, CallersThatGiveUpDisturbNobody) {
  const Client client = connect("memory:handoff").value();
  Guarded guarded;
  std::atomic<long> granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        AcquireOptions options;
        if (t % 4 == 1) options.wait = std::chrono::microseconds(i * 7 % 300);
        if (t % 4 == 2) options.lease = 10s;
        if (t % 4 == 3) options.order = Order::fifo;
        auto hold = client.mutex("lock").acquire(options);
        if (!hold) {
          const Errc why = hold.error().errc();
          EXPECT_TRUE(why == Errc::timed_out || why == Errc::busy) << hold.error().text();
          continue;
        }
        ++granted;
        guarded.visit(*hold, t);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(guarded.counter, granted);
  EXPECT_TRUE(guarded.fences_grow());
}

}  // namespace
}  // namespace holdfast::test
