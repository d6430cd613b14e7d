// Clients, holds and results may go in any order and on any thread.
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "coroutines.hpp"
#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using store::MemoryServer;

// ---- holds and their client ----

TEST(ClientLifetime, HoldsOutliveTheirClient_F036) {
  HandBench bench;
  auto& alice = bench.client();
  std::optional<Hold> hold(alice.mutex().acquire().value());
  alice.drop_client();
  bench.let_pass(10h);
  EXPECT_TRUE(hold->valid()) << "it is still renewed";
  EXPECT_TRUE(hold->verify());
  EXPECT_FALSE(alice.ended());
  EXPECT_TRUE(hold->release());
  hold.reset();
  bench.settle();
  EXPECT_TRUE(alice.ended());
  EXPECT_TRUE(bench.is_empty());
}

TEST(ClientLifetime, AHoldWithoutItsClientIsLostAsUsual_F036) {
  HandBench bench;
  auto& alice = bench.client();
  const Hold hold = alice.mutex().acquire().value();
  alice.drop_client();
  alice.link().set(Link::down);
  bench.let_pass(1min);
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(hold.lost().stop_requested());
}

TEST(ClientLifetime, AMutexKeepsItsClient) {
  HandBench bench;
  auto& alice = bench.client();
  std::optional<Mutex> mutex(alice.mutex());
  alice.drop_client();
  EXPECT_TRUE(mutex->acquire());
  mutex.reset();
  bench.settle();
  EXPECT_TRUE(alice.ended());
}

TEST(ClientLifetime, OnlyTheLastCopyEndsTheWaits) {
  HandBench bench;
  auto& alice = bench.client();
  auto& bob = bench.client();
  std::optional<Hold> held(bob.mutex().acquire().value());
  std::optional<Client> copy(alice.client());
  auto pending = copy->mutex("lock").async_acquire();
  alice.drop_client();
  bench.settle();
  EXPECT_FALSE(pending.ready());
  copy.reset();
  bench.settle();
  ASSERT_TRUE(pending.ready());
  EXPECT_EQ(std::move(pending).get().error(), Errc::cancelled);
}

// ---- the end ----

// Its machinery has gone when its store has.
struct Watched {
  std::weak_ptr<MemoryServer> server;
  bool gone() const {
    return eventually([this] { return server.expired(); });
  }
};

std::pair<Watched, LinkedClient> watched_client(ClientOptions options = {}) {
  const auto server = std::make_shared<MemoryServer>();
  return {{server}, connect_linked(server, std::move(options))};
}

TEST(ClientEnd, WaitsForPostedReleases) {
  const auto server = std::make_shared<MemoryServer>();
  std::optional<LinkedClient> linked(
      connect_linked(server, {.answer_within = kSoon, .close_within = kSoon}));
  SwitchableStore* const link = linked->link;
  std::optional<Hold> hold(linked->client.mutex("lock").acquire().value());
  link->set(Link::paused);
  hold.reset();
  auto end = std::async(std::launch::async, [&] { linked.reset(); });
  EXPECT_EQ(end.wait_for(20ms), std::future_status::timeout);
  EXPECT_EQ(link->let_one_go(), 1U);
  EXPECT_TRUE(comes(end));
  const auto other = connect_linked(server);
  EXPECT_TRUE(other.client.mutex("lock").try_acquire());
}

TEST(ClientEnd, WaitsNoLongerThanCloseWithin) {
  auto [watched, linked] = watched_client({.close_within = 20ms});
  std::optional<Client> client(std::move(linked.client));
  std::optional<Hold> hold(client->mutex("lock").acquire().value());
  linked.link->set(Link::paused);
  hold.reset();
  auto end = std::async(std::launch::async, [&] { client.reset(); });
  EXPECT_TRUE(comes(end));
  EXPECT_TRUE(watched.gone());
}

TEST(ClientEnd, MayWaitForEver) {
  auto [watched, linked] = watched_client({.close_within = kForever});
  std::optional<Client> client(std::move(linked.client));
  std::optional<Hold> hold(client->mutex("lock").acquire().value());
  linked.link->set(Link::paused);
  hold.reset();
  auto end = std::async(std::launch::async, [&] { client.reset(); });
  EXPECT_EQ(end.wait_for(100ms), std::future_status::timeout);
  if (end.wait_for(0s) == std::future_status::timeout) linked.link->let_one_go();
  EXPECT_TRUE(comes(end));
}

