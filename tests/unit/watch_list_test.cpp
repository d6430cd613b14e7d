#include "transport/watch_list.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace holdfast::transport {
namespace {

using store::ClaimKey;
using store::Wake;

ClaimKey claim(std::uint64_t number) {
  ClaimKey key;
  key.name = store::LockName::checked("lock").value();
  key.owner = {{1, 2}, number};
  return key;
}

TEST(WatchList, FindsWhoWatchesAClaim) {
  WatchList list;
  int first = 0, second = 0, other = 0;
  const auto one = list.add(claim(1), [&](const Wake&) { ++first; });
  const auto two = list.add(claim(1), [&](const Wake&) { ++second; });
  const auto three = list.add(claim(2), [&](const Wake&) { ++other; });
  for (const auto& wake : list.find(claim(1).owner)) (*wake)({});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(other, 0);
  EXPECT_TRUE(list.find(claim(3).owner).empty());
}

TEST(WatchList, ForgetsAWatchThatEnded) {
  WatchList list;
  auto one = list.add(claim(1), [](const Wake&) {});
  const auto two = list.add(claim(1), [](const Wake&) {});
  EXPECT_EQ(list.find(claim(1).owner).size(), 2U);
  one.reset();
  EXPECT_EQ(list.find(claim(1).owner).size(), 1U);
}

TEST(WatchList, NamesEachClaimOnce) {
  WatchList list;
  EXPECT_TRUE(list.empty());
  std::vector<store::WatchPtr> watches;
  for (const std::uint64_t number : {3U, 1U, 3U, 2U}) {
    watches.push_back(list.add(claim(number), [](const Wake&) {}));
  }
  const auto claims = list.claims();
  ASSERT_EQ(claims.size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(claims[i], claim(i + 1));
  EXPECT_FALSE(list.empty());
  watches.clear();
  EXPECT_TRUE(list.empty());
}

// A wake that is being delivered may end its own watch, with all that the function owns.
TEST(WatchList, LetsAWatchEndInsideItsWake) {
  WatchList list;
  store::WatchPtr watch;
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> gone = owned;
  int seen = 0;
  watch = list.add(claim(1), [&watch, &seen, kept = std::move(owned)](const Wake&) {
    watch.reset();
    seen = *kept;
  });
  {
    const auto found = list.find(claim(1).owner);
    ASSERT_EQ(found.size(), 1U);
    (*found.front())({});
    EXPECT_EQ(seen, 7);
  }
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(gone.expired());
}

TEST(WatchList, MayEndBeforeItsWatches) {
  auto list = std::make_optional<WatchList>();
  auto watch = list->add(claim(1), [](const Wake&) {});
  list.reset();
  watch.reset();
}

TEST(WatchList, IsUsedFromManyThreads) {
  WatchList list;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 500; ++round) {
        const auto watch = list.add(claim(i), [](const Wake&) {});
        for (const auto& wake : list.find(claim((i + 1) % 4).owner)) (*wake)({});
        EXPECT_FALSE(list.claims().empty());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace holdfast::transport
