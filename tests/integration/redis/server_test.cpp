// What befalls a Redis server: it forgets, is full, is busy, is restarted, is stopped, and its clock is set.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "integration/redis/redis_test.hpp"
#include "runtime/boot_clock.hpp"
#include "support/clock_shim/clock_shim.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class RedisFault : public RedisTest {
 protected:
  explicit RedisFault(RedisOptions options = {}) : RedisTest(std::move(options)) {}

  // Whoever held it hears of it by its next renewal, and then somebody else has it with a greater fence.
  void expect_lost_in_time(const Hold& hold, Duration lease) {
    const Stopwatch watch;
    EXPECT_TRUE(comes_to_be_lost(hold));
    EXPECT_LT(watch.elapsed(), lease * 2 / 3) << "by the renewal, not by the end of the lease";
    EXPECT_FALSE(hold.valid());
    const auto next = open_direct().mutex("lock").acquire({.wait = kSoon});
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_GT(next->fence(), hold.fence());
  }

  // Somebody waits, and gets it when the other one lets go.
  void expect_served(Hold hold, Pending<Hold> waiting) {
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(eventually([&] { return hold.verify().has_value(); }));
    const FencingToken fence = hold.fence();
    EXPECT_TRUE(hold.release());
    const Stopwatch watch;
    const auto next = std::move(waiting).get();
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_GT(next->fence(), fence);
    EXPECT_LT(watch.elapsed(), 7s) << "who is not woken looks after five seconds";
  }
};

class RedisWithFile : public RedisFault {
 protected:
  RedisWithFile() : RedisFault({.append_only = true, .more = {"--appendfsync", "no"}}) {}
};

// ---- what it forgets ----

constexpr Duration kLease = 3s;

TEST_F(RedisFault, ARestartWithoutItsDataIsToldAtTheNextRenewal_F046) {
  const Client client = open(1s);
  const auto hold = client.mutex("lock").acquire({.lease = kLease}).value();
  server().restart_empty();
  expect_lost_in_time(hold, kLease);
}

TEST_F(RedisFault, AnEmptiedDatabaseIsToldAtTheNextRenewal_F059) {
  const Client client = open(1s);
  const auto hold = client.mutex("lock").acquire({.lease = kLease}).value();
  server().must({"FLUSHALL"});
  expect_lost_in_time(hold, kLease);
}

TEST_F(RedisFault, WhoeverWaitedForWhatWasForgottenIsServed_F059_F066) {
  const Client client = open(1s);
  const auto hold = client.mutex("lock").acquire({.lease = kLease}).value();
  const Client other = open(1s);
  auto served = other.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(comes_to_wait());
  server().must({"FLUSHALL"});
  const auto next = std::move(served).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence());
}

// One key of a lock is evicted, whichever it is: somebody loses the lock, and others get it.
class RedisEviction : public RedisFault, public testing::WithParamInterface<const char*> {
 protected:
  std::string key() const { return GetParam(); }
  bool is_of_the_line() const {
    return key().starts_with("holdfast_line") || key().starts_with("holdfast_lapse");
  }
  void evict() { ASSERT_EQ(server().must({"DEL", key()}).integer, 1); }
};

class RedisEvictionOfAHold : public RedisEviction {};

TEST_P(RedisEvictionOfAHold, IsToldAtTheNextRenewalAndNobodyIsKeptOut_F058) {
  const Client client = open(1s);
  const auto hold = client.mutex("lock").acquire({.lease = kLease}).value();
  evict();
  expect_lost_in_time(hold, kLease);
}

