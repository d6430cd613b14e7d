// What a Hold says about itself, and how it ends.
#include "holdfast/hold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>
#include <type_traits>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Force = HandBench::Force;

static_assert(!std::is_copy_constructible_v<Hold> && !std::is_copy_assignable_v<Hold>);
static_assert(std::is_nothrow_move_constructible_v<Hold> &&
              std::is_nothrow_move_assignable_v<Hold>);

// 1 % and 2 ms: what a lease loses for clocks that run at different rates.
constexpr Duration allowance(Duration lease) { return lease / 100 + 2ms; }

class HoldTest : public testing::Test {
 protected:
  Hold acquire(AcquireOptions options = {}) {
    return alice_.mutex().acquire(std::move(options)).value();
  }
  void expect_free() {
    bench_.settle();
    EXPECT_TRUE(bench_.is_empty());
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
};

TEST_F(HoldTest, IsValidForItsLeaseLessTheAllowance_F022) {
  for (const Duration lease : {Duration(100ms), Duration(30s), Duration(1h), Duration(24h)}) {
    const Hold hold = acquire({.lease = lease});
    EXPECT_EQ(hold.name(), "lock");
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(hold.remaining(), lease - allowance(lease));
    EXPECT_EQ(hold.valid_until(), bench_.now() + lease - allowance(lease));
    EXPECT_FALSE(hold.lost().stop_requested());
  }
}

TEST_F(HoldTest, HasNeverLessThanHalfItsLeaseWhileItIsRenewed) {
  const Hold hold = acquire({.lease = 30s});
  for (int i = 0; i < 300; ++i) {
    bench_.let_pass(1s);
    EXPECT_GE(hold.remaining(), 15s);
  }
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(hold.lost().stop_requested());
}

TEST_F(HoldTest, EndsByItselfWithItsLeaseIfItIsNotRenewed) {
  const Hold hold = acquire({.lease = 30s, .renew = false});
  bench_.let_pass(hold.remaining() - 1ns);
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(hold.lost().stop_requested());
  bench_.let_pass(1ns);
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.remaining(), 0s);
  EXPECT_TRUE(hold.lost().stop_requested());
  EXPECT_EQ(alice_.link().counts().renew, 0U);
  expect_free();
}

// F017, F019, F020: nobody need run for valid() to turn false.
TEST_F(HoldTest, IsNotValidAfterItsHolderOverslept_F017_F019_F020) {
  const Hold hold = acquire({.lease = 30s});
  bench_.oversleep(hold.remaining() - 1ns);
  EXPECT_TRUE(hold.valid());
  bench_.oversleep(1ns);
  EXPECT_FALSE(hold.valid());
  EXPECT_FALSE(hold.lost().stop_requested()) << "nobody has run yet";
  bench_.settle();
  EXPECT_TRUE(hold.lost().stop_requested());
  EXPECT_FALSE(hold.valid());
  expect_free();
}

TEST_F(HoldTest, IsReleasedOnce_F032) {
  Hold hold = acquire();
  ASSERT_TRUE(hold.release());
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.remaining(), 0s);
  EXPECT_FALSE(hold.lost().stop_requested()) << "it was given back, not lost";
  const auto next = bob_.mutex().try_acquire();
  ASSERT_TRUE(next);

  const auto again = hold.release();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), Errc::not_owner);
  EXPECT_EQ(again.error().detail().lock, "lock");
  EXPECT_THAT(again.error().text(), HasSubstr("\"lock\""));
  EXPECT_EQ(hold.verify().error(), Errc::not_owner);
  EXPECT_TRUE(next->verify());
}

TEST_F(HoldTest, ReleasedAfterItsLeaseItIsLostAndTheNextHolderIsLeftAlone_F033) {
  Hold hold = acquire({.lease = 100ms, .renew = false});
  bench_.oversleep(100ms);
  const auto next = bob_.mutex().try_acquire();
  ASSERT_TRUE(next);
  const auto late = hold.release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::lost);
  EXPECT_EQ(late.error().detail().lock, "lock");
  EXPECT_THAT(late.error().text(), HasSubstr("\"lock\""));
  EXPECT_THAT(late.error().text(), HasSubstr("lease ran out"));
  EXPECT_EQ(hold.release().error(), Errc::not_owner);
  bench_.settle();
  EXPECT_TRUE(next->verify());
  EXPECT_GT(next->fence(), hold.fence());
}

