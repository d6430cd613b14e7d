// The real store and clients that are not ours at the same locks: who excludes whom, how soon each wakes the
// other, and that nobody is forgotten in a crowd. What is measured is printed; the bounds are those of a busy
// machine, where waiting for the end of a lease or for the next look would still take seconds.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "integration/redis/java_thread.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/script.hpp"
#include "support/effort.hpp"
#include "support/servers/redis_monitor.hpp"
#include "support/stopwatch.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kBusyMachine = kSanitized ? 2'000ms : 500ms;
const std::string kName = "shared by both";

enum class Ours : std::uint8_t { any, fifo, writer, reader };

Pending<Hold> ask(const Client& client, Ours how, Duration wait = kForever) {
  switch (how) {
    case Ours::writer:
      return client.shared_mutex(kName).async_acquire({.wait = wait});
    case Ours::reader:
      return client.shared_mutex(kName).async_acquire_shared({.wait = wait});
    default:
      return client.mutex(kName).async_acquire(
          {.wait = wait, .order = how == Ours::fifo ? Order::fifo : Order::any});
  }
}

// How long wakes took.
class Waits {
 public:
  void add(steady_clock::duration time) { times_.push_back(time / 1us); }
  void show(const std::string& what) {
    std::sort(times_.begin(), times_.end());
    std::printf("%s: %.1f ms, at the most %.1f ms of %zu\n", what.c_str(),
                static_cast<double>(times_[times_.size() / 2]) / 1000,
                static_cast<double>(times_.back()) / 1000, times_.size());
    testing::Test::RecordProperty("median_us", std::to_string(times_[times_.size() / 2]));
  }
  std::chrono::microseconds usual() const {
    return std::chrono::microseconds(times_[times_.size() / 2]);
  }

 private:
  std::vector<std::int64_t> times_;
};

class InteropBench : public testing::Test {
 protected:
  Client connect() const {
    return holdfast::connect("redis://127.0.0.1:" + std::to_string(server.port())).value();
  }
  std::int64_t listeners(const std::string& channel) {
    return server.must({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
  }

  // In its queue of fair waiters.
  std::int64_t fair_places() {
    return server.must({"LLEN", "redisson_lock_queue:{" + kName + "}"}).integer;
  }
  static std::string in_ms_from_now(std::chrono::milliseconds time) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(
        (std::chrono::duration_cast<std::chrono::milliseconds>(now) + time).count());
  }

  RedisServer server;
  JavaThread java{server};
};

struct Pair {
  const char* name;
  JavaLock java;
  Ours ours;
};
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

// Each excludes the other.
const Pair kPairs[] = {
    {"lock_and_mutex", JavaLock::plain, Ours::any},
    {"lock_and_fifo_mutex", JavaLock::plain, Ours::fifo},
    {"fenced_lock_and_mutex", JavaLock::fenced, Ours::any},
    {"fair_lock_and_mutex", JavaLock::fair, Ours::any},
    {"fair_lock_and_fifo_mutex", JavaLock::fair, Ours::fifo},
    {"write_lock_and_writer", JavaLock::write, Ours::writer},
    {"write_lock_and_reader", JavaLock::write, Ours::reader},
    {"read_lock_and_writer", JavaLock::read, Ours::writer},
};

class Interop : public InteropBench, public testing::WithParamInterface<Pair> {
 protected:
  Pending<Hold> ask(const Client& client, Duration wait = kForever) const {
    return test::ask(client, GetParam().ours, wait);
  }
  // To whatever one of its may tell.
  bool we_listen() {
    const bool rw = its == JavaLock::read || its == JavaLock::write;
    const auto kind = rw ? store::Kind::shared_mutex : store::Kind::mutex;
    return listeners(
               store::redis::redisson_channels(kind, *store::LockName::checked(kName)).back()) > 0;
  }
  const JavaLock its = GetParam().java;
};

TEST_P(Interop, ItsHolderExcludesOurs) {
  const Client client = connect();
  java.lock(its, kName);
  const auto refused = ask(client, 0s).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::busy);
  EXPECT_NE(refused.error().text().find(RedissonLike::owner()), std::string::npos)
      << refused.error().text();
  EXPECT_TRUE(java.unlock(its, kName));
  EXPECT_TRUE(ask(client, 0s).get());
}

