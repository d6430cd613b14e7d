#include "holdfast/run_locked.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "holdfast/holdfast.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class RunLocked : public testing::Test {
 protected:
  bool is_free() {
    bench_.settle();
    return bench_.is_empty();
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
  Mutex mutex_ = alice_.mutex();
};

TEST_F(RunLocked, GivesWhatTheWorkReturned) {
  const auto result = run_locked(mutex_, {}, [&](Hold& hold) {
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(bob_.mutex().try_acquire());
    return std::string("done under ") + std::string(hold.name());
  });
  static_assert(std::is_same_v<decltype(result), const Result<std::string>>);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, "done under lock");
  EXPECT_TRUE(is_free());
}

TEST_F(RunLocked, TakesWorkThatReturnsNothing) {
  bool worked = false;
  const auto result = run_locked(mutex_, {}, [&](Hold&) { worked = true; });
  static_assert(std::is_same_v<decltype(result), const Result<void>>);
  EXPECT_TRUE(result);
  EXPECT_TRUE(worked);
  EXPECT_TRUE(is_free());
}

TEST_F(RunLocked, TakesAndGivesWhatCanOnlyBeMoved) {
  const auto result = run_locked(
      mutex_, {}, [own = std::make_unique<int>(3)](Hold&) { return std::make_unique<int>(*own); });
  ASSERT_TRUE(result);
  EXPECT_EQ(**result, 3);
}

TEST_F(RunLocked, PassesOnAResultAsItIs) {
  const auto good = run_locked(mutex_, {}, [](Hold&) { return Result<int>(7); });
  static_assert(std::is_same_v<decltype(good), const Result<int>>);
  EXPECT_EQ(*good, 7);
  const auto bad = run_locked(mutex_, {}, [](Hold&) { return Result<int>(Errc::permission); });
  EXPECT_EQ(bad.error(), Errc::permission);
  const auto nothing = run_locked(mutex_, {}, [](Hold&) { return Result<void>(Errc::store_full); });
  EXPECT_EQ(nothing.error(), Errc::store_full);
  EXPECT_TRUE(is_free());
}

TEST_F(RunLocked, DoesNotWorkWithoutTheLock) {
  const auto held = bob_.mutex().acquire();
  const auto must_not = [](Hold&) { ADD_FAILURE() << "it has no lock"; };
  EXPECT_EQ(run_locked(mutex_, {.wait = 0s}, must_not).error(), Errc::busy);
  const auto value =
      run_locked(mutex_, {.wait = 0s}, [&](Hold& hold) { return must_not(hold), 1; });
  EXPECT_EQ(value.error(), Errc::busy);
  const auto result = run_locked(mutex_, {.wait = 0s}, [&](Hold& hold) {
    must_not(hold);
    return Result<int>(1);
  });
  EXPECT_EQ(result.error(), Errc::busy);
}

TEST_F(RunLocked, DropsTheValueIfTheLockWasNotOursToTheEnd) {
  const AcquireOptions brief{.lease = 100ms, .renew = false};
  const auto value = run_locked(mutex_, brief, [&](Hold&) {
    bench_.oversleep(1s);
    return 1;
  });
  EXPECT_EQ(value.error(), Errc::lost);
  const auto result = run_locked(mutex_, brief, [&](Hold&) {
    bench_.let_pass(1s);
    return Result<int>(1);
  });
  EXPECT_EQ(result.error(), Errc::lost);
  const auto nothing = run_locked(mutex_, brief, [&](Hold&) { bench_.oversleep(1s); });
  EXPECT_EQ(nothing.error(), Errc::lost);
}

TEST_F(RunLocked, TellsThatAnOperatorTookTheLock) {
  const auto value = run_locked(mutex_, {}, [&](Hold& hold) {
    EXPECT_TRUE(bench_.force(hold, HandBench::Force::revoke));
    bench_.let_pass(15s);
    return 1;
  });
  EXPECT_EQ(value.error(), Errc::forced);
}

TEST_F(RunLocked, KeepsTheErrorOfTheWorkIfTheLockWasLostToo) {
  const auto result = run_locked(mutex_, {.lease = 100ms, .renew = false}, [&](Hold&) {
    bench_.oversleep(1s);
    return Result<int>(Errc::permission);
  });
  EXPECT_EQ(result.error(), Errc::permission);
}

TEST_F(RunLocked, LetsExceptionsThroughAndReleases) {
  EXPECT_THROW(
      static_cast<void>(run_locked(mutex_, {}, [](Hold&) { throw std::runtime_error("no"); })),
      std::runtime_error);
  EXPECT_TRUE(is_free());
}

// The work gave the lock back by itself, so that it cannot be said how far it was ours.
TEST_F(RunLocked, TellsThatTheWorkHadReleasedItsLock) {
  const auto value = run_locked(mutex_, {}, [](Hold& hold) { return hold.release() ? 1 : 2; });
  EXPECT_EQ(value.error(), Errc::not_owner);
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace holdfast::test
