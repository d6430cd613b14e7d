// Owners: a task that would wait for itself is told so.
#include "holdfast/owner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class OwnerTest : public testing::Test {
 protected:
  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
  Owner task_;
};

TEST_F(OwnerTest, IsToldThatItWouldWaitForItself) {
  const auto hold = alice_.mutex().acquire({.owner = &task_});
  ASSERT_TRUE(hold);
  for (const Order order : {Order::any, Order::fifo}) {
    const auto again = alice_.mutex().acquire({.order = order, .owner = &task_});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error(), Errc::would_deadlock);
    EXPECT_EQ(again.error().detail().lock, "lock");
    EXPECT_THAT(again.error().text(), testing::HasSubstr("\"lock\""));
    EXPECT_EQ(again.error().code(), Outcome::misuse);
  }
  EXPECT_TRUE(hold->verify()) << "what it has is left alone";
}

TEST_F(OwnerTest, OfAFifoHoldIsToldToo) {
  const auto hold = alice_.mutex().acquire({.order = Order::fifo, .owner = &task_});
  EXPECT_EQ(alice_.mutex().acquire({.owner = &task_}).error(), Errc::would_deadlock);
}

TEST_F(OwnerTest, MayHoldOtherLocks) {
  const auto first = alice_.mutex("a").acquire({.owner = &task_});
  EXPECT_TRUE(alice_.mutex("b").acquire({.owner = &task_}));
}

TEST_F(OwnerTest, MayAcquireAgainOnceItHasLetGo) {
  { const auto hold = alice_.mutex().acquire({.owner = &task_}); }
  EXPECT_TRUE(alice_.mutex().acquire({.owner = &task_}));
  auto brief = alice_.mutex().acquire({.owner = &task_});
  EXPECT_TRUE(brief->release());
  EXPECT_TRUE(alice_.mutex().acquire({.owner = &task_}));
}

TEST_F(OwnerTest, MayAcquireAgainOnceItHasLost) {
  const auto lost = alice_.mutex().acquire({.lease = 100ms, .renew = false, .owner = &task_});
  bench_.let_pass(1s);
  EXPECT_TRUE(alice_.mutex().acquire({.owner = &task_}));
}

TEST_F(OwnerTest, WaitsForOthers) {
  Owner other;
  std::optional<Hold> held(alice_.mutex().acquire({.owner = &other}).value());
  auto waiting = alice_.mutex().async_acquire({.owner = &task_});
  auto nobodys = alice_.mutex().async_acquire();
  bench_.settle();
  EXPECT_FALSE(waiting.ready());
  held.reset();
  bench_.settle();
  ASSERT_TRUE(waiting.ready());
  EXPECT_TRUE(std::move(waiting).get());
  bench_.settle();
  EXPECT_TRUE(std::move(nobodys).get());
}

// The one who got the lock by a hand-off is its owner from then on, the one who gave it is not.
TEST_F(OwnerTest, GoesWithTheHandOff) {
  Owner other;
  std::optional<Hold> held(bob_.mutex().acquire().value());
  auto first = alice_.mutex().async_acquire({.owner = &task_});
  auto second = alice_.mutex().async_acquire({.owner = &other});
  bench_.let_pass(15s);
  held.reset();
  bench_.settle();
  held.emplace(std::move(first).get().value());
  EXPECT_EQ(alice_.mutex().acquire({.owner = &task_}).error(), Errc::would_deadlock);
  held.reset();
  bench_.settle();
  const auto hold = std::move(second).get();
  EXPECT_EQ(alice_.mutex().acquire({.owner = &other}).error(), Errc::would_deadlock);
  EXPECT_EQ(alice_.mutex().acquire({.wait = 0s, .owner = &task_}).error(), Errc::busy);
}

TEST(OwnerIds, AreUnique) {
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ids.insert(Owner().id()).second);
  EXPECT_FALSE(ids.contains(0));
}

}  // namespace
}  // namespace holdfast::test