TEST_P(Interop, OurHolderExcludesIts) {
  const Client client = connect();
  auto hold = ask(client).get();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_TRUE(java.calls().lock(its, kName).has_value());
  EXPECT_TRUE(hold->release());
  EXPECT_EQ(java.calls().lock(its, kName), std::nullopt);
  EXPECT_TRUE(java.unlock(its, kName)) << "and nobody throws it out";
}

TEST_P(Interop, OurReleaseWakesIts) {
  const Client client = connect();
  Waits waits;
  for (int i = 0; i < 10; ++i) {
    auto hold = ask(client).get();
    ASSERT_TRUE(hold) << hold.error().text();
    auto got = std::async(std::launch::async, [this] { return java.lock(its, kName); });
    ASSERT_TRUE(eventually([&] { return java.waits(); }));
    const auto released = steady_clock::now();
    EXPECT_TRUE(hold->release());
    ASSERT_TRUE(comes(got));
    waits.add(got.get() - released);
    EXPECT_TRUE(java.unlock(its, kName));
  }
  waits.show(std::string(GetParam().name) + ", ours wakes its");
  EXPECT_LT(waits.usual(), kBusyMachine);
}

TEST_P(Interop, ItsReleaseWakesOurs) {
  const Client client = connect();
  Waits waits;
  for (int i = 0; i < 10; ++i) {
    java.lock(its, kName);
    auto waiting = ask(client);
    ASSERT_TRUE(eventually([&] { return we_listen(); }));
    std::this_thread::sleep_for(20ms);  // it looks once more when it listens, and sleeps then
    EXPECT_FALSE(waiting.ready());
    const auto released = steady_clock::now();
    EXPECT_TRUE(java.unlock(its, kName));
    auto hold = std::move(waiting).get();
    waits.add(steady_clock::now() - released);
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->release());
  }
  waits.show(std::string(GetParam().name) + ", its wakes ours");
  EXPECT_LT(waits.usual(), kBusyMachine);
}

INSTANTIATE_TEST_SUITE_P(Pairs, Interop, testing::ValuesIn(kPairs),
                         [](const auto& pair) { return std::string(pair.param.name); });

// --- several of ours behind one of its ---

TEST_F(InteropBench, ItsReleaseLetsAllOfOursInOneAfterTheOther) {
  std::vector<Client> clients;
  std::vector<std::future<bool>> all;
  java.lock(JavaLock::plain, kName);
  for (int i = 0; i < 6; ++i) clients.push_back(connect());
  for (const Client& client : clients) {
    all.push_back(std::async(std::launch::async, [&client] {
      auto hold = client.mutex(kName).acquire();
      return hold && hold->release();
    }));
  }
  const std::string channel = RedissonLike::channel(JavaLock::plain, kName);
  ASSERT_TRUE(eventually([&] { return listeners(channel) == 6; }));
  const Stopwatch watch;
  EXPECT_TRUE(java.unlock(JavaLock::plain, kName));
  for (auto& each : all) EXPECT_TRUE(each.get());
  std::printf("six of ours one after the other: %lld ms\n",
              static_cast<long long>(watch.elapsed().count()));
  EXPECT_LT(watch.elapsed(), 2 * kBusyMachine);
}