TEST_F(HoldTest, ReleasedAfterTheLossWasToldItIsStillLost) {
  Hold hold = acquire({.lease = 100ms, .renew = false});
  bench_.let_pass(1s);
  ASSERT_TRUE(hold.lost().stop_requested());
  const auto late = hold.release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::lost);
  EXPECT_THAT(late.error().text(), HasSubstr("lease ran out"));
}

TEST_F(HoldTest, IsToldThatAnOperatorRevokedIt) {
  Hold hold = acquire({.lease = 30s});
  ASSERT_TRUE(bench_.force(hold, Force::revoke));
  EXPECT_FALSE(bob_.mutex().try_acquire()) << "it is free when its holder knows";
  bench_.let_pass(30s);
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(hold.lost().stop_requested());
  const auto late = hold.release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::forced);
  EXPECT_THAT(late.error().text(), HasSubstr("\"lock\""));
  EXPECT_THAT(late.error().text(), HasSubstr("operator"));
  expect_free();
}

TEST_F(HoldTest, IsToldThatTheStoreHasForgottenIt_F046) {
  Hold hold = acquire({.lease = 30s});
  ASSERT_TRUE(bench_.force(hold, Force::free_now));
  bench_.let_pass(12s);
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(hold.lost().stop_requested());
  const auto late = hold.release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::lost);
  EXPECT_THAT(late.error().text(), HasSubstr("not ours"));
}

TEST_F(HoldTest, ReleaseFindsOutThatTheStoreHasForgottenIt) {
  Hold hold = acquire();
  ASSERT_TRUE(bench_.force(hold, Force::free_now));
  const auto next = bob_.mutex().try_acquire();
  ASSERT_TRUE(next);
  const auto late = hold.release();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), Errc::lost);
  EXPECT_TRUE(next->verify());
}

TEST_F(HoldTest, EndsWithMaxHoldHoweverLongItsLease) {
  for (const Duration lease : {Duration(30s), Duration(3s)}) {
    Hold hold = acquire({.lease = lease, .max_hold = 10s});
    EXPECT_LE(hold.remaining(), 10s);
    bench_.let_pass(10s - 1ns);
    EXPECT_TRUE(hold.valid());
    bench_.let_pass(1ns);
    EXPECT_FALSE(hold.valid());
    EXPECT_TRUE(hold.lost().stop_requested());
    EXPECT_TRUE(bob_.mutex().try_acquire()) << "it is released as well";
    bench_.settle();
    const auto late = hold.release();
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error(), Errc::lost);
    EXPECT_THAT(late.error().text(), HasSubstr("max_hold"));
  }
}

// A dead holder is not waited for longer than it could have held the lock.
TEST_F(HoldTest, AsksForNoLongerLeaseThanMaxHold) {
  const Hold hold = acquire({.lease = 1h, .max_hold = 10s});
  EXPECT_LE(bench_.look()[0].holds[0].lease_left, 10s);
}

TEST_F(HoldTest, MaxHoldCountsForEachHolderAnew) {
  std::optional<Hold> held(bob_.mutex().acquire().value());
  const AcquireOptions options{.lease = 30s, .max_hold = 15ms};
  auto first = alice_.mutex().async_acquire(options);
  auto second = alice_.mutex().async_acquire(options);
  bench_.let_pass(15s);  // the claim is told anew, and reserves a fence for the second
  held.reset();
  bench_.settle();
  held.emplace(std::move(first).get().value());
  bench_.let_pass(10ms);
  held.reset();
  bench_.settle();
  const auto hold = std::move(second).get();
  ASSERT_TRUE(hold);
  bench_.let_pass(14ms);
  EXPECT_TRUE(hold->valid());
  bench_.let_pass(1ms);
  EXPECT_FALSE(hold->valid());
}

TEST_F(HoldTest, ItsDestructorPostsTheReleaseAndDoesNotWait) {
  std::optional<Hold> hold(acquire());
  alice_.link().set(Link::paused);
  hold.reset();  // the answer would never come
  EXPECT_FALSE(bench_.is_empty());
  alice_.link().set(Link::up);
  EXPECT_EQ(alice_.link().let_go(), 1U);
  expect_free();
}

TEST_F(HoldTest, ItsDestructorDoesNothingForALockThatWasLost) {
  std::optional<Hold> hold(acquire({.lease = 100ms, .renew = false}));
  bench_.let_pass(1s);
  const auto next = bob_.mutex().try_acquire();
  const auto asked = alice_.link().counts().all();
  hold.reset();
  bench_.settle();
  EXPECT_EQ(alice_.link().counts().all(), asked);
  EXPECT_TRUE(next->verify());
}

