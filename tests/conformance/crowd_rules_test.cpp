#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/rule.hpp"

namespace holdfast::conformance {

using namespace store;

namespace {

// What an engine does, in its plainest form: ask, wait for the offer or a while, confirm. Gives up
// after 2,000 tries, so that a broken store ends the test instead of hanging it.
std::uint64_t acquire(Claimant& who, test::WakeBox& wakes) {
  for (int tries = 0; tries < 2'000; ++tries) {
    const GrantReply reply = who.ask(in_line());
    if (const auto* granted = std::get_if<Granted>(&reply)) return granted->fence;
    const auto offer = wakes.take_offer(std::chrono::milliseconds(20));
    if (offer && who.renews(offer->fence)) return offer->fence;
  }
  return 0;
}

// A counter that is only exact if the lock excludes: the read and the write are far apart.
struct PlainCounter {
  std::atomic<int> value = 0;
  void increment() {
    const int seen = value.load(std::memory_order_relaxed);
    std::this_thread::yield();
    value.store(seen + 1, std::memory_order_relaxed);
  }
};

void count_together(Bench& on, int clients, int rounds) {
  PlainCounter counter;
  std::atomic<int> failures = 0;
  std::vector<Claimant*> crowd;
  for (int i = 0; i < clients; ++i) crowd.push_back(&on.claimant());
  std::vector<std::thread> threads;
  for (Claimant* who : crowd) {
    threads.emplace_back([&, who] {
      test::WakeBox wakes;
      const WatchPtr watch = who->link().watch(who->key(), wakes.fn());
      for (int i = 0; i < rounds; ++i) {
        const std::uint64_t fence = acquire(*who, wakes);
        counter.increment();
        if (fence == 0 || !who->releases(fence)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value, clients * rounds);
  EXPECT_EQ(failures, 0);
}

}  // namespace

HOLDFAST_RULE(SixteenClientsCountExactly) {
  HOLDFAST_NEEDS(hand_over);
  count_together(on, 16, 100);
}

HOLDFAST_RULE(AHundredClientsTakeTheirTurns) {
  HOLDFAST_NEEDS(hand_over);
  count_together(on, 100, 1);
}

HOLDFAST_RULE(FiveHundredWaitersAreAllServedInOrder) {
  HOLDFAST_NEEDS(hand_over);
  HOLDFAST_NEEDS(mutex_fifo);
  Claimant* holder = &on.claimant();
  std::uint64_t fence = holder->granted({.order = Order::fifo}).fence;
  std::vector<Claimant*> line;
  for (std::size_t i = 0; i < 500; ++i) {
    line.push_back(i < 10 ? &on.claimant() : &on.claimant_beside(*line[i % 10]));
    line.back()->watch();
    line.back()->refused(in_line(Order::fifo));
  }
  for (Claimant* next : line) {
    ASSERT_TRUE(holder->releases(fence));
    const Wake::Offer offer = next->offered();
    ASSERT_TRUE(next->renews(offer.fence)) << show(next->key());
    holder = next;
    fence = offer.fence;
  }
  EXPECT_TRUE(holder->releases(fence));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ServingALineTakesOneQuestionPerWaiterAndHandOver_F041) {
  HOLDFAST_NEEDS(hand_over);
  Claimant* holder = &on.claimant();
  std::uint64_t fence = holder->granted().fence;
  std::vector<Claimant*> line;
  for (int i = 0; i < 20; ++i) {
    line.push_back(&on.claimant());
    line.back()->watch();
    line.back()->refused(in_line());
  }
  for (Claimant* next : line) {
    EXPECT_TRUE(holder->releases(fence));
    fence = next->offered().fence;
    EXPECT_TRUE(next->renews(fence));
    holder = next;
  }
  for (Claimant* each : line) {
    EXPECT_EQ(each->link().counts().try_grant, 1U);
    EXPECT_EQ(each->link().renewals(each->hold(fence)), each == holder ? 1U : 0U);
  }
}

}  // namespace holdfast::conformance