// Only the head of the line had to know that one of its holds the lock. When it leaves, the next one has to.
TEST_F(InteropBench, WhoeverIsNextListensWhenTheHeadGivesUp) {
  const Client first = connect();
  const Client second = connect();
  const Client holder = connect();
  auto held = holder.mutex(kName).acquire();
  std::stop_source gives_up;
  auto head = first.mutex(kName).async_acquire({.stop = gives_up.get_token()});
  ASSERT_TRUE(eventually([&] { return first.inspect()->at(0).line.size() == 1; }));
  auto next = second.mutex(kName).async_acquire();
  ASSERT_TRUE(eventually([&] { return first.inspect()->at(0).line.size() == 2; }));
  auto got = std::async(std::launch::async, [this] { return java.lock(JavaLock::plain, kName); });
  ASSERT_TRUE(eventually([&] { return java.waits(); }));
  std::this_thread::sleep_for(50ms);  // the first looks of ours are over
  EXPECT_TRUE(held->release());
  ASSERT_TRUE(comes(got)) << "that release was left to its waiters";
  const std::string channel = RedissonLike::channel(JavaLock::plain, kName);
  ASSERT_TRUE(eventually([&] { return listeners(channel) == 1; })) << "the head";
  std::this_thread::sleep_for(50ms);
  gives_up.request_stop();
  EXPECT_FALSE(std::move(head).get());
  std::this_thread::sleep_for(100ms);
  const Stopwatch watch;
  EXPECT_TRUE(java.unlock(JavaLock::plain, kName));
  EXPECT_TRUE(std::move(next).get());
  std::printf("the next one after the head gave up: %lld ms\n",
              static_cast<long long>(watch.elapsed().count()));
  EXPECT_LT(watch.elapsed(), kBusyMachine);
}

// --- in a crowd ---

// Threads that take a mutex and give it back until this goes.
class Crowd {
 public:
  Crowd(const std::vector<Client>& clients, int threads_of_each, AcquireOptions options) {
    for (const Client& client : clients) {
      for (int i = 0; i < threads_of_each; ++i) {
        threads_.emplace_back([this, mutex = client.mutex(kName), options](std::stop_token stop) {
          while (!stop.stop_requested()) {
            auto hold = mutex.acquire(options);
            if (!hold || !hold->release()) ++failures_;
            ++turns_;
          }
        });
      }
    }
  }
  int turns() const { return turns_; }
  int failures() const { return failures_; }

 private:
  std::atomic<int> turns_{0};
  std::atomic<int> failures_{0};
  std::vector<std::jthread> threads_;
};

// How many releases of ours the server has done between one's first attempt and its grant, turn by turn.
std::vector<int> releases_before_its_turns(const std::vector<MonitoredCommand>& commands) {
  const std::string release(store::redis::k_release_script.sha1);
  const std::string owner = '"' + RedissonLike::owner() + '"';
  std::vector<int> found;
  std::optional<int> releases;
  for (const MonitoredCommand& each : commands) {
    if (each.from == "lua") {
      if (each.is("HINCRBY") && each.has(owner) && each.word(3) == "1" && releases) {
        found.push_back(*std::exchange(releases, std::nullopt));
      }
    } else if (each.is("EVAL") && each.has(owner) && !each.has("HINCRBY', hash, owner, -1")) {
      if (!releases) releases = 0;
    } else if (each.is("EVALSHA") && each.word(1) == release && releases) {
      ++*releases;
    }
  }
  return found;
}

struct CrowdSort {
  const char* name;
  int clients;
  int threads;
  Order order;
};
void PrintTo(const CrowdSort& crowd, std::ostream* out) { *out << crowd.name; }

class InteropCrowd : public InteropBench, public testing::WithParamInterface<CrowdSort> {};

