#include "holdfast/versioned.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "lossy_cells.hpp"
#include "support/forked_child.hpp"
#include "support/outcome.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class VersionedTest : public testing::Test {
 protected:
  LinkedClient connect(ClientOptions options = {}) {
    return connect_linked(server_, std::move(options));
  }

  std::shared_ptr<store::MemoryServer> server_ = std::make_shared<store::MemoryServer>();
  LinkedClient alice_ = connect();
  LinkedClient bob_ = connect();
  Versioned value_ = alice_.client.versioned("config");
  Versioned bobs_ = bob_.client.versioned("config");
};

std::string one_more(const VersionedValue& before) {
  return std::to_string(before.value.empty() ? 1 : std::stoi(before.value) + 1);
}

TEST_F(VersionedTest, IsEmptyAtVersionZeroAtFirst) {
  const auto read = value_.read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->value, "");
  EXPECT_EQ(read->version, 0U);
}

TEST_F(VersionedTest, IsWrittenByWhoReadTheLastVersion) {
  const auto first = value_.write("one", 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(bobs_.read()->value, "one");
  EXPECT_EQ(bobs_.read()->version, *first);
  EXPECT_TRUE(fails_with(Errc::busy, bobs_.write("late", 0)));
  EXPECT_EQ(value_.read()->value, "one");
  const auto second = bobs_.write("two", *first);
  ASSERT_TRUE(second);
  EXPECT_GT(*second, *first);
}

TEST_F(VersionedTest, IsExactAfterOptimisticUpdatesOfManyThreads) {
  constexpr int kThreads = 8, kTimes = 200;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Versioned& value = i % 2 == 0 ? value_ : bobs_;
      for (int j = 0; j < kTimes; ++j) {
        if (!value.update(one_more)) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(value_.read()->value, std::to_string(kThreads * kTimes));
  EXPECT_EQ(value_.read()->version, static_cast<std::uint64_t>(kThreads * kTimes));
}

TEST_F(VersionedTest, TriesAgainWithWhatTheFasterOneWrote) {
  std::vector<std::string> seen;
  const auto updated = value_.update([&](const VersionedValue& before) {
    seen.push_back(before.value);
    EXPECT_TRUE(seen.size() == 3 || bobs_.update(one_more));
    return before.value + "!";
  });
  ASSERT_TRUE(updated);
  EXPECT_EQ(seen, (std::vector<std::string>{"", "1", "2"}));
  EXPECT_EQ(updated->value, "2!");
  EXPECT_EQ(updated->version, 3U);
}

TEST_F(VersionedTest, IsLeftAloneIfTheChangeRefuses) {
  ASSERT_TRUE(value_.write("3", 0));
  const auto refused = value_.update([](const VersionedValue&) -> Result<std::string> {
    return Error(Errc::cancelled, "nothing left to sell");
  });
  EXPECT_TRUE(fails_with(Errc::cancelled, refused));
  EXPECT_EQ(refused.error().text(), "nothing left to sell");
  EXPECT_THROW(static_cast<void>(value_.update([](const VersionedValue&) -> Result<std::string> {
                 throw std::runtime_error("no");
               })),
               std::runtime_error);
  EXPECT_EQ(value_.read()->version, 1U);
  EXPECT_TRUE(value_.update(one_more)) << "nobody has the turn";
}

TEST_F(VersionedTest, GivesUpAfterItsTimeOrOnRequest) {
  const auto overtaken = [&](const VersionedValue& before) -> Result<std::string> {
    EXPECT_TRUE(bobs_.update(one_more));
    return before.value;
  };
  EXPECT_TRUE(fails_with(Errc::timed_out, value_.update(overtaken, {.wait = 0s})));
  EXPECT_EQ(value_.read()->version, 1U) << "one attempt";
  EXPECT_TRUE(fails_with(Errc::timed_out, value_.update(overtaken, {.wait = 20ms})));
  std::stop_source stop;
  int attempts = 0;
  const auto stopped = value_.update(
      [&](const VersionedValue& before) {
        if (++attempts == 2) stop.request_stop();
        return overtaken(before);
      },
      {.stop = stop.get_token()});
  EXPECT_TRUE(fails_with(Errc::cancelled, stopped));
  EXPECT_EQ(attempts, 2);
}

TEST_F(VersionedTest, MayBeUsedInsideItsOwnChange) {
  const auto updated = value_.update([&](const VersionedValue& before) -> Result<std::string> {
    EXPECT_TRUE(before.version != 0 || value_.write("inner", 0));
    return before.value + " outer";
  });
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->value, "inner outer");
}

// --- lost replies ---

TEST_F(VersionedTest, IsWrittenOnceIfTheReplyWasLost) {
  alice_.link->set(Link::deaf);
  auto written = std::async(std::launch::async, [&] { return value_.write("alice", 0); });
  ASSERT_TRUE(eventually([&] { return bobs_.read()->version == 1; }));
  EXPECT_EQ(bobs_.write("bob", 1).value(), 2U);
  alice_.link->set(Link::up);
  ASSERT_TRUE(comes(written));
  EXPECT_EQ(written.get().value(), 1U) << "it was written, and replaced since";
  EXPECT_EQ(value_.read()->value, "bob");
}

TEST_F(VersionedTest, IsUnknownWhenTheStoreStaysSilent) {
  const LinkedClient carol = connect({.answer_within = 250ms, .patience = 1s});
  const Versioned value = carol.client.versioned("config");
  carol.link->set(Link::deaf);
  EXPECT_TRUE(fails_with(Errc::unknown, value.write("carol", 0)));
  EXPECT_TRUE(fails_with(Errc::unavailable, value.read()));
  EXPECT_TRUE(fails_with(Errc::unavailable, value.update(one_more))) << "it could not even read";
  carol.link->set(Link::up);
  EXPECT_EQ(value.read()->value, "carol");
}

TEST_F(VersionedTest, IsExactAlsoWhileRepliesAreLost) {
  constexpr int kThreads = 4, kTimes = 15;
  const Client lossy = connect_lossy(server_);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kTimes; ++j) {
        EXPECT_TRUE(lossy.versioned("config").update(one_more));
        EXPECT_TRUE(bobs_.update(one_more));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(value_.read()->value, std::to_string(2 * kThreads * kTimes));
}

// --- misuse ---

TEST_F(VersionedTest, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(fails_with(Errc::invalid_argument, value_.write(std::string(64 * 1024 + 1, 'x'), 0)));
  EXPECT_TRUE(value_.write(std::string(64 * 1024, '\0'), 0));
  EXPECT_EQ(bobs_.read()->value, std::string(64 * 1024, '\0'));
  EXPECT_TRUE(fails_with(Errc::invalid_name, alice_.client.versioned("").read()));
  EXPECT_EQ(value_.name(), "config");
}

TEST_F(VersionedTest, IsForkedInAChild_F023) {
  EXPECT_TRUE(holds_in_child([&] {
    return fails_with(Errc::forked, value_.read()) &&
           fails_with(Errc::forked, value_.write("x", 0)) &&
           fails_with(Errc::forked, value_.update(one_more));
  }));
}

}  // namespace
}  // namespace holdfast::test