TEST_F(HoldTest, VerifyAsksTheStore) {
  const Hold hold = acquire({.lease = 30s});
  bench_.let_pass(5s);
  const auto asked = alice_.link().counts().all();
  EXPECT_TRUE(hold.verify());
  EXPECT_EQ(alice_.link().counts().all(), asked + 1);
  EXPECT_TRUE(hold.valid());
}

TEST_F(HoldTest, VerifyTellsWhatTheStoreKnows) {
  const Hold revoked = acquire();
  ASSERT_TRUE(bench_.force(revoked, Force::revoke));
  EXPECT_EQ(revoked.verify().error(), Errc::forced);
  EXPECT_FALSE(revoked.valid());

  const Hold freed = acquire();
  ASSERT_TRUE(bench_.force(freed, Force::free_now));
  EXPECT_EQ(freed.verify().error(), Errc::lost);
  EXPECT_FALSE(freed.valid());
  EXPECT_EQ(freed.verify().error(), Errc::lost);
}

TEST_F(HoldTest, VerifyDoesNotLengthenWhatIsNotRenewed) {
  const Hold hold = acquire({.lease = 30s, .renew = false});
  const TimePoint end = hold.valid_until();
  bench_.let_pass(20s);
  EXPECT_TRUE(hold.verify());
  EXPECT_EQ(hold.valid_until(), end);
  bench_.let_pass(10s);
  EXPECT_FALSE(hold.valid());
}

TEST_F(HoldTest, VerifyWithoutAnAnswerIsUnknownAndTheHoldStaysValid) {
  const Hold hold = acquire({.lease = 30s});
  alice_.link().set(Link::paused);
  auto verified = std::async(std::launch::async, [&] { return hold.verify(); });
  ASSERT_TRUE(eventually([&] { return alice_.link().kept() == 1; }));
  bench_.let_pass(6s);
  ASSERT_TRUE(comes(verified));
  EXPECT_EQ(verified.get().error(), Errc::unknown);
  EXPECT_TRUE(hold.valid());
  alice_.link().set(Link::up);
  alice_.link().let_go();
}

TEST_F(HoldTest, MovesFromHandToHand) {
  Hold first = acquire();
  const FencingToken fence = first.fence();
  {
    Hold second(std::move(first));
    EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): it says that it has nothing
    EXPECT_EQ(first.remaining(), 0s);
    EXPECT_TRUE(second.valid());
    EXPECT_EQ(second.fence(), fence);

    Hold third = alice_.mutex("another").acquire().value();
    third = std::move(second);
    EXPECT_EQ(third.fence(), fence);
    EXPECT_EQ(bench_.look("another").size(), 0U) << "what it was before is released";
    EXPECT_EQ(bench_.look("lock").size(), 1U);
    first = std::move(third);
  }
  EXPECT_TRUE(first.verify());
  EXPECT_EQ(first.fence(), fence);
}

TEST_F(HoldTest, FencesGrowHoweverTheLockChangesHands) {
  FencingToken last;
  const auto grows = [&](const Hold& hold) {
    EXPECT_GT(hold.fence(), last);
    EXPECT_LE(hold.fence().value(), kMaxFence);
    last = hold.fence();
  };
  grows(acquire());
  grows(bob_.mutex().acquire().value());  // given back by the destructor

  grows(acquire({.lease = 100ms, .renew = false}));
  std::optional<Hold> held(acquire({.lease = 100ms, .renew = false}));
  grows(*held);
  bench_.let_pass(1s);  // the lease ran out
  held.emplace(bob_.mutex().acquire().value());
  grows(*held);

  auto over = alice_.mutex().async_acquire();
  auto local = alice_.mutex().async_acquire();
  bench_.let_pass(15s);
  held.reset();  // handed over to the other client
  bench_.settle();
  held.emplace(std::move(over).get().value());
  grows(*held);
  const auto asked = alice_.link().counts().all();
  held.reset();  // handed off inside it
  bench_.settle();
  ASSERT_TRUE(local.ready());
  EXPECT_EQ(alice_.link().counts().all(), asked);
  grows(std::move(local).get().value());
}

TEST(HoldThreads, AHoldBelongsToNoThread_F031_F034) {
  const Client client = connect("memory:hold").value();
  std::optional<Hold> hold;
  std::thread([&] { hold.emplace(client.mutex("lock").acquire().value()); }).join();
  EXPECT_TRUE(hold->verify()) << "its thread has gone, it has not";
  std::thread([&] { EXPECT_TRUE(hold->release()); }).join();
  EXPECT_TRUE(client.mutex("lock").try_acquire());
}

}  // namespace
}  // namespace holdfast::test
