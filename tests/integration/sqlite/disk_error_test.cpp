// F122: reads, writes and syncs that fail, one by one, under each verb.
#include <string>
#include <tuple>

#include "failing_disk.hpp"
#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

using Call = FailingDisk::Call;
using How = FailingDisk::How;

class SqliteDiskError : public SqliteTest,
                        public testing::WithParamInterface<std::tuple<Call, How>> {
 protected:
  // A round for each call that the verb makes, and one in which none fails any more.
  template <class Round>
  void each_call_fails(Round round) {
    int failed = 0;
    for (int after = 0; after < 200; ++after) {
      SCOPED_TRACE("after " + std::to_string(after) + " calls");
      const std::string name = "lock" + std::to_string(after);
      const auto fail = [&] {
        // So that what the other client has of the file is old, and has to be read again.
        auto other = bob_.mutex("other").acquire({.wait = kSoon});
        EXPECT_TRUE(other && other->release());
        disk_.fail(std::get<0>(GetParam()), after, std::get<1>(GetParam()));
      };
      if (!round(name, fail)) {
        EXPECT_GT(failed, 0) << "the verb makes no such call";
        return;
      }
      if (HasFailure()) return;
      ++failed;
    }
    ADD_FAILURE() << "the verb never comes to its end";
  }

  template <class T>
  static void expect_no_answer(const Result<T>& result) {
    if (result) return;
    const bool an_answer = result.error() == Errc::busy || result.error() == Errc::timed_out ||
                           result.error() == Errc::lost;
    EXPECT_FALSE(an_answer) << result.error().text();
  }

  // Nothing that was left behind outlives its lease.
  void expect_to_be_had(const std::string& name) {
    auto hold = bob_.mutex(name).acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->release());
  }
  void expect_taken(const std::string& name) {
    EXPECT_TRUE(fails_with(Errc::busy, bob_.mutex(name).try_acquire()));
  }

  FailingDisk disk_;
  const Client alice_ = open({.answer_within = 1s, .patience = 1s});
  const Client bob_ = open();
};

TEST_P(SqliteDiskError, UnderAnAcquireIsNeverALock_F122) {
  each_call_fails([&](const std::string& name, auto fail) {
    fail();
    auto hold = alice_.mutex(name).try_acquire({.lease = 1s});
    const bool failed = disk_.repair();
    expect_no_answer(hold);
    if (hold) {
      EXPECT_TRUE(hold->valid());
      expect_taken(name);
      EXPECT_TRUE(hold->release());
    }
    expect_to_be_had(name);
    return failed;
  });
}

TEST_P(SqliteDiskError, UnderARenewalDoesNotProlongWhatIsNotKept_F122) {
  each_call_fails([&](const std::string& name, auto fail) {
    auto hold = alice_.mutex(name).acquire({.lease = 2s});
    EXPECT_TRUE(hold);
    if (!hold) return false;
    fail();
    const auto verified = hold->verify();
    const bool failed = disk_.repair();
    expect_no_answer(verified);
    const auto other = bob_.mutex(name).try_acquire();
    EXPECT_FALSE(other && hold->valid()) << "two of them";
    EXPECT_TRUE(!verified || hold->valid());
    static_cast<void>(hold->release());
    if (!other) expect_to_be_had(name);
    return failed;
  });
}

TEST_P(SqliteDiskError, UnderAReleaseIsNotCalledReleased_F122) {
  each_call_fails([&](const std::string& name, auto fail) {
    auto hold = alice_.mutex(name).acquire({.lease = 1s});
    EXPECT_TRUE(hold);
    if (!hold) return false;
    fail();
    const auto released = hold->release();
    const bool failed = disk_.repair();
    expect_no_answer(released);
    EXPECT_TRUE(!released || bob_.mutex(name).try_acquire()) << "it said so";
    expect_to_be_had(name);
    return failed;
  });
}

class SqliteCellDiskError : public SqliteDiskError {};

TEST_P(SqliteCellDiskError, UnderACountDownCountsOnceOrNot_F122) {
  each_call_fails([&](const std::string& name, auto fail) {
    EXPECT_TRUE(alice_.latch(name).set_count(5));
    fail();
    const auto counted = alice_.latch(name).count_down();
    const bool failed = disk_.repair();
    const auto left = bob_.latch(name).count();
    EXPECT_TRUE(left) << left.error().text();
    if (!left) return false;
    if (counted) {
      EXPECT_EQ(*counted, 4);
      EXPECT_EQ(*left, 4);
    } else {
      EXPECT_TRUE(*left == 4 || *left == 5) << *left;
    }
    return failed;
  });
}

std::string name_of(const testing::TestParamInfo<std::tuple<Call, How>>& param) {
  static constexpr const char* kCalls[] = {"Read", "Write", "Sync"};
  return std::string(kCalls[static_cast<std::size_t>(std::get<0>(param.param))]) +
         (std::get<1>(param.param) == How::once ? "Once" : "FromThenOn");
}

constexpr auto kHow = [] { return testing::Values(How::once, How::from_then_on); };

INSTANTIATE_TEST_SUITE_P(Calls, SqliteDiskError,
                         testing::Combine(testing::Values(Call::read, Call::write), kHow()),
                         name_of);
// A change of a lock is not synced, that of a cell is.
INSTANTIATE_TEST_SUITE_P(Calls, SqliteCellDiskError,
                         testing::Combine(testing::Values(Call::write, Call::sync), kHow()),
                         name_of);

}  // namespace
}  // namespace holdfast::test