TEST(ClientEnd, DoesNotWaitForHoldsThatAreStillThere) {
  auto [watched, linked] = watched_client({.close_within = kSoon});
  std::optional<Client> client(std::move(linked.client));
  std::optional<Hold> hold(client->mutex("lock").acquire().value());
  client.reset();
  EXPECT_TRUE(hold->valid());
  hold.reset();
  EXPECT_TRUE(watched.gone());
}

// ---- the last reference goes on a thread of the client's own ----

TEST(LastReference, GoesInsideThen) {
  auto [watched, linked] = watched_client();
  {
    Client client = std::move(linked.client);
    client.mutex("lock").async_acquire().then([client](const Result<Hold>& hold) {
      EXPECT_TRUE(hold);  // it, and the client, go with this callback
    });
  }
  EXPECT_TRUE(watched.gone());
}

TEST(LastReference, GoesInsideLost) {
  auto [watched, linked] = watched_client();
  std::optional<Client> client(std::move(linked.client));
  std::optional<Hold> hold(client->mutex("lock").acquire({.lease = 100ms, .renew = false}).value());
  const Signal done;
  const std::stop_callback react(hold->lost(), [&] {
    client.reset();
    hold.reset();
    done.give();
  });
  ASSERT_TRUE(done.comes());
  EXPECT_TRUE(watched.gone());
}

TEST(LastReference, GoesInsideACoroutine) {
  auto [watched, linked] = watched_client();
  const auto held =
      std::make_shared<std::optional<Hold>>(linked.client.mutex("lock").acquire().value());
  [](Client client) -> Detached {
    auto pending = client.mutex("lock").async_acquire();
    const auto hold = co_await std::move(pending);
    EXPECT_TRUE(hold);
  }(std::move(linked.client));
  held->reset();
  EXPECT_TRUE(watched.gone());
}

TEST(LastReference, GoesInsideAnObserver) {
  class Dropper final : public Observer {
   public:
    void on_event(const LockEvent&) override {
      EXPECT_TRUE(go_on.comes());
      client.reset();
    }
    Signal go_on;
    std::optional<Client> client;
  };
  auto observer = std::make_shared<Dropper>();
  const Signal go_on = observer->go_on;
  auto [watched, linked] = watched_client({.observer = observer});
  observer->client.emplace(std::move(linked.client));
  { const auto hold = observer->client->mutex("lock").acquire(); }
  observer.reset();
  go_on.give();
  EXPECT_TRUE(watched.gone());
}

TEST(LastReference, GoesOnAnExecutorsThread) {
  std::vector<std::thread> pool;
  {
    auto [watched, linked] = watched_client({.executor = [&](Task task) {
      pool.emplace_back([t = std::move(task)]() mutable { t(); });
    }});
    {
      Client client = std::move(linked.client);
      client.mutex("lock").async_acquire().then(
          [client](const Result<Hold>& hold) { EXPECT_TRUE(hold); });
    }
    EXPECT_TRUE(watched.gone());
  }
  for (auto& thread : pool) thread.join();
}

// F035: nobody is left but the answer that is under way, and it comes on a thread of the store's.
TEST(LastReference, GoesWithTheAnswerToAWithdrawal_F035) {
  for (const Duration close_within : {Duration(0s), Duration(1s)}) {
    for (int round = 0; round < 50; ++round) {
      const auto server = std::make_shared<MemoryServer>();
      const auto other = connect_linked(server);
      const auto held = other.client.mutex("lock").acquire();
      std::weak_ptr<int> gone;
      SwitchableStore* link = nullptr;
      {
        const auto mark = std::make_shared<int>(0);
        gone = mark;
        const auto linked = connect_linked(server, {.answer_within = kSoon,
                                                    .close_within = close_within,
                                                    .executor = [mark](Task task) { task(); }});
        link = linked.link;
        const auto waiting = linked.client.mutex("lock").async_acquire();
        link->set(Link::paused);
      }
      ASSERT_EQ(link->kept(), 1U);
      std::thread([link] { link->let_one_go(); }).join();
      EXPECT_TRUE(eventually([&] { return gone.expired(); }));
    }
  }
}

