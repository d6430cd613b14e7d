// The loop, and what is done on it, when a request for memory fails.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "failing_memory/failing_memory.hpp"
#include "runtime/epoll_loop.hpp"
#include "support/effort.hpp"
#include "support/hand_loop.hpp"
#include "support/soon.hpp"
#include "transport/fd.hpp"
#include "transport/loop_tasks.hpp"

namespace holdfast::test {
namespace {

using transport::Fd;
using transport::LoopTasks;

class Noticed final : public store::Loop::Ready {
 public:
  explicit Noticed(const Fd& fd) : fd_(fd) {}
  void on_ready(std::uint32_t events) override {
    eventfd_t rung = 0;
    ::eventfd_read(fd_.get(), &rung);
    if ((events & POLLIN) != 0) ++times;
  }
  std::atomic<int> times{0};

 private:
  const Fd& fd_;
};

bool watch(store::Loop& loop, const Fd& fd, Noticed& noticed) {
  try {
    loop.watch_fd(fd.get(), POLLIN, &noticed);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

class LoopMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  }
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
};

TEST_F(LoopMemory, AWatchThatFailedIsSetTheNextTime_F044) {
  bool failed = true;
  for (int n = 1; failed && !HasFailure(); ++n) {
    const Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    Noticed noticed(fd);
    FailingMemory memory(n);
    const bool watched = watch(*loop_, fd, noticed);
    memory.stop();
    failed = memory.failed();
    EXPECT_NE(watched, failed);
    EXPECT_TRUE(watched || watch(*loop_, fd, noticed));
    ::eventfd_write(fd.get(), 1);
    EXPECT_TRUE(eventually([&] { return noticed.times == 1; })) << "request " << n;
    loop_->watch_fd(fd.get(), 0, nullptr);
    const Signal passed;
    loop_->post([&] { passed.give(); });
    ASSERT_TRUE(passed.comes());
  }
}

TEST_F(LoopMemory, TasksEndThoughThereIsNoMemoryToSaySo_F044) {
  bool failed = true;
  for (int n = 1; failed && !HasFailure(); ++n) {
    const LoopTasks tasks(*loop_);
    const Signal begun, go_on;
    std::atomic<bool> over{false};
    tasks.post([&] {
      begun.give();
      go_on.comes();
      over = true;
    });
    ASSERT_TRUE(begun.comes());
    go_on.give();
    bool last = false;
    FailingMemory memory(n, FailingMemory::Whose::this_thread, 3);
    EXPECT_NO_THROW(tasks.end([&] { last = over; }));
    memory.stop();
    failed = memory.failed();
    EXPECT_TRUE(last) << "request " << n;
  }
}

TEST_F(LoopMemory, TasksEndOnALoopThatHasStopped) {
  HandLoop loop;
  const LoopTasks tasks(loop);
  loop.stop();
  bool last = false;
  tasks.end([&] { last = true; });
  EXPECT_FALSE(last);
}

}  // namespace
}  // namespace holdfast::test
