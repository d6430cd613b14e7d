// What the store costs, counted at a real server and not timed: round trips, commands per change of hands, looks
// of those who wait, and renewals.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "store/redis/script.hpp"
#include "support/effort.hpp"
#include "support/many_holds.hpp"
#include "support/net/proxy.hpp"
#include "support/servers/redis_monitor.hpp"
#include "support/stopwatch.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using namespace store::redis;

std::string url_of(std::uint16_t port) { return "redis://127.0.0.1:" + std::to_string(port); }

bool runs(const MonitoredCommand& command, const Script& script) {
  return command.is("EVALSHA") && command.word(1) == script.sha1;
}

class Counted : public testing::Test {
 protected:
  Client connect() const { return holdfast::connect(url_of(server.port())).value(); }

  // Only what our clients asked; what their scripts did is theirs.
  static std::vector<MonitoredCommand> asked_in(RedisMonitor& monitor) {
    std::vector<MonitoredCommand> commands = monitor.take();
    std::erase_if(commands, [](const MonitoredCommand& each) { return !each.by_tcp(); });
    return commands;
  }
  // How often a command was called since the last reset, in scripts or not.
  std::uint64_t calls(const std::string& command) {
    const std::string info = server.must({"INFO", "commandstats"}).text;
    const std::string line = "cmdstat_" + command + ":calls=";
    const std::size_t at = info.find(line);
    return at == std::string::npos ? 0 : std::stoull(info.substr(at + line.size()));
  }

  RedisServer server;
};

// --- a free lock ---

TEST_F(Counted, AFreeLockIsTwoRoundTrips) {
  Proxy proxy(Address::tcp(server.port()));
  const Client client = holdfast::connect("redis://" + proxy.address().text()).value();
  const Mutex mutex = client.mutex("free");
  ASSERT_TRUE(mutex.acquire()->release());  // the server learns the scripts
  RedisMonitor monitor(server);
  const std::uint64_t sent = proxy.traffic(Way::to_server).writes;
  const std::uint64_t answered = proxy.traffic(Way::to_client).writes;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(mutex.acquire()->release());
  EXPECT_EQ(proxy.traffic(Way::to_server).writes - sent, 2000U);
  EXPECT_EQ(proxy.traffic(Way::to_client).writes - answered, 2000U);
  EXPECT_EQ(proxy.connections(), 1U) << "nobody who does not wait listens";
  std::map<std::string, int> asked;
  for (const MonitoredCommand& each : asked_in(monitor)) ++asked[each.word(0) + " " + each.word(1)];
  EXPECT_EQ(asked,
            (std::map<std::string, int>{{"EVALSHA " + std::string(k_try_grant_script.sha1), 1000},
                                        {"EVALSHA " + std::string(k_release_script.sha1), 1000}}));
}

TEST_F(Counted, AHoldThatIsDroppedWaitsForNoAnswer) {
  Proxy proxy(Address::tcp(server.port()));
  const Client client = holdfast::connect("redis://" + proxy.address().text()).value();
  const Mutex mutex = client.mutex("free");
  ASSERT_TRUE(mutex.acquire()->release());
  RedisMonitor monitor(server);
  for (int i = 0; i < 20; ++i) {
    std::optional<Hold> hold(mutex.acquire().value());
    const std::uint64_t before = proxy.traffic(Way::to_client).came;
    proxy.hold(Way::to_client);  // no answer gets through
    hold.reset();
    EXPECT_TRUE(proxy.until_came(Way::to_client, before + 1)) << "it was released, and answered";
    proxy.release(Way::to_client);
  }
  EXPECT_EQ(asked_in(monitor).size(), 40U);
}

// --- a line ---

// Clients of so many waiters each, in one strict line behind one holder.
class CountedLine : public Counted {
 protected:
  void line_up(int waiters, int clients) {
    held_ = connect().mutex("line").acquire().value();
    for (int i = 0; i < clients; ++i) clients_.push_back(connect());
    for (int i = 0; i < waiters; ++i) {
      const Client& client = clients_[static_cast<std::size_t>(i % clients)];
      waiting_.push_back(client.mutex("line").async_acquire({.order = Order::fifo}));
      // One after the other, so that the order is known.
      ASSERT_TRUE(eventually([&] { return standing() == i + 1; })) << i;
    }
  }
  std::int64_t standing() { return server.must({"ZCARD", "holdfast_line:{line}"}).integer; }
  void pass_on() {
    ASSERT_TRUE(held_->release());
    held_ = std::move(waiting_.front()).get().value();
    waiting_.pop_front();
  }