TEST_P(RedisEviction, HarmsNoLineForGood_F058) {
  const Client client = open(1s);
  auto hold = client.mutex("lock").acquire({.lease = kLease}).value();
  const Client first = open(1s), second = open(1s), third = open(1s);
  std::vector<Pending<Hold>> line;
  line.push_back(first.mutex("lock").async_acquire({.wait = kSoon}));
  ASSERT_TRUE(comes_to_wait());
  line.push_back(second.mutex("lock").async_acquire({.wait = kSoon}));
  std::this_thread::sleep_for(100ms);
  evict();
  line.push_back(third.mutex("lock").async_acquire({.wait = kSoon}));
  if (is_of_the_line()) {
    EXPECT_TRUE(hold.release());
  } else {
    EXPECT_TRUE(comes_to_be_lost(hold));
  }
  FencingToken last = hold.fence();
  for (std::size_t served = 0; served < 3; ++served) {
    const auto ready = [](const Pending<Hold>& each) { return each.ready(); };
    ASSERT_TRUE(eventually([&] { return std::any_of(line.begin(), line.end(), ready); })) << served;
    const auto it = std::find_if(line.begin(), line.end(), ready);
    const auto next = std::move(*it).get();
    line.erase(it);
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_GT(next->fence(), last);
    last = next->fence();
  }
  EXPECT_TRUE(comes_to_be_empty());
}

INSTANTIATE_TEST_SUITE_P(Keys, RedisEvictionOfAHold,
                         testing::Values("lock", "holdfast_lock:{lock}", "holdfast_holds:{lock}"));
INSTANTIATE_TEST_SUITE_P(Keys, RedisEviction,
                         testing::Values("lock", "holdfast_lock:{lock}", "holdfast_holds:{lock}",
                                         "holdfast_line:{lock}", "holdfast_lapse:{lock}"));

TEST_F(RedisFault, AnEvictedKeyOfASemaphoreKeepsNobodyOut_F058) {
  for (const char* key : {"holdfast_lock:{pool}", "holdfast_holds:{pool}"}) {
    const Client client = open(1s);
    const Semaphore pool = client.semaphore("pool", {.permits = 2});
    {
      const auto one = pool.acquire(1, {.lease = 1s}).value();
      const auto two = pool.acquire(1, {.lease = 1s}).value();
      ASSERT_EQ(server().must({"DEL", key}).integer, 1) << key;
      const auto next = pool.acquire(2, {.wait = kSoon});
      EXPECT_TRUE(next) << key << ": " << next.error().text();
    }
    EXPECT_TRUE(comes_to_be_empty()) << key;
  }
}

TEST_F(RedisWithFile, ARestartWithItsDataKeepsHoldsAndLines_F047) {
  const Client client = open(1s);
  auto hold = client.mutex("lock").acquire({.lease = 6s}).value();
  const Client other = open(1s);
  auto waiting = other.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait());
  server().kill();
  std::this_thread::sleep_for(500ms);
  server().restart();
  EXPECT_EQ(fence_in_store(), hold.fence().value());
  expect_served(std::move(hold), std::move(waiting));
}

// The file as it was before the lock was granted.
TEST_F(RedisWithFile, ARestartWithoutTheLastSecondIsToldAtTheNextRenewal_F047) {
  const Client client = open(1s);
  auto earlier = client.mutex("lock").acquire().value();
  const FencingToken before = earlier.fence();
  ASSERT_TRUE(earlier.release());
  const TempFolder copy;
  const std::string file = server().folder() + "/appendonlydir";
  std::filesystem::copy(file, copy / "old", std::filesystem::copy_options::recursive);
  const auto hold = client.mutex("lock").acquire({.lease = kLease}).value();
  EXPECT_GT(hold.fence(), before);
  server().kill();
  std::filesystem::remove_all(file);
  std::filesystem::copy(copy / "old", file, std::filesystem::copy_options::recursive);
  server().restart();
  expect_lost_in_time(hold, kLease);
}

// ---- what it cannot do just now ----

