// Very many who wait for one lock, each with a place of its own, and a network that breaks for all of them at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/zookeeper/lock_faults.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/shared_page.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {
namespace {

constexpr int kProcesses = kSanitized ? 4 : 20;
constexpr int kEach = kSanitized ? 25 : 100;
constexpr auto kAll = static_cast<std::uint64_t>(kProcesses * kEach);

// The first two are read and written without any care: only the lock keeps them right.
struct Served {
  volatile std::uint64_t count;
  volatile std::uint64_t last_fence;
  std::atomic<std::uint64_t> fences_went_back;
  std::atomic<std::uint64_t> errors;
};

void serve(Result<Hold> hold, Served& served) {
  if (!hold) {
    ++served.errors;
    std::fprintf(stderr, "%s\n", hold.error().text().c_str());
    return;
  }
  const std::uint64_t before = served.count;
  if (hold->fence().value() <= served.last_fence) ++served.fences_went_back;
  served.last_fence = hold->fence().value();
  std::this_thread::yield();
  served.count = before + 1;
  // Where the connection broke just then nobody hears of it, but it is done.
  if (const auto released = hold->release(); !released && !is_no_answer(released)) {
    ++served.errors;
    std::fprintf(stderr, "%s\n", released.error().text().c_str());
  }
}

// Arguments: URL, the file of what was served. Strict order, so that each waits with a node of its own.
const Role kWaiters("zookeeper-waiters", [](Parent& parent, const Words& arguments) {
  SharedPage<Served> served(arguments.at(1));
  std::atomic<int> left{kEach};
  const Client client = connect(arguments.at(0), {.answer_within = 10s, .patience = 1min}).value();
  for (int i = 0; i < kEach; ++i) {
    client.mutex("lock").async_acquire({.wait = 5min, .order = Order::fifo}).then([&](auto hold) {
      serve(std::move(hold), *served);
      --left;
    });
  }
  parent.hear();
  parent.tell(std::to_string(left));
});

class ZooKeeperCrowd : public LockFaults {
 protected:
  // They may be slow on a busy machine, but never stand still.
  static bool comes_to(const Served& served, std::uint64_t count) {
    while (served.count + served.errors < count) {
      const std::uint64_t before = served.count;
      if (!eventually([&] { return served.count != before; })) return false;
    }
    return true;
  }
};

TEST_F(ZooKeeperCrowd, AllAreServedOneByOneThoughTheirConnectionsBreak_F082_F088) {
  const Client holder = open_direct("?session=1m");
  auto hold = holder.mutex("lock").acquire().value();
  auto seen = line();
  const TempFolder aside;
  const SharedPage<Served> served(aside / "served", SharedPage<Served>::Make{});
  std::vector<ChildProcess> crowd;
  const Stopwatch watch;
  for (int i = 0; i < kProcesses; ++i) {
    // One process after the other. All at once they read a line that grows by two thousand, each for itself, and where
    // they share two cores with others some of them run out of patience.
    crowd.emplace_back(kWaiters, Words{url("?session=30s"), aside / "served"});
    ASSERT_TRUE(seen.comes_to(1 + crowd.size() * kEach)) << seen.size();
  }
  const auto lined_up = watch.elapsed();
  proxy_.reset();  // while all wait
  EXPECT_EQ(served->count, 0U);
  EXPECT_TRUE(hold.release());
  ASSERT_TRUE(comes_to(*served, kAll / 2)) << served->count;
  proxy_.reset();  // while one of them has it
  ASSERT_TRUE(comes_to(*served, kAll)) << served->count;
  std::printf("%llu lined up in %lld ms and served in %lld ms\n",
              static_cast<unsigned long long>(kAll), static_cast<long long>(lined_up.count()),
              static_cast<long long>((watch.elapsed() - lined_up).count()));
  EXPECT_TRUE(seen.comes_to(0)) << "nothing stays behind";
  for (ChildProcess& each : crowd) {
    each.tell("end");
    EXPECT_EQ(each.hear(), "0");
    EXPECT_EQ(each.exit_code(), 0);
  }
  EXPECT_EQ(served->count, kAll);
  EXPECT_EQ(served->errors, 0U);
  EXPECT_EQ(served->fences_went_back, 0U);
}

}  // namespace
}  // namespace holdfast::test