  std::vector<Client> clients_;
  std::deque<Pending<Hold>> waiting_;
  std::optional<Hold> held_;
};

class CountedLines : public CountedLine, public testing::WithParamInterface<int> {};

TEST_P(CountedLines, AChangeOfHandsIsThreeCommandsHoweverManyWait_F041) {
  const Stopwatch since_the_first_lined_up;
  line_up(GetParam(), 10);
  std::this_thread::sleep_for(100ms);  // who came last asks a second time
  RedisMonitor monitor(server);
  const int changes = std::min(200, GetParam() - 1);
  for (int i = 0; i < changes; ++i) pass_on();
  const auto asked = asked_in(monitor);
  std::map<std::string, int> scripts;
  for (const MonitoredCommand& each : asked) {
    ++scripts[runs(each, k_release_script)     ? "releases"
              : runs(each, k_renew_script)     ? "confirmations"
              : runs(each, k_try_grant_script) ? "attempts"
                                               : each.word(0)];
  }
  // Those who have waited for five seconds look by themselves, whatever happens.
  const auto own_looks = static_cast<std::size_t>(GetParam()) *
                         static_cast<std::size_t>(since_the_first_lined_up.elapsed() / 5s);
  std::printf("%d waiters, %d changes of hands: %zu commands, %.2f each (", GetParam(), changes,
              asked.size(), static_cast<double>(asked.size()) / changes);
  for (const auto& [what, count] : scripts) std::printf(" %d %s", count, what.c_str());
  std::printf(" ); up to %zu looks of their own\n", own_looks);
  EXPECT_EQ(scripts["releases"], changes);
  EXPECT_LE(asked.size(), static_cast<std::size_t>(3 * changes) + own_looks);
  EXPECT_EQ(standing(), GetParam() - changes) << "nobody else was disturbed";
}

INSTANTIATE_TEST_SUITE_P(Waiters, CountedLines, testing::Values(10, kSanitized ? 200 : 1000));

TEST_F(CountedLine, WhoeverWaitsAsksOnceInFiveSecondsAtTheMost) {
  constexpr int kWaiters = 100;
  line_up(kWaiters, 4);
  std::this_thread::sleep_for(200ms);
  RedisMonitor monitor(server);
  std::this_thread::sleep_for(11s);
  std::map<std::string, std::chrono::microseconds> last;  // by owner
  std::chrono::microseconds shortest = 1h;
  int looks = 0, others = 0;
  for (const MonitoredCommand& each : asked_in(monitor)) {
    if (!runs(each, k_try_grant_script)) {
      ++others;
      continue;
    }
    ++looks;
    const std::string owner = each.word(10);  // behind the sha, two keys and five arguments
    if (last.contains(owner)) shortest = std::min(shortest, each.at - last[owner]);
    last[owner] = each.at;
  }
  std::printf(
      "%d waiters, 11 s: %d looks, the next one of anybody after %.3f s; %d other commands\n",
      kWaiters, looks, std::chrono::duration<double>(shortest).count(), others);
  EXPECT_EQ(last.size(), static_cast<std::size_t>(kWaiters));
  EXPECT_GE(shortest, 4900ms);
  EXPECT_LE(others, 1 + 2 + 2 * 5)
      << "renewals of the holder, and a ping of each client's ear in ten seconds";
}

// --- renewals ---

class CountedRenewals : public Counted {
 protected:
  struct Renewals {
    std::map<std::string, std::vector<std::chrono::microseconds>> of;  // each lock, by its key
    std::vector<std::size_t> batches;                                  // how many locks each had
    int others = 0;  // commands that renew nothing
  };
  static Renewals renewals_in(RedisMonitor& monitor) {
    Renewals found;
    add_renewals_in(monitor, found);
    return found;
  }
  static void add_renewals_in(RedisMonitor& monitor, Renewals& found) {
    for (const MonitoredCommand& each : asked_in(monitor)) {
      if (!runs(each, k_renew_script)) {
        ++found.others;
        continue;
      }
      const std::size_t locks = std::stoull(each.word(2)) / 2;
      found.batches.push_back(locks);
      std::size_t at = 0;
      for (std::size_t i = 0; i < locks; ++i) {  // "lock 17", in the order of the keys
        at = each.text.find("\"lock ", at) + 1;
        found.of[each.text.substr(at, each.text.find('"', at) - at)].push_back(each.at);
      }
    }
  }
};

