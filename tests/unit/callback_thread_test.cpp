#include "runtime/callback_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/forked_child.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // only a test that fails waits that long

template <class T>
T wait(std::future<T>& future) {
  if (future.wait_for(kPatience) != std::future_status::ready) std::abort();
  return future.get();
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(CallbackThread, StartsNoThreadBeforeTheFirstTask) {
  const auto before = threads_of_this_process();
  CallbackThread callbacks;
  EXPECT_EQ(threads_of_this_process(), before);
  EXPECT_FALSE(callbacks.on_this_thread());
  callbacks.stop();
}

// What a task owns counts as well, and one that waits for its turn.
TEST(CallbackThread, CountsATaskAsGoneWhenItOwnsNothingAnyMore) {
  CallbackThread callbacks;
  EXPECT_EQ(callbacks.posted(), 0U);
  std::promise<void> gate;
  std::shared_future<void> opens = gate.get_future().share();
  callbacks.post([opens] { opens.wait(); });
  EXPECT_EQ(callbacks.posted(), 1U);
  EXPECT_EQ(callbacks.gone(), 0U);

  std::uint64_t gone_meanwhile = 0;
  struct Owned {
    const CallbackThread& callbacks;
    std::uint64_t& gone_meanwhile;
    ~Owned() { gone_meanwhile = callbacks.gone(); }
  };
  const auto owned = [&] { return std::shared_ptr<Owned>(new Owned{callbacks, gone_meanwhile}); };
  callbacks.post([last = owned()] {});
  gate.set_value();
  callbacks.stop();
  EXPECT_EQ(gone_meanwhile, 1U);
  EXPECT_EQ(callbacks.posted(), 2U);
  EXPECT_EQ(callbacks.gone(), 2U);
}

TEST(CallbackThread, RunsTasksInOrderOnItsOwnThread) {
  CallbackThread callbacks;
  std::vector<int> order;
  bool there = false;
  for (int i = 0; i < 100; ++i) {
    callbacks.post([&, i] {
      order.push_back(i);
      there = callbacks.on_this_thread();
    });
  }
  callbacks.stop();
  EXPECT_TRUE(there);
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(CallbackThread, TakesTasksFromManyThreads) {
  CallbackThread callbacks;
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) callbacks.post([&runs] { ++runs; });
    });
  }
  for (auto& thread : threads) thread.join();
  callbacks.stop();
  EXPECT_EQ(runs, 8'000);
}

TEST(CallbackThread, GoesOnAfterATaskThatThrows_F039) {
  CallbackThread callbacks;
  bool ran = false;
  callbacks.post([] { throw std::runtime_error("x"); });
  callbacks.post([] { throw 7; });
  callbacks.post([&ran] { ran = true; });
  callbacks.stop();
  EXPECT_TRUE(ran);
  EXPECT_EQ(callbacks.failures(), 2u);
}

TEST(CallbackThread, RunsWhatItsOwnTasksPostWhileItStops) {
  CallbackThread callbacks;
  std::promise<void> gate;
  auto opened = gate.get_future();
  int chain = 0;
  std::function<void()> next = [&] {
    if (++chain < 5) callbacks.post([&] { next(); });
  };
  callbacks.post([&] {
    opened.wait();
    next();
  });
  std::thread stopper([&] { callbacks.stop(); });
  gate.set_value();
  stopper.join();
  EXPECT_EQ(chain, 5);
}

TEST(CallbackThread, DestroysATaskThatComesAfterStop) {
  CallbackThread callbacks;
  callbacks.stop();
  callbacks.stop();
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owned;
  callbacks.post([owned = std::move(owned)] { FAIL(); });
  EXPECT_TRUE(seen.expired());
}

// F040: what a task owns is user code as well, and may come back to us when it is destroyed.
TEST(CallbackThread, MayBePostedToByTheEndOfATask_F040) {
  CallbackThread callbacks;
  std::promise<void> ran;
  const auto post_at_the_end = [&ran](CallbackThread* to) {
    to->post([&ran] { ran.set_value(); });
  };
  std::shared_ptr<CallbackThread> owned(&callbacks, post_at_the_end);
  callbacks.post([owned = std::move(owned)] {});
  auto done = ran.get_future();
  wait(done);
}

TEST(CallbackThread, MayEndOnItsOwnThread) {
  auto* const callbacks = new CallbackThread;
  std::promise<void> ran;
  auto after = ran.get_future();
  std::promise<void> gate;
  auto opened = gate.get_future();
  callbacks->post([&, callbacks] {
    opened.wait();
    callbacks->stop();
    delete callbacks;
  });
  callbacks->post([&ran] { ran.set_value(); });
  gate.set_value();
  wait(after);
}

TEST(CallbackThread, MayBeStoppedByManyThreadsAndItsOwnAtOnce) {
  CallbackThread callbacks;
  int runs = 0;
  std::promise<void> gate;
  auto opened = gate.get_future();
  callbacks.post([&] {
    opened.wait();
    callbacks.stop();
  });
  callbacks.post([&] { ++runs; });
  gate.set_value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { callbacks.stop(); });
  for (auto& thread : threads) thread.join();
  callbacks.stop();
  EXPECT_EQ(runs, 1);
}

TEST(CallbackThread, IsLeftAloneByAForkedChild_F023) {
  auto callbacks = std::make_unique<CallbackThread>();
  std::promise<void> first;
  callbacks->post([&] { first.set_value(); });
  auto ran = first.get_future();
  wait(ran);
  EXPECT_TRUE(test::holds_in_child([&] {
    callbacks->stop();
    callbacks.reset();
    return true;
  }));
  bool alive = false;
  callbacks->post([&alive] { alive = true; });
  callbacks->stop();
  EXPECT_TRUE(alive);
}

}  // namespace
}  // namespace holdfast::runtime
