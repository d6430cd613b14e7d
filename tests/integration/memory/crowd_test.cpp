// Thousands who wait for one lock, and one who holds thousands.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/effort.hpp"
#include "support/many_holds.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// ---- waiting (F041) ----

// Clients of ten waiters each, in one line.
class Line {
 public:
  explicit Line(std::size_t waiters) {
    held_ = bench_.client().mutex().acquire({.lease = 1h}).value();
    while (waiting_.size() < waiters) {
      HandBench::Seat& client = seats_.emplace_back(bench_.client());
      for (int i = 0; i < 10; ++i) {
        waiting_.push_back(client.mutex().async_acquire({.lease = 1h, .order = Order::fifo}));
      }
    }
    bench_.settle();
  }

  // How many questions it takes to pass the lock on so many times.
  std::uint64_t questions_for(int releases) {
    const std::uint64_t before = asked();
    for (int i = 0; i < releases; ++i) {
      held_.reset();
      bench_.settle();
      EXPECT_TRUE(waiting_.front().ready()) << "it is the first one's turn";
      held_ = std::move(waiting_.front()).get().value();
      waiting_.pop_front();
    }
    return asked() - before;
  }

  std::size_t length() { return bench_.look().at(0).line.size(); }

 private:
  std::uint64_t asked() const {
    std::uint64_t all = 0;
    for (HandBench::Seat& seat : seats_) all += seat.link().counts().all();
    return all;
  }

  HandBench bench_;
  std::deque<std::reference_wrapper<HandBench::Seat>> seats_;
  std::deque<Pending<Hold>> waiting_;
  std::optional<Hold> held_;
};

TEST(Crowd, AReleaseCostsTheSameHoweverManyWait_F041) {
  const std::size_t many = kSanitized ? 1'000 : 10'000;
  Line small(30), large(many);
  ASSERT_EQ(large.length(), many);
  const std::uint64_t few = small.questions_for(20);
  EXPECT_EQ(large.questions_for(20), few);
  EXPECT_LE(few, 20U * 3) << "release, confirm, and perhaps a look";
  EXPECT_EQ(large.length(), many - 20) << "nobody else was disturbed";
}

// ---- holding (F042) ----

TEST(Crowd, TenThousandHoldsShareATimerAndAHundredMessages_F042) {
  const std::size_t many = kSanitized ? 1'000 : 10'000;
  HandBench bench;
  HandBench::Seat& alice = bench.client();
  std::vector<Hold> holds;
  for (std::size_t i = 0; i < many; ++i) {
    holds.push_back(alice.mutex("lock" + std::to_string(i)).acquire({.lease = 30s}).value());
  }
  EXPECT_EQ(alice.timers(), 1U);
  for (std::uint64_t period = 1; period <= 3; ++period) {
    bench.let_pass(11s);
    EXPECT_EQ(alice.link().counts().renew, period * many / 100);
    EXPECT_EQ(alice.timers(), 1U);
  }
  for (const Hold& hold : holds) ASSERT_TRUE(hold.valid());
}

TEST(Crowd, TenThousandHoldsAreRenewedInTime_F042) {
  expect_renewed_in_time("memory:crowd", kSanitized ? 1'000 : 10'000);
}

}  // namespace
}  // namespace holdfast::test
