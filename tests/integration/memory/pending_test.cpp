// Results that are on their way, among real threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coroutines.hpp"
#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

Client new_client(ClientOptions options = {}) {
  return connect("memory:pending", std::move(options)).value();
}

TEST(Pending, GetWaitsUntilTheLockIsReleased) {
  const Client client = new_client();
  std::optional<Hold> held(client.mutex("lock").acquire().value());
  const FencingToken before = held->fence();
  auto waiting =
      std::async(std::launch::async, [&] { return client.mutex("lock").async_acquire().get(); });
  EXPECT_EQ(waiting.wait_for(20ms), std::future_status::timeout);
  held.reset();
  ASSERT_TRUE(comes(waiting));
  EXPECT_GT(waiting.get()->fence(), before);
}

TEST(Pending, GetForComesBackWithoutTheLockAfterItsTime) {
  const Client client = new_client();
  const auto held = client.mutex("lock").acquire();
  const auto start = std::chrono::steady_clock::now();
  const auto got = client.mutex("lock").async_acquire().get_for(50ms);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), Errc::timed_out);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 50ms);
  EXPECT_TRUE(held->valid());
}

TEST(Pending, GetForTakesTheLockThatComesInTime) {
  const Client client = new_client();
  std::optional<Hold> held(client.mutex("lock").acquire().value());
  auto pending = client.mutex("lock").async_acquire();
  held.reset();
  EXPECT_TRUE(std::move(pending).get_for(kSoon));
}