TEST_P(InteropCrowd, AWaiterOfItsIsServedWithinEightReleases) {
  std::vector<Client> clients;
  for (int i = 0; i < GetParam().clients; ++i) clients.push_back(connect());
  Crowd crowd(clients, GetParam().threads, {.order = GetParam().order});
  ASSERT_TRUE(eventually([&] { return crowd.turns() > 50; }));
  RedisMonitor monitor(server);
  Waits waits;
  for (int i = 0; i < 20; ++i) {
    const auto start = steady_clock::now();
    waits.add(java.lock(JavaLock::plain, kName) - start);
    EXPECT_TRUE(java.unlock(JavaLock::plain, kName));
    std::this_thread::sleep_for(5ms);
  }
  const std::vector<int> releases = releases_before_its_turns(monitor.take());
  ASSERT_EQ(releases.size(), 20U);
  std::printf("%s: at the most %d releases of ours before its turn\n", GetParam().name,
              *std::max_element(releases.begin(), releases.end()));
  waits.show(std::string(GetParam().name) + ", until it had it");
  for (const int each : releases) EXPECT_LE(each, 8);
  EXPECT_EQ(crowd.failures(), 0);
  const int before = crowd.turns();
  EXPECT_TRUE(eventually([&] { return crowd.turns() > before + 50; })) << "ours get theirs, too";
}

INSTANTIATE_TEST_SUITE_P(Sixteen, InteropCrowd,
                         testing::Values(CrowdSort{"sixteen_clients", 16, 1, Order::any},
                                         CrowdSort{"four_clients_of_four_threads", 4, 4,
                                                   Order::any},
                                         CrowdSort{"in_strict_order", 16, 1, Order::fifo}),
                         [](const auto& crowd) { return std::string(crowd.param.name); });

// Whoever listened while one of its held the lock does not count as one of its waiters afterwards: our line would
// stand back for nobody.
TEST_F(InteropBench, OursAreAsQuickAsBeforeWhenItsHaveGone) {
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(connect());
  java.lock(JavaLock::plain, kName);
  Crowd crowd(clients, 1, {.order = Order::fifo});
  const std::string channel = RedissonLike::channel(JavaLock::plain, kName);
  ASSERT_TRUE(eventually([&] { return listeners(channel) == 4; }));
  EXPECT_TRUE(java.unlock(JavaLock::plain, kName));
  const Stopwatch watch;
  ASSERT_TRUE(eventually([&] { return crowd.turns() > 20 && listeners(channel) == 0; }));
  EXPECT_LT(watch.elapsed(), 2s);
  RedisMonitor monitor(server);
  const int before = crowd.turns();
  std::this_thread::sleep_for(500ms);
  const int turns = crowd.turns() - before;
  int open = 0;
  for (const MonitoredCommand& each : monitor.take())
    open += each.is("HSET") && each.has("\"open\"");
  std::printf("%d turns in half a second, %d of them left to nobody\n", turns, open);
  EXPECT_EQ(open, 0);
}

// --- readers' own keys ---

TEST_F(InteropBench, AReaderOfItsCountsForAsLongAsItsOwnKeysSay) {
  const Client client = connect();
  auto reader = client.shared_mutex(kName).acquire_shared();
  ASSERT_TRUE(reader);
  java.lock(JavaLock::read, kName);
  java.lock(JavaLock::read, kName);  // entered twice: a key for each
  const std::string own = "{" + kName + "}:" + RedissonLike::owner() + ":rwlock_timeout:";
  EXPECT_EQ(server.must({"PEXPIRE", own + "1", "1500"}).integer, 1);
  EXPECT_EQ(server.must({"PEXPIRE", own + "2", "100"}).integer, 1);
  const Stopwatch watch;
  EXPECT_TRUE(reader->release());
  auto writer = client.shared_mutex(kName).acquire({.wait = 10s});
  const auto took = watch.elapsed();
  ASSERT_TRUE(writer) << writer.error().text();
  std::printf("a writer behind a reader of its that died 1500 ms before its end: %lld ms\n",
              static_cast<long long>(took.count()));
  EXPECT_GE(took, 1400ms);
  EXPECT_LT(took, 1500ms + kBusyMachine);
}

TEST_F(InteropBench, OurReadersStayWhenItsLeave) {
  const Client client = connect();
  auto reader = client.shared_mutex(kName).acquire_shared({.lease = 1s});
  ASSERT_TRUE(reader);
  for (int i = 0; i < 5; ++i) {
    java.lock(JavaLock::read, kName);
    std::this_thread::sleep_for(300ms);  // over several renewals
    EXPECT_TRUE(java.unlock(JavaLock::read, kName));
    EXPECT_TRUE(reader->verify());
    EXPECT_TRUE(java.calls().write_lock(kName, 2).has_value());
  }
}

