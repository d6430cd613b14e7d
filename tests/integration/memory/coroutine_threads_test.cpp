// A coroutine that goes from thread to thread with its locks: they belong to it, not to a thread.
#include <gtest/gtest.h>

#include <coroutine>
#include <cstdint>
#include <thread>
#include <utility>

#include "coroutines.hpp"
#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"

namespace holdfast::test {
namespace {

// co_await goes on, on a thread of its own.
struct NewThread {
  bool await_ready() const noexcept { return false; }
  // The coroutine may be through before this returns, and this object with it.
  void await_suspend(std::coroutine_handle<> handle) const {
    std::thread([handle] { handle.resume(); }).detach();
  }
  void await_resume() const noexcept {}
};

TEST(CoroutineThreads, ALockTakenOnOneThreadIsReleasedOnAnother_F031) {
  const Client client = connect("memory:coroutine threads").value();
  Told<bool> done;
  [](const Client& to, Told<bool> told) -> Detached {
    auto pending = to.mutex("lock").async_acquire();
    Result<Hold> hold = co_await std::move(pending);
    const auto before = std::this_thread::get_id();
    co_await NewThread{};
    EXPECT_NE(std::this_thread::get_id(), before);
    EXPECT_TRUE(hold && hold->valid());
    told.tell(hold->release().has_value());
  }(client, done);
  ASSERT_TRUE(done.comes());
  EXPECT_TRUE(done.get());
  EXPECT_TRUE(client.inspect().value().empty());
}

TEST(CoroutineThreads, ATaskEntersAgainOnAnotherThread) {
  const Client client = connect("memory:coroutine tasks").value();
  Told<std::uint64_t> count;
  [](const Client& to, Told<std::uint64_t> told) -> Detached {
    Owner task;
    const ReentrantMutex lock = to.reentrant_mutex("lock", {.owner = &task});
    lock.lock();
    co_await NewThread{};
    lock.lock();
    const std::uint64_t entered = lock.count();
    EXPECT_FALSE(to.reentrant_mutex("lock").try_lock()) << "the thread is not the task";
    lock.unlock();
    lock.unlock();
    told.tell(entered);
  }(client, count);
  ASSERT_TRUE(count.comes());
  EXPECT_EQ(count.get(), 2U);
  EXPECT_TRUE(client.inspect().value().empty());
}

}  // namespace
}  // namespace holdfast::test