TEST(Pending, CallbacksRunOnTheOneCallbacksThread) {
  const Client client = new_client();
  std::vector<std::thread::id> seen;
  const Signal done;
  for (const char* name : {"a", "b", "c"}) {
    client.mutex(name).async_acquire().then([&seen, done](const Result<Hold>&) {
      seen.push_back(std::this_thread::get_id());
      if (seen.size() == 3) done.give();
    });
  }
  ASSERT_TRUE(done.comes());
  EXPECT_NE(seen[0], std::this_thread::get_id());
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

// A caller may hold a mutex of its own while it says then().
TEST(Pending, ThenOfARequestThatWasRefusedAtOnceIsACallbackToo) {
  const Client client = new_client();
  Told<std::thread::id> where;
  client.mutex("").async_acquire().then([where](const Result<Hold>& hold) {
    EXPECT_EQ(hold.error(), Errc::invalid_name);
    where.tell(std::this_thread::get_id());
  });
  ASSERT_TRUE(where.comes());
  EXPECT_NE(where.get(), std::this_thread::get_id());
}

TEST(Pending, GetInsideACallbackDoesNotDeadlock_F040) {
  const Client client = new_client();
  std::optional<Hold> held(client.mutex("inner").acquire().value());
  const Signal inside;
  Told<bool> good;
  client.mutex("outer").async_acquire().then([&client, inside, good](Result<Hold> outer) {
    inside.give();
    auto inner = client.mutex("inner").async_acquire().get();  // until the test lets go
    const auto free = client.mutex("free").async_acquire().get_for(kSoon);
    good.tell(outer->release() && inner->release() && free);
  });
  ASSERT_TRUE(inside.comes());
  held.reset();
  ASSERT_TRUE(good.comes());
  EXPECT_TRUE(good.get());
}

TEST(Pending, ACallbackMayAskForTheNext_F040) {
  const Signal done;
  int rounds = 0;
  std::function<void()> again;
  const Client client = new_client();
  again = [&] {
    client.mutex("lock").async_acquire().then([&](const Result<Hold>& hold) {
      ASSERT_TRUE(hold);
      if (++rounds == 1'000) return done.give();
      again();  // and waits for the one in hand
    });
  };
  again();
  ASSERT_TRUE(done.comes());
  EXPECT_EQ(rounds, 1'000);
}

TEST(Pending, ACallbackThatThrowsStopsNobody_F039) {
  const Client client = new_client();
  const Signal done;
  client.mutex("a").async_acquire().then(
      [](const Result<Hold>&) { throw std::runtime_error("not my day"); });
  client.mutex("a").async_acquire().then([done](const Result<Hold>& hold) {
    EXPECT_TRUE(hold) << "the hold of the one that threw should be released";
    done.give();
  });
  EXPECT_TRUE(done.comes());
}

// An event loop that a program might have: tasks pile up until somebody runs them.
class Desk {
 public:
  Executor executor() {
    return [this](Task task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    };
  }
  bool run_one() {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty()) return false;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    return true;
  }
  bool runs_soon() {
    return eventually([this] { return run_one(); });
  }

 private:
  std::mutex mutex_;
  std::deque<Task> tasks_;
};

TEST(Pending, AnExecutorRunsCallbacksAndResumptionsAndLostCallbacks) {
  Desk desk;
  const Client client = new_client({.executor = desk.executor()});
  const auto here = std::this_thread::get_id();
  int ran = 0;

  client.mutex("a").async_acquire().then([&](const Result<Hold>& hold) {
    EXPECT_TRUE(hold);
    EXPECT_EQ(std::this_thread::get_id(), here);
    ++ran;
  });
  EXPECT_TRUE(desk.runs_soon());
  EXPECT_EQ(ran, 1);

  std::optional<Hold> held(client.mutex("a").acquire().value());
  [](const Client& to, int& count, std::thread::id expected) -> Detached {
    auto pending = to.mutex("a").async_acquire();
    const auto hold = co_await std::move(pending);
    EXPECT_TRUE(hold);
    EXPECT_EQ(std::this_thread::get_id(), expected);
    ++count;
  }(client, ran, here);
  held.reset();
  EXPECT_TRUE(desk.runs_soon());
  EXPECT_EQ(ran, 2);

  const auto brief = client.mutex("b").acquire({.lease = 100ms, .renew = false});
  const std::stop_callback lost(brief->lost(), [&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    ++ran;
  });
  EXPECT_TRUE(desk.runs_soon());
  EXPECT_EQ(ran, 3);
}

// The executor's queue is long: what waits in it can still be given up.
TEST(Pending, ACoroutineDestroyedBeforeItsExecutorComesToItIsNotResumed_F035) {
  Desk desk;
  const Client client = new_client({.executor = desk.executor()});
  std::optional<Hold> held(client.mutex("lock").acquire().value());
  bool resumed = false;
  {
    auto waiting = [](const Client& to, bool& flag) -> Lazy<bool> {
      auto pending = to.mutex("lock").async_acquire();
      const auto hold = co_await std::move(pending);
      flag = true;
      co_return hold.has_value();
    }(client, resumed);
    waiting.start();
    held.reset();  // granted; the resumption lies on the desk
  }
  EXPECT_TRUE(desk.runs_soon());
  EXPECT_FALSE(resumed);
  EXPECT_TRUE(client.mutex("lock").try_acquire());
}

Lazy<Result<Hold>> acquire(Mutex mutex) {
  auto pending = mutex.async_acquire();
  co_return co_await std::move(pending);
}

Lazy<std::uint64_t> acquire_twice(const Client& client) {
  const Result<Hold> first = co_await acquire(client.mutex("a"));
  const Result<Hold> second = co_await acquire(client.mutex("b"));
  co_return first.has_value() && second ? second->fence().value() : 0;
}

TEST(Pending, CoroutinesOfAnyKindCanAwaitIt) {
  Told<std::uint64_t> fence;
  const Client client = new_client();
  [](const Client& to, Told<std::uint64_t> told) -> Detached {
    told.tell(co_await acquire_twice(to));
  }(client, fence);
  ASSERT_TRUE(fence.comes());
  EXPECT_GT(fence.get(), 0U);
}

// GCC 12 destroys an aggregate that is made inside a co_await expression twice.
// Options have to be named before it for that reason; without any it must just work.
TEST(Pending, CanBeAwaitedInTheExpressionThatAsks) {
  Told<bool> got;
  const Client client = new_client();
  std::optional<Hold> held(client.mutex("lock").acquire().value());
  [](const Client& to, Told<bool> told) -> Detached {
    const Result<Hold> hold = co_await to.mutex("lock").async_acquire();
    told.tell(hold.has_value());
  }(client, got);
  held.reset();
  ASSERT_TRUE(got.comes());
  EXPECT_TRUE(got.get());
}

// Fifty coroutines and fifty callbacks, one lock: a plain counter is exact.
TEST(Pending, ManyWaitersOfBothKindsAreServed) {
  int count = 0;
  const Signal done;
  const std::function<void()> counted = [&] {
    if (++count == 100) done.give();
  };
  const Client client = new_client();
  std::optional<Hold> held(client.mutex("lock").acquire().value());
  for (int i = 0; i < 50; ++i) {
    [](const Client& to, const std::function<void()>& tell) -> Detached {
      auto pending = to.mutex("lock").async_acquire();
      const auto hold = co_await std::move(pending);
      EXPECT_TRUE(hold);
      tell();
    }(client, counted);
    client.mutex("lock").async_acquire().then([&](const Result<Hold>& hold) {
      EXPECT_TRUE(hold);
      counted();
    });
  }
  held.reset();
  ASSERT_TRUE(done.comes());
  EXPECT_EQ(count, 100);
}

TEST(Pending, CancelMayComeFromAnotherThreadWhileGetWaits) {
  const Client client = new_client();
  const auto held = client.mutex("lock").acquire();
  auto pending = client.mutex("lock").async_acquire();
  auto got = std::async(std::launch::async, [&] { return std::move(pending).get(); });
  EXPECT_EQ(got.wait_for(50ms), std::future_status::timeout);
  pending.cancel();
  ASSERT_TRUE(comes(got));
  EXPECT_EQ(got.get().error(), Errc::cancelled);
}

TEST(Pending, CancelAfterItWasConsumedDoesNothing) {
  const Client client = new_client();
  auto pending = client.mutex("lock").async_acquire();
  const auto hold = std::move(pending).get();
  pending.cancel();
  EXPECT_TRUE(hold->valid());
}

TEST(Pending, CancelAfterThenDoesNothing) {
  const Client client = new_client();
  Told<bool> granted;
  auto pending = client.mutex("lock").async_acquire();
  std::move(pending).then([granted](const Result<Hold>& hold) { granted.tell(hold.has_value()); });
  pending.cancel();
  ASSERT_TRUE(granted.comes());
  EXPECT_TRUE(granted.get());
}

// F037: cancels and grants cross in every way.
TEST(Pending, CancelsThatCrossGrantsLeaveNothingBehind_F037) {
  const Client client = new_client();
  const Client other = new_client();
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) EXPECT_TRUE(other.mutex("lock").acquire());
  });
  int granted = 0;
  for (int i = 0; i < 500; ++i) {
    std::stop_source stop;
    auto pending = client.mutex("lock").async_acquire({.stop = stop.get_token()});
    std::thread stopping([&] { stop.request_stop(); });
    const auto result = std::move(pending).get();
    if (result) {
      ++granted;
      EXPECT_TRUE(result->valid());
    } else {
      EXPECT_EQ(result.error(), Errc::cancelled);
    }
    stopping.join();
  }
  over = true;
  busy.join();
  EXPECT_TRUE(client.mutex("lock").try_acquire());
  EXPECT_LE(granted, 500);
}

}  // namespace
}  // namespace holdfast::test
