#include "support/many_holds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/stopwatch.hpp"
#include "support/switchable_store.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds kLease = 6s;
// A renewal is due at a third of the lease and may wait a thirtieth for company.
constexpr std::chrono::milliseconds kDue = kLease / 3 + kLease / 30;

std::chrono::milliseconds in_ms(Duration length) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(length);
}

}  // namespace

void expect_renewed_in_time(const std::string& url, std::size_t count) {
  SwitchableStore* link = nullptr;
  const Client client = connect_to([&](const auto& clock, auto& loop) -> OpenedClient {
    OpenedClient opened = open_by_url(url, clock, loop);
    auto store = std::make_unique<SwitchableStore>(std::move(opened.store));
    link = store.get();
    return {opened.id, std::move(store)};
  });
  const Stopwatch all;
  std::vector<Hold> holds;
  for (std::size_t i = 0; i < count; ++i) {
    auto hold = client.mutex("lock" + std::to_string(i)).acquire({.lease = kLease});
    ASSERT_TRUE(hold) << hold.error().text();
    holds.push_back(*std::move(hold));
  }

  // Until the last of them was due, and a good while longer.
  const Stopwatch watch;
  std::chrono::milliseconds least = kLease;
  while (watch.elapsed() < 3 * kDue / 2) {
    for (const Hold& hold : holds) least = std::min(least, in_ms(hold.remaining()));
    std::this_thread::sleep_for(1ms);
  }
  const auto late = kLease - kDue - kLease / 100 - 2ms - least;
  const auto messages = link->counts().renew;
  std::printf("%zu locks in %lld ms; %llu messages; the latest renewal was late by %lld ms\n",
              count, static_cast<long long>((all.elapsed() - watch.elapsed()).count()),
              static_cast<unsigned long long>(messages),
              static_cast<long long>(std::max(late, 0ms).count()));
  EXPECT_LT(late, kLease / 3);
  for (const Hold& hold : holds) ASSERT_TRUE(hold.valid());
  const auto periods = static_cast<std::size_t>(all.elapsed() / (kLease / 3)) + 1;
  EXPECT_LE(messages, periods * (count / 100 + 1) * 2) << "they have company";
  EXPECT_GE(messages, count / 100) << "all of them were renewed";
}

}  // namespace holdfast::test