// F004, F035: the same, and the answer brings a grant that has to be given back first.
TEST(LastReference, GoesWithAGrantThatNobodyWaitsFor_F004_F035) {
  for (const Duration close_within : {Duration(0s), Duration(1s)}) {
    for (int round = 0; round < 50; ++round) {
      const auto server = std::make_shared<MemoryServer>();
      std::weak_ptr<int> gone;
      SwitchableStore* link = nullptr;
      {
        const auto mark = std::make_shared<int>(0);
        gone = mark;
        const auto linked = connect_linked(server, {.answer_within = kSoon,
                                                    .close_within = close_within,
                                                    .executor = [mark](Task task) { task(); }});
        link = linked.link;
        link->set(Link::paused);
        const auto waiting = linked.client.mutex("lock").async_acquire();
        link->set(Link::up);
      }
      ASSERT_EQ(link->kept(), 1U);
      std::thread([link] { link->let_one_go(); }).join();
      EXPECT_TRUE(eventually([&] { return gone.expired(); }));
    }
  }
}

// Everything at once, many times over.
TEST(LastReference, GoesInAnyOrderOnAnyThread) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (unsigned i = 0; i < 50; ++i) {
        std::optional<Client> client(connect("memory:lifetime", {.close_within = 10ms}).value());
        std::optional<Hold> hold;
        if (auto got = client->mutex("a").acquire({.wait = 1ms})) hold.emplace(std::move(*got));
        std::optional<Pending<Hold>> waiting(client->mutex("a").async_acquire());
        client->mutex("b").async_acquire().then([](const Result<Hold>&) {});
        client->mutex("c").async_acquire().then([copy = *client](const Result<Hold>&) {});
        switch ((t + i) % 4) {
          case 0:
            client.reset();
            break;
          case 1:
            hold.reset();
            break;
          case 2:
            waiting.reset();
            break;
          default:
            std::thread([h = std::move(hold), w = std::move(waiting)] {}).join();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// ---- the end of the process ----

// F038: each in a process of its own, which has to end by itself and without a complaint.
class AtExit : public testing::Test {
 protected:
  AtExit() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(AtExit, AStaticClientIsHarmless_F038) {
  EXPECT_EXIT(
      {
        static const Client client = connect("memory:").value();
        const auto used = client.mutex("lock").acquire();
        std::exit(used ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(AtExit, StaticHoldsAndResultsAreHarmless_F038) {
  EXPECT_EXIT(
      {
        static std::optional<Hold> hold;
        static const Client client = connect("memory:").value();
        static std::optional<Pending<Hold>> waiting;
        hold.emplace(client.mutex("lock").acquire().value());
        waiting.emplace(client.mutex("lock").async_acquire());
        client.mutex("lock").async_acquire().then([](const Result<Hold>&) {});
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(AtExit, AClientThatIsNeverDestroyedIsHarmless_F038) {
  EXPECT_EXIT(
      {
        static const Client& client = *new Client(connect("memory:").value());
        static const Hold& hold = *new Hold(client.mutex("lock").acquire({.lease = 100ms}).value());
        client.mutex("other").async_acquire().then([](const Result<Hold>&) {});
        std::exit(hold.valid() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(AtExit, ThreadsThatStillWaitAreHarmless_F038) {
  EXPECT_EXIT(
      {
        static const Client& client = *new Client(connect("memory:").value());
        static const Hold& hold = *new Hold(client.mutex("lock").acquire().value());
        std::thread([] { static_cast<void>(client.mutex("lock").acquire()); }).detach();
        std::exit(hold.valid() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(AtExit, ACallbackMayEndTheProcess_F038) {
  EXPECT_EXIT(
      {
        static const Client client = connect("memory:").value();
        client.mutex("lock").async_acquire().then([](const Result<Hold>&) { std::exit(0); });
        std::this_thread::sleep_for(kSoon);
        std::_Exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace holdfast::test