// For a while the server understands no question, and says why.
class SaysNo {
 public:
  SaysNo(Proxy& proxy, const std::string& error) : proxy_(proxy) {
    proxy_.set(Way::to_server, {.rewrite = [](std::string& bytes) {
                 if (const auto at = bytes.find("EVAL"); at != std::string::npos)
                   bytes.replace(at, 4, "NONE");
               }});
    proxy_.set(Way::to_client,
               {.rewrite = [error](std::string& bytes) { bytes = "-" + error + "\r\n"; }});
  }
  // A question that was spoilt already is not answered in the server's own words.
  ~SaysNo() {
    proxy_.set(Way::to_server, {});
    std::this_thread::sleep_for(50ms);
    proxy_.set(Way::to_client, {});
  }
  SaysNo(const SaysNo&) = delete;
  SaysNo& operator=(const SaysNo&) = delete;

 private:
  Proxy& proxy_;
};

TEST_F(RedisFault, AServerThatIsNotReadyIsAskedAgain_F050_F051_F052) {
  for (const char* error :
       {"LOADING Redis is loading the dataset in memory", "READONLY You can't write",
        "MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down",
        "TRYAGAIN Multiple keys request during rehashing of slot"}) {
    const Client patient = open(1s);
    const Client other = open(1s, 300ms);
    Pending<Hold> pending = [&] {
      const SaysNo no(proxy(), error);
      const auto result = other.mutex("lock").acquire();
      EXPECT_TRUE(fails_with(Errc::unavailable, result)) << error;
      auto asked = patient.mutex("lock").async_acquire({.wait = kSoon});
      std::this_thread::sleep_for(100ms);
      EXPECT_FALSE(asked.ready()) << error;
      return asked;
    }();
    const Stopwatch watch;
    const auto result = std::move(pending).get();
    EXPECT_TRUE(result) << error << ": " << result.error().text();
    EXPECT_LT(watch.elapsed(), 5s);
  }
}

TEST_F(RedisFault, AServerThatIsLoadingIsDialledAgain_F051) {
  const Client client = open(1s);
  Pending<Hold> pending = [&] {
    const SaysNo no(proxy(), "LOADING Redis is loading the dataset in memory");
    const auto refused = connect(url());
    EXPECT_TRUE(fails_with(Errc::unavailable, refused));
    EXPECT_THAT(refused.error().text(), HasSubstr("loading"));
    proxy().reset();
    auto asked = client.mutex("lock").async_acquire({.wait = kSoon});
    std::this_thread::sleep_for(300ms);
    EXPECT_FALSE(asked.ready());
    return asked;
  }();
  EXPECT_TRUE(std::move(pending).get());
}

TEST_F(RedisFault, AReplicaIsNoStoreUntilItIsTheMasterAgain_F050) {
  const Client client = open(1s, 300ms);
  server().must({"REPLICAOF", "127.0.0.1", "1"});
  const auto result = client.mutex("lock").acquire();
  EXPECT_TRUE(fails_with(Errc::unavailable, result));
  auto pending = client.mutex("lock").async_acquire({.wait = kSoon});
  server().must({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(std::move(pending).get());
}

TEST_F(RedisFault, ScriptsThatAreForgottenAreSentAgainAndRunOnce_F056) {
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    RedisConnection side(server().socket_path());
    while (!done) side.ask({"SCRIPT", "FLUSH"});
  });
  std::vector<std::thread> threads;
  int counter = 0;  // what the lock guards
  std::atomic<int> grants{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const Client client = open(5s);
      for (int n = 0; n < 100; ++n) {
        auto hold = client.mutex("lock").acquire();
        if (!hold) continue;
        ++counter;
        ++grants;
        EXPECT_TRUE(hold->verify());
        EXPECT_TRUE(hold->release());
      }
    });
  }
  for (std::thread& each : threads) each.join();
  done = true;
  flusher.join();
  EXPECT_EQ(grants, 300);
  EXPECT_EQ(counter, grants);
  EXPECT_TRUE(is_empty());
}