// --- fences, force ---

TEST_F(InteropBench, TokensGrowStrictlyAcrossBothInAnyOrder) {
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect());
  std::mutex
      guard;  // the order is that of the lock; this is for the sanitizers, which do not see it
  std::vector<std::uint64_t> tokens;
  const auto note = [&](std::uint64_t token) {
    const std::lock_guard lock(guard);
    tokens.push_back(token);
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back(
          [&, mutex = clients[static_cast<std::size_t>(i) % clients.size()].mutex(kName)] {
            for (int turn = 0; turn < 50; ++turn) {
              const auto hold = mutex.acquire();
              if (hold) note(hold->fence().value());
            }
          });
    }
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        JavaThread its(server, 10 + i);
        for (int turn = 0; turn < 20; ++turn) {
          its.lock(JavaLock::fenced, kName);
          note(static_cast<std::uint64_t>(its.calls().token(kName)));
          its.unlock(JavaLock::fenced, kName);
        }
      });
    }
  }
  ASSERT_EQ(tokens.size(), 6U * 50 + 2 * 20);
  for (std::size_t i = 1; i < tokens.size(); ++i)
    ASSERT_GT(tokens[i], tokens[i - 1]) << "turn " << i;
}

TEST_F(InteropBench, AForcedUnlockOfItsIsNoticedByTheNextRenewal) {
  const Client client = connect();
  auto hold = client.mutex(kName).acquire({.lease = 1s});
  ASSERT_TRUE(hold);
  const Stopwatch watch;
  EXPECT_TRUE(java.calls().force_unlock(kName));
  EXPECT_TRUE(eventually([&] { return hold->lost().stop_requested(); }));
  EXPECT_LT(watch.elapsed(), 1s);
  EXPECT_EQ(hold->release().error(), Errc::lost);
}

// --- fair ---

TEST_F(InteropBench, ItsFairWaitersAndOursTakeTurnsInTheOrderOfArrival) {
  const Client client = connect();
  auto held = client.mutex(kName).acquire();
  auto earlier = client.mutex(kName).async_acquire({.order = Order::fifo});
  ASSERT_TRUE(eventually([&] { return client.inspect()->at(0).line.size() == 1; }));
  auto got = std::async(std::launch::async, [this] { return java.lock(JavaLock::fair, kName); });
  ASSERT_TRUE(eventually([&] { return java.waits(); }));
  auto later = client.mutex(kName).async_acquire({.order = Order::fifo});
  ASSERT_TRUE(eventually([&] { return client.inspect()->at(0).line.size() == 2; }));
  EXPECT_TRUE(held->release());
  auto first = std::move(earlier).get();
  ASSERT_TRUE(first);
  EXPECT_TRUE(java.waits());
  EXPECT_TRUE(first->release());
  ASSERT_TRUE(comes(got)) << "the second is its";
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(later.ready());
  EXPECT_TRUE(java.unlock(JavaLock::fair, kName));
  EXPECT_TRUE(std::move(later).get());
}

// Our line has a place in its queue, and its fair holders keep to that.
TEST_F(InteropBench, AFairReleaseOfItsGoesToWhoeverWaitedLonger) {
  const Client client = connect();
  java.lock(JavaLock::fair, kName);
  auto ours = client.mutex(kName).async_acquire();
  ASSERT_TRUE(eventually([&] { return fair_places() == 1; }));
  JavaThread later(server, 2);
  auto got = std::async(std::launch::async, [&] { return later.lock(JavaLock::fair, kName); });
  ASSERT_TRUE(eventually([&] { return later.waits(); }));
  EXPECT_EQ(fair_places(), 2);
  EXPECT_TRUE(java.unlock(JavaLock::fair, kName));
  auto hold = std::move(ours).get();
  ASSERT_TRUE(hold);
  EXPECT_EQ(fair_places(), 1) << "whoever has it leaves the queue";
  EXPECT_TRUE(later.waits());
  const Stopwatch watch;
  EXPECT_TRUE(hold->release());
  ASSERT_TRUE(comes(got));
  EXPECT_LT(watch.elapsed(), kBusyMachine);
  EXPECT_TRUE(later.unlock(JavaLock::fair, kName));
  EXPECT_EQ(fair_places(), 0);
}