TEST_F(CountedRenewals, TenThousandLocksAreRenewedAHundredAtATime_F042) {
  constexpr std::size_t kMany = kSanitized ? 1'000 : 10'000;
  constexpr auto kLease = 9s;
  const Client client = connect();
  std::vector<Hold> holds;
  // Not all at once: a busy machine would leave the first ones without an answer.
  while (holds.size() < kMany) {
    std::vector<Pending<Hold>> asked;
    for (std::size_t i = 0; i < 500; ++i) {
      const auto mutex = client.mutex("lock " + std::to_string(holds.size() + i));
      asked.push_back(mutex.async_acquire({.lease = kLease}));
    }
    for (Pending<Hold>& each : asked) holds.push_back(std::move(each).get().value());
  }
  std::this_thread::sleep_for(kLease / 2);  // all of them had their first
  RedisMonitor monitor(server);
  Renewals found;
  std::size_t periods = 0;
  do {  // a machine that is busy with other things may be late
    std::this_thread::sleep_for(2 * (kLease / 3 + kLease / 30));
    add_renewals_in(monitor, found);
    periods += 2;
  } while (found.of.size() < kMany && periods < 8);
  std::size_t most = 0, all = 0;
  for (const std::size_t each : found.batches) {
    most = std::max(most, each);
    all += each;
  }
  std::size_t fewest_of_one = 99, most_of_one = 0;
  for (const auto& [lock, times] : found.of) {
    fewest_of_one = std::min(fewest_of_one, times.size());
    most_of_one = std::max(most_of_one, times.size());
  }
  std::printf(
      "%zu locks, %zu periods: %zu renewals in %zu commands, %zu at the most in one; %zu to %zu of "
      "each\n",
      kMany, periods, all, found.batches.size(), most, fewest_of_one, most_of_one);
  EXPECT_EQ(found.of.size(), kMany);
  EXPECT_LE(most, 100U);
  EXPECT_GE(fewest_of_one, 1U);
  EXPECT_LE(most_of_one, periods + 1);
  EXPECT_LE(found.batches.size(), 2 * all / 100 + 10) << "they have company";
  EXPECT_LE(found.others, 1) << "the ear's ping";
  for (const Hold& hold : holds) ASSERT_TRUE(hold.valid());
}

TEST_F(CountedRenewals, AreOnePerPeriodAndHoldAfterAHundredThousandPairs) {
  constexpr int kThreads = 8;
  constexpr int kPairs = kSanitized ? 5'000 : 100'000;
  const Client client = connect();
  const Stopwatch watch;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([mutex = client.mutex("busy " + std::to_string(i))] {
        for (int pair = 0; pair < kPairs / kThreads; ++pair)
          ASSERT_TRUE(mutex.acquire()->release());
      });
    }
  }
  std::printf("%d pairs in %lld ms; the server ran %llu scripts\n", kPairs,
              static_cast<long long>(watch.elapsed().count()),
              static_cast<unsigned long long>(calls("evalsha")));
  EXPECT_GE(calls("evalsha"), 2U * kPairs);
  EXPECT_LE(calls("evalsha"), 2U * kPairs + 2 * kThreads)
      << "some met a server that did not know the scripts";
  const Hold one = client.mutex("lock 1").acquire({.lease = 1500ms}).value();
  const Hold two = client.mutex("lock 2").acquire({.lease = 1500ms}).value();
  std::this_thread::sleep_for(800ms);  // the first renewal has to teach the server its script
  RedisMonitor monitor(server);
  std::this_thread::sleep_for(4s);
  const Renewals found = renewals_in(monitor);
  EXPECT_EQ(found.of.size(), 2U);
  EXPECT_EQ(found.others, 0);
  for (const auto& [lock, times] : found.of) {
    std::printf("%s: %zu renewals in 4 s, due every 500 to 550 ms\n", lock.c_str(), times.size());
    EXPECT_GE(times.size(), 4U);
    EXPECT_LE(times.size(), 8U);
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 490ms);
  }
}

TEST_F(Counted, TenThousandHoldsAreRenewedInTime_F042) {
  expect_renewed_in_time(url_of(server.port()), kSanitized ? 500 : 10'000);
}

}  // namespace
}  // namespace holdfast::test