TEST_F(RedisFault, WithoutMemoryNothingIsGrantedAndEverythingElseWorks_F057) {
  constexpr Duration kShort = 900ms;
  const Client client = open(1s), other = open(1s);
  std::vector<Hold> holds;
  for (const std::string name : {"alone", "lock"}) {
    holds.push_back(client.mutex(name).acquire({.lease = kShort}).value());
  }
  holds.push_back(client.shared_mutex("read").acquire_shared({.lease = kShort}).value());
  holds.push_back(client.semaphore("pool", {.permits = 3}).acquire(2, {.lease = kShort}).value());
  auto waiting = other.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait());
  server().must({"CONFIG", "SET", "maxmemory", "1"});
  const auto result = client.mutex("other").acquire();
  EXPECT_TRUE(fails_with(Errc::store_full, result));
  EXPECT_THAT(result.error().text(), HasSubstr("maxmemory"));
  std::this_thread::sleep_for(2 * kShort);
  for (Hold& hold : holds) {
    EXPECT_TRUE(hold.valid()) << hold.name() << " is to be renewed";
    EXPECT_TRUE(hold.release()) << hold.name();
  }
  server().must({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(client.mutex("other").acquire());
}

TEST_F(RedisFault, AScriptThatBlocksTheServerIsASilence_F062) {
  const Client client = open(), impatient = open(200ms, 300ms);
  const auto hold = client.mutex("lock").acquire({.lease = 6s}).value();
  server().must({"CONFIG", "SET", "busy-reply-threshold", "100"});
  std::thread blocks([this] {
    RedisConnection side(server().socket_path());
    side.ask({"EVAL", "while true do end", "0"});
  });
  RedisConnection side(server().socket_path());
  EXPECT_TRUE(eventually([&] { return side.ask({"PING"}).is(store::redis::Reply::Type::error); }));
  auto pending = client.mutex("other").async_acquire({.wait = kSoon});
  EXPECT_TRUE(is_no_answer(impatient.mutex("third").acquire()));
  side.ask({"SCRIPT", "KILL"});
  blocks.join();
  EXPECT_TRUE(std::move(pending).get());
  EXPECT_TRUE(hold.verify());
}

// ---- pauses and connections ----

TEST_F(RedisFault, AStoppedServerIsALateAnswer_F065) {
  const Client client = open(500ms);
  const auto hold = client.mutex("lock").acquire({.lease = 6s}).value();
  server().pause();
  auto pending = client.mutex("other").async_acquire({.wait = kSoon});
  EXPECT_TRUE(is_no_answer(client.mutex("third").acquire({.wait = 300ms})));
  std::this_thread::sleep_for(2s);
  server().resume();
  EXPECT_TRUE(std::move(pending).get());
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(hold.verify());
  EXPECT_TRUE(eventually([&] { return fence_in_store("third") == 0; }));
}

TEST_F(RedisFault, AServerThatIsStoppedForTooLongIsALoss_F007_F065) {
  const Client client = open(500ms);
  const auto hold = client.mutex("lock").acquire({.lease = 1s}).value();
  server().pause();
  EXPECT_TRUE(comes_to_be_lost(hold));
  server().resume();
  const auto next = open_direct().mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), hold.fence());
}

TEST_F(RedisFault, AnOperatorsPauseOfWritesIsWaitedFor_F065) {
  const Client client = open(500ms);
  const auto hold = client.mutex("lock").acquire({.lease = 6s}).value();
  server().must({"CLIENT", "PAUSE", "1500", "WRITE"});
  EXPECT_TRUE(client.mutex("other").acquire({.wait = kSoon}));
  EXPECT_TRUE(hold.verify());
}

TEST_F(RedisFault, WhoeverIsThrownOutKeepsItsHoldsAndItsPlace_F065_F067) {
  const Client client = open(1s);
  auto hold = client.mutex("lock").acquire().value();
  const Client other = open(1s);
  auto waiting = other.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait());
  for (int i = 0; i < 5; ++i) {
    server().must({"CLIENT", "KILL", "TYPE", "normal"});
    server().must({"CLIENT", "KILL", "TYPE", "pubsub"});
    std::this_thread::sleep_for(50ms);
  }
  expect_served(std::move(hold), std::move(waiting));
}

