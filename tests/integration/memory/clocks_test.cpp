// Clocks that run at different rates, and wall clocks that somebody sets.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "holdfast/holdfast.hpp"
#include "store/memory/memory_store.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// ---- rates (F022) ----

// A store with a clock of its own, and two clients whose clocks are no better than they are. The first
// one's runs slow: it believes that its lease lasts longer than it does.
class Rates {
 public:
  struct Slow {
    int percent;
  };
  explicit Rates(Slow slow, ClientOptions options = {})
      : slow_(slow.percent), holder_(make(1)), next_(make(2)), alice_(holder_.client(options)) {}

  HandBench::Seat& alice() { return alice_; }
  HandBench::Seat& bob() { return bob_; }

  // While the store's clock goes on by a millisecond.
  void tick() {
    store_clock_.advance(1ms);
    next_.let_pass(1ms);
    holder_.let_pass(Duration(1ms) * (100 - slow_) / 100);
  }

 private:
  std::function<OpenedClient()> opener(std::uint64_t bench) {
    return [this, bench, count = std::uint64_t{0}]() mutable -> OpenedClient {
      return {{bench, ++count}, std::make_unique<store::MemoryStore>(server_, store_clock_)};
    };
  }
  HandBench make(std::uint64_t bench) {
    return HandBench(opener(bench), [](Duration) {});
  }

  const int slow_;
  ManualClock store_clock_;
  std::shared_ptr<store::MemoryServer> server_ = std::make_shared<store::MemoryServer>();
  HandBench holder_;
  HandBench next_;
  HandBench::Seat& alice_;
  HandBench::Seat& bob_ = next_.client();
};

// A resource that remembers the greatest fence.
struct FencedResource {
  FencingToken greatest{};
  bool write(const Hold& hold) {
    if (hold.fence() < greatest) return false;
    greatest = hold.fence();
    return true;
  }
};

struct Served {
  bool two_valid;       // the first hold was valid when the second began
  bool late_write_got;  // the resource took a write of the first after one of the second
};

// A holder that is cut off from the store just as its lease was given, and the next one in line.
Served when_the_next_is_served(Rates& rates) {
  const Hold first = rates.alice().mutex().acquire({.lease = 30s}).value();
  rates.alice().link().set(Link::down);
  auto waiting = rates.bob().mutex().async_acquire({.lease = 30s});
  while (!waiting.ready()) rates.tick();
  const bool two_valid = first.valid();
  const Hold second = std::move(waiting).get().value();
  FencedResource resource;
  EXPECT_TRUE(resource.write(first));
  EXPECT_TRUE(resource.write(second));
  EXPECT_GT(second.fence(), first.fence());
  return {two_valid, resource.write(first)};
}

TEST(ClockRates, OnePercentIsWithinTheAllowance_F022) {
  Rates rates({.percent = 1});
  const Served served = when_the_next_is_served(rates);
  EXPECT_FALSE(served.two_valid);
  EXPECT_FALSE(served.late_write_got);
}

TEST(ClockRates, WithoutAnAllowanceOnePercentIsTooMuch_F022) {
  Rates rates({.percent = 1}, {.drift_ppm = 0, .drift_constant = 0s});
  EXPECT_TRUE(when_the_next_is_served(rates).two_valid) << "or the test above shows nothing";
}

TEST(ClockRates, BeyondTheAllowanceOnlyTheFenceIsRight_F022) {
  Rates rates({.percent = 10});
  const Served served = when_the_next_is_served(rates);
  EXPECT_TRUE(served.two_valid) << "as the page on safety says";
  EXPECT_FALSE(served.late_write_got);
}

TEST(ClockRates, AnAllowanceOfTenPercentCanBeAskedFor_F022) {
  Rates rates({.percent = 9}, {.drift_ppm = 100'000});
  EXPECT_FALSE(when_the_next_is_served(rates).two_valid);
}

// ---- the wall clock (F021) ----

class WallClock : public testing::TestWithParam<int> {
 protected:
  void set_wall() { bench_.set_wall(std::chrono::hours(GetParam())); }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
};

TEST_P(WallClock, SetWhileALockIsHeldCostsOneQuestionAndNothingElse_F021) {
  const Hold renewed = alice_.mutex("renewed").acquire({.lease = 30s}).value();
  const Hold once = alice_.mutex("once").acquire({.lease = 30s, .renew = false}).value();
  const TimePoint end = once.valid_until();
  bench_.let_pass(5s);
  const auto asked_about_it = [&] {
    return alice_.link().renewals(alice_.hold_key(2, once.fence(), "once"));
  };
  EXPECT_EQ(asked_about_it(), 0U);
  set_wall();
  bench_.let_pass(15s);
  EXPECT_EQ(asked_about_it(), 1U) << "whether it is still ours";
  EXPECT_TRUE(renewed.valid());
  EXPECT_EQ(once.valid_until(), end);
  bench_.let_pass(end - bench_.now() - 1ns);
  EXPECT_TRUE(once.valid());
  bench_.let_pass(1ns);
  EXPECT_FALSE(once.valid());
  EXPECT_TRUE(once.lost().stop_requested());
  bench_.let_pass(1h);
  EXPECT_TRUE(renewed.valid());
  EXPECT_FALSE(renewed.lost().stop_requested());
}

TEST_P(WallClock, SetWhileSomebodyWaitsNeitherCutsTheWaitShortNorProlongsIt_F021) {
  const Hold held = alice_.mutex().acquire({.lease = 30s}).value();
  const TimePoint start = bench_.now();
  auto waiting = bob_.mutex().async_acquire({.wait = 60s});
  bench_.let_pass(20s);
  set_wall();
  bench_.let_pass(start + 60s - bench_.now() - 1ns);
  EXPECT_FALSE(waiting.ready());
  bench_.let_pass(1ns);
  ASSERT_TRUE(waiting.ready());
  EXPECT_EQ(std::move(waiting).get().error(), Errc::timed_out);
  EXPECT_TRUE(held.valid());
}

INSTANTIATE_TEST_SUITE_P(Hours, WallClock, testing::Values(1, -1, 24 * 365 * 10, -24 * 365 * 10),
                         [](const testing::TestParamInfo<int>& hours) {
                           return (hours.param > 0 ? "Forward" : "Back") +
                                  std::to_string(std::abs(hours.param));
                         });

}  // namespace
}  // namespace holdfast::test
