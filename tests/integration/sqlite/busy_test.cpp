// F119, F129: somebody else writes or reads the file, for longer than is polite.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

class SqliteBusy : public SqliteTest {
 protected:
  void SetUp() override {
    make();
    raw_.emplace(database());
  }
  void TearDown() override { raw_.reset(); }

  void lock_file() { raw_->must("BEGIN IMMEDIATE"); }
  void unlock_file() { raw_->must("ROLLBACK"); }

  std::optional<RawDatabase> raw_;
};

TEST_F(SqliteBusy, ForAMomentIsWaitedFor_F119) {
  const Client client = open();
  lock_file();
  const Stopwatch watch;
  std::thread unlocks([&] {
    std::this_thread::sleep_for(300ms);
    unlock_file();
  });
  const auto hold = client.mutex("lock").try_acquire();
  EXPECT_TRUE(hold) << hold.error().text();
  EXPECT_GE(watch.elapsed(), 290ms);
  unlocks.join();
}

TEST_F(SqliteBusy, ForTooLongIsNoAnswerNotANo_F119) {
  const Client client = open({.answer_within = 200ms, .patience = 500ms});
  auto hold = client.mutex("held").acquire();
  ASSERT_TRUE(hold);
  lock_file();
  EXPECT_TRUE(is_no_answer(client.mutex("lock").try_acquire()));
  EXPECT_TRUE(is_no_answer(client.mutex("lock").acquire({.wait = kSoon})));
  EXPECT_TRUE(is_no_answer(open().mutex("lock").try_acquire()));
  EXPECT_TRUE(hold->valid());
  unlock_file();
  EXPECT_TRUE(eventually([&] { return client.mutex("lock").acquire({.wait = kSoon}).has_value(); }));
  EXPECT_TRUE(hold->release());
}

TEST_F(SqliteBusy, AgainAndAgainDoesNotCostAHold_F119) {
  const Client client = open();
  auto hold = client.mutex("lock").acquire({.lease = 3s});
  ASSERT_TRUE(hold);
  const TimePoint first_end = hold->valid_until();
  const Stopwatch watch;
  while (watch.elapsed() < 4s) {
    lock_file();
    std::this_thread::sleep_for(500ms);
    unlock_file();
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(hold->valid());
  EXPECT_GT(hold->valid_until(), first_end);
  EXPECT_FALSE(hold->lost().stop_requested());
  EXPECT_TRUE(hold->release());
}

// The loop thread never waits for a file: what hangs on it goes on, whatever the file does.
TEST_F(SqliteBusy, DoesNotStopTheClockOfAClient_F119) {
  const Client client = open({.answer_within = 10s, .patience = 20s});
  const auto held = client.mutex("held").acquire();
  ASSERT_TRUE(held);
  auto waiting = client.mutex("held").async_acquire();  // here, not in the store
  lock_file();
  const Stopwatch watch;
  auto pending = client.mutex("lock").async_acquire();
  EXPECT_LT(watch.elapsed(), 1s) << "the caller does not wait";
  EXPECT_TRUE(fails_with(Errc::timed_out, std::move(waiting).get_for(100ms)));
  EXPECT_LT(watch.elapsed(), 5s) << "nor does a timer";
  EXPECT_FALSE(pending.ready());
  unlock_file();
  EXPECT_TRUE(std::move(pending).get_for(kSoon));
}

// And a hold that runs out meanwhile is told so in time.
TEST_F(SqliteBusy, DoesNotDelayTheNewsOfALoss_F119) {
  const Client client = open();
  const auto hold = client.mutex("lock").acquire({.lease = 600ms});
  ASSERT_TRUE(hold);
  lock_file();
  auto pending = client.mutex("other").async_acquire();
  const Stopwatch watch;
  EXPECT_TRUE(eventually([&] { return hold->lost().stop_requested(); }));
  EXPECT_LT(watch.elapsed(), 1800ms) << "less than one question may take";
  EXPECT_FALSE(hold->valid());
  unlock_file();
  EXPECT_TRUE(std::move(pending).get_for(kSoon));
}

// ---- readers ----

TEST_F(SqliteBusy, ReadingForLongDoesNotStopLocks_F129) {
  raw_->must("BEGIN");
  EXPECT_EQ(raw_->number("SELECT count(*) FROM lock"), 0);
  const Client client = open();
  const auto before = std::filesystem::file_size(database() + "-wal");
  for (int i = 0; i < 500; ++i) {
    auto hold = client.mutex("lock" + std::to_string(i % 7)).acquire();
    ASSERT_TRUE(hold) << hold.error().text();
    ASSERT_TRUE(hold->release());
  }
  EXPECT_GT(std::filesystem::file_size(database() + "-wal"), before);
  EXPECT_EQ(raw_->number("SELECT count(*) FROM lock"), 0) << "it still reads the old state";
  raw_->must("ROLLBACK");
}

TEST_F(SqliteBusy, ALongLogIsWarnedOf_F129) {
  const auto warned = [](const Client& client) {
    const auto findings = client.examine().value();
    return std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
      return each.level == Finding::Level::warning && each.subject == "log";
    });
  };
  const Client client = open();
  ASSERT_TRUE(client.mutex("lock").acquire());
  EXPECT_FALSE(warned(client));
  ASSERT_EQ(::truncate((database() + "-wal").c_str(), 65 << 20), 0);  // zeros mean nothing in a log
  EXPECT_TRUE(warned(client));
  EXPECT_TRUE(client.mutex("lock").acquire());
}

}  // namespace
}  // namespace holdfast::test
