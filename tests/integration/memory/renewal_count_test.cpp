// Nothing renews what nobody holds: one renewal per period and hold, however often locks were taken
// and given back before. (Elsewhere each lock() started a timer that the next unlock() did not find.)
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 30s;
// At a third of the lease; a lonely one waits a thirtieth more for company.
constexpr Duration kPeriod = kLease / 3 + kLease / 30;

class RenewalCount : public testing::Test {
 protected:
  void lock_and_unlock(int times, std::string_view name = "lock") {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(alice_.mutex(name).acquire()->release());
    claims_ += static_cast<std::uint64_t>(times);
  }
  Hold hold(std::string_view name = "lock") {
    ++claims_;
    return alice_.mutex(name).acquire({.lease = kLease}).value();
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  std::uint64_t claims_ = 0;  // their numbers count up
};

TEST_F(RenewalCount, IsOnePerPeriodAfterTenThousandLocks) {
  lock_and_unlock(10'000);
  const Hold quiet = hold();
  const auto key = alice_.hold_key(claims_, quiet.fence());
  const VerbCounts before = alice_.link().counts();
  for (std::uint64_t periods = 1; periods <= 10; ++periods) {
    bench_.let_pass(kPeriod - 1ns);
    EXPECT_EQ(alice_.link().renewals(key), periods - 1);
    bench_.let_pass(1ns);
    EXPECT_EQ(alice_.link().renewals(key), periods);
  }
  const VerbCounts after = alice_.link().counts();
  EXPECT_EQ(after.renew - before.renew, 10U);
  EXPECT_EQ(after.all() - before.all(), 10U) << "and nothing else is asked";
}

TEST_F(RenewalCount, IsNoneForWhatWasReleased) {
  lock_and_unlock(1'000);
  { const Hold dropped = hold(); }
  bench_.settle();
  const auto asked = alice_.link().counts().all();
  bench_.let_pass(1h);
  EXPECT_EQ(alice_.link().counts().all(), asked);
}

TEST_F(RenewalCount, IsNoneForWhatWasLost) {
  const Hold kept = hold("kept");
  const Hold lost = hold("lost");
  const auto key = alice_.hold_key(claims_, lost.fence(), "lost");
  ASSERT_TRUE(bench_.force(lost, HandBench::Force::revoke));
  bench_.let_pass(kPeriod);
  ASSERT_TRUE(lost.lost().stop_requested());
  const auto told = alice_.link().renewals(key);
  bench_.let_pass(1h);
  EXPECT_EQ(alice_.link().renewals(key), told);
  EXPECT_TRUE(kept.valid());
}

// While one is held, others come and go beside it.
TEST_F(RenewalCount, IsOnePerPeriodBesideOthersThatComeAndGo) {
  const Hold quiet = hold("quiet");
  const auto key = alice_.hold_key(claims_, quiet.fence(), "quiet");
  for (std::uint64_t periods = 1; periods <= 5; ++periods) {
    lock_and_unlock(100, "busy");
    bench_.let_pass(kPeriod / 2);
    lock_and_unlock(100, "busy");
    bench_.let_pass(kPeriod / 2);
    EXPECT_EQ(alice_.link().renewals(key), periods);
  }
  EXPECT_EQ(alice_.link().counts().renew, 5U);
}

// A lock that goes from hand to hand inside the process is one grant in the store.
TEST_F(RenewalCount, IsOnePerPeriodForALockThatIsHandedOff) {
  auto& bob = bench_.client();
  std::optional<Hold> held(bob.mutex().acquire().value());
  std::vector<Pending<Hold>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(alice_.mutex().async_acquire({.lease = kLease}));
  bench_.let_pass(15s);
  held.reset();
  bench_.settle();
  for (auto& each : waiting) {
    bench_.settle();
    ASSERT_TRUE(each.ready());
    held.emplace(std::move(each).get().value());
    if (&each != &waiting.back()) held.reset();
  }
  const auto before = alice_.link().counts();
  bench_.let_pass(3 * kPeriod);
  EXPECT_EQ(alice_.link().counts().renew - before.renew, 3U);
}

// F042: a message takes a hundred.
TEST_F(RenewalCount, IsOneMessagePerPeriodAndHundredHolds_F042) {
  std::vector<Hold> many;
  for (int i = 0; i < 250; ++i) many.push_back(hold("lock" + std::to_string(i)));
  bench_.let_pass(kPeriod);
  EXPECT_EQ(alice_.link().counts().renew, 3U);
  for (std::uint64_t i = 0; i < 250; ++i) {
    EXPECT_EQ(alice_.link().renewals(alice_.hold_key(i + 1, many[i].fence(), many[i].name())), 1U);
  }
  bench_.let_pass(4 * kPeriod);
  EXPECT_EQ(alice_.link().counts().renew, 15U);
}

// The same with a real clock. The bound holds however slow the machine is.
TEST(RenewalCountInRealTime, IsAtMostOnePerPeriodAfterTenThousandLocks) {
  const auto linked = connect_linked(std::make_shared<store::MemoryServer>());
  const Mutex mutex = linked.client.mutex("lock");
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(mutex.acquire()->release());
  const auto start = std::chrono::steady_clock::now();
  const auto before = linked.link->counts().renew;
  const Hold quiet = mutex.acquire({.lease = 600ms}).value();
  ASSERT_TRUE(eventually([&] { return linked.link->counts().renew - before >= 4; }));
  const auto periods = (std::chrono::steady_clock::now() - start) / 200ms;
  EXPECT_LE(linked.link->counts().renew - before, static_cast<std::uint64_t>(periods) + 1);
}

}  // namespace
}  // namespace holdfast::test