// The lock is given back while nobody listens.
TEST_F(RedisFault, AHandOverThatNobodyHeardIsFoundOnListeningAgain_F066_F067) {
  const Client client = open_direct();
  auto hold = client.mutex("lock").acquire().value();
  const Client other = open(1s);
  auto waiting = other.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait());
  ASSERT_TRUE(eventually([&] { return server().must({"PUBSUB", "CHANNELS"}).items.size() >= 1; }));
  proxy().refuse();
  server().must({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(hold.release());
  proxy().admit();
  const Stopwatch watch;
  const auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_LT(watch.elapsed(), 4s) << "on listening again, and not after a rest of five seconds";
}

TEST_F(RedisFault, WhoeverStandsInStrictOrderIsNotOvertakenWhileItDoesNotListen_F067) {
  const Client client = open_direct(), behind = open_direct(), ahead = open(1s);
  auto hold = client.mutex("lock").acquire().value();
  auto first = ahead.mutex("lock").async_acquire({.order = Order::fifo});
  ASSERT_TRUE(comes_to_wait());
  auto second = behind.mutex("lock").async_acquire({.order = Order::fifo});
  ASSERT_TRUE(eventually([&] { return look("lock")[0].line.size() == 2; }));
  const auto listeners = [this] {
    return server().must({"PUBSUB", "CHANNELS", "holdfast_wake:*"}).items.size();
  };
  ASSERT_TRUE(eventually([&] { return listeners() == 2; }));
  std::this_thread::sleep_for(100ms);  // and they have looked once more, now that they listen
  proxy().refuse();
  proxy().reset();
  ASSERT_TRUE(eventually([&] { return listeners() == 1; }));
  EXPECT_TRUE(hold.release());
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(second.ready());
  proxy().admit();
  EXPECT_TRUE(std::move(first).get());
  EXPECT_TRUE(std::move(second).get());
}

// ---- its clock ----

class RedisClock : public RedisFault {
 protected:
  RedisClock() : RedisClock(std::make_unique<ClockShim>()) {}

  void set_clock(Duration by) { clocks_->step(ShimClock::wall, by); }

 private:
  explicit RedisClock(std::unique_ptr<ClockShim> clocks)
      : RedisFault({.environment = clocks->environment()}), clocks_(std::move(clocks)) {}

  const std::unique_ptr<ClockShim> clocks_;
};

TEST_F(RedisClock, SetForwardEndsLeasesEarlyAndFencesKeepTheirOrder_F063) {
  const Client client = open(1s);
  const auto hold = client.mutex("lock").acquire({.lease = 6s}).value();
  set_clock(60s);
  const auto next = open_direct().mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next) << "by that clock the lease is over";
  EXPECT_GT(next->fence(), hold.fence()) << "which is what a resource goes by";
  EXPECT_TRUE(comes_to_be_lost(hold));
  EXPECT_TRUE(next->verify()) << "and the first one takes nothing from the second";
}

TEST_F(RedisClock, SetBackMakesLeasesLongerAndNobodyWaitsForEver_F064) {
  const Client gone = open();
  const auto hold = gone.mutex("lock").acquire({.lease = 1s}).value();
  for (const Way way : kBothWays) cut(way);
  set_clock(-120s);
  const Client client = open_direct();
  const Stopwatch watch;
  const auto result = client.mutex("lock").acquire({.wait = 2s});
  EXPECT_TRUE(fails_with(Errc::timed_out, result));
  EXPECT_LT(watch.elapsed(), 4s);
  EXPECT_FALSE(hold.valid()) << "a holder goes by its own clock";
  ASSERT_TRUE(
      client.force_release("lock", {.fence = hold.fence(), .now = true, .reason = "clock"}));
  const auto next = client.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence()) << "although the time is earlier";
}

TEST_F(RedisClock, SetBackChangesNothingForWhoeverRenews_F064) {
  const Client client = open(1s);
  auto hold = client.mutex("lock").acquire({.lease = 900ms}).value();
  set_clock(-120s);
  std::this_thread::sleep_for(2s);
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(is_empty());
}

}  // namespace
}  // namespace holdfast::test