TEST_F(InteropBench, WhoeverGivesUpIsNotInTheWayOfItsFairWaiters) {
  const Client client = connect();
  java.lock(JavaLock::fair, kName);
  std::stop_source gives_up;
  auto ours = client.mutex(kName).async_acquire({.stop = gives_up.get_token()});
  ASSERT_TRUE(eventually([&] { return fair_places() == 1; }));
  JavaThread later(server, 2);
  auto got = std::async(std::launch::async, [&] { return later.lock(JavaLock::fair, kName); });
  ASSERT_TRUE(eventually([&] { return later.waits(); }));
  gives_up.request_stop();
  EXPECT_FALSE(std::move(ours).get());
  EXPECT_EQ(fair_places(), 1);
  const Stopwatch watch;
  EXPECT_TRUE(java.unlock(JavaLock::fair, kName));
  ASSERT_TRUE(comes(got));
  EXPECT_LT(watch.elapsed(), kBusyMachine);
}

// The lock is free, and the one who should have it is dead: its own clients would ask without a pause.
TEST_F(InteropBench, ADeadFairWaiterIsWaitedForQuietly) {
  const Client client = connect();
  java.lock(JavaLock::fair, kName);
  EXPECT_TRUE(java.calls().fair_lock(kName, 2, 2s).has_value());
  EXPECT_TRUE(java.unlock(JavaLock::fair, kName));
  server.must({"ZADD", "redisson_lock_timeout:{" + kName + "}", in_ms_from_now(2s),
               RedissonLike::owner(2)});
  RedisMonitor monitor(server);
  const Stopwatch watch;
  auto hold = client.mutex(kName).acquire();
  ASSERT_TRUE(hold);
  int asked = 0;
  for (const MonitoredCommand& each : monitor.take()) asked += each.by_tcp();
  std::printf("a dead fair waiter was passed over after %lld ms and %d commands\n",
              static_cast<long long>(watch.elapsed().count()), asked);
  EXPECT_GE(watch.elapsed(), 1800ms);
  EXPECT_LT(watch.elapsed(), 2s + kBusyMachine);
  EXPECT_LE(asked, 30);
}

TEST_F(InteropBench, FairOnesOfBothExcludeEachOtherAndAllGetTheirTurns) {
  constexpr int kTurns = 20;
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(connect());
  std::atomic<int> inside{0}, together{0}, turns{0};
  const auto work = [&] {
    if (++inside > 1) ++together;
    ++turns;
    --inside;
  };
  const Stopwatch watch;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, mutex = clients[static_cast<std::size_t>(i)].mutex(kName)] {
        for (int turn = 0; turn < kTurns; ++turn) {
          auto hold = mutex.acquire({.order = Order::fifo});
          if (!hold) continue;
          work();
          EXPECT_TRUE(hold->release());
        }
      });
      threads.emplace_back([&, i] {
        JavaThread its(server, 10 + i);
        for (int turn = 0; turn < kTurns; ++turn) {
          its.lock(JavaLock::fair, kName);
          work();
          EXPECT_TRUE(its.unlock(JavaLock::fair, kName));
        }
      });
    }
  }
  std::printf("%d fair turns of both in %lld ms\n", turns.load(),
              static_cast<long long>(watch.elapsed().count()));
  EXPECT_EQ(together, 0);
  EXPECT_EQ(turns, 8 * kTurns);
  EXPECT_EQ(fair_places(), 0);
}

}  // namespace
}  // namespace holdfast::test
