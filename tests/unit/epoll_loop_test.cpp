#include "runtime/epoll_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/boot_clock.hpp"
#include "support/forked_child.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // only a test that fails waits that long

class EpollLoopTest : public testing::Test {
 protected:
  // Runs a function on the loop and hands back what it answers.
  template <class F>
  auto on_loop(F f) {
    std::packaged_task<std::invoke_result_t<F>()> task(std::move(f));
    auto answer = task.get_future();
    loop().post([task = std::move(task)]() mutable { task(); });
    return wait(answer);
  }

  template <class T>
  static T wait(std::future<T>& future) {
    if (future.wait_for(kPatience) != std::future_status::ready) std::abort();
    return future.get();
  }

  EpollLoop& loop() { return *loop_; }

  BootClock clock_;
  std::unique_ptr<EpollLoop> loop_ = *EpollLoop::start();
};

TEST_F(EpollLoopTest, RunsPostedTasksInOrderOnItsOwnThread) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    loop().post([&order, i] { order.push_back(i); });
  }
  EXPECT_TRUE(on_loop([this] { return loop().on_loop_thread(); }));
  EXPECT_FALSE(loop().on_loop_thread());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(EpollLoopTest, TakesTasksFromManyThreads) {
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) loop().post([&runs] { ++runs; });
    });
  }
  for (auto& thread : threads) thread.join();
  on_loop([] {});
  EXPECT_EQ(runs, 8'000);
}

TEST_F(EpollLoopTest, CallsTimersInOrderOfTimeAndThenOfTheirMaking) {
  std::vector<std::string> order;
  std::promise<void> last;
  const TimePoint now = clock_.now();
  on_loop([&] {  // all at once, so that none runs before the others are made
    loop().call_at(now + 2ms, [&] { last.set_value(); });
    loop().call_at(now + 1ms, [&] { order.push_back("second"); });
    loop().call_at(now + 1ms, [&] { order.push_back("third"); });
    loop().call_at(TimePoint::min(), [&] { order.push_back("first"); });
  });
  auto done = last.get_future();
  wait(done);
  EXPECT_EQ(order, (std::vector<std::string>{"first", "second", "third"}));
}

TEST_F(EpollLoopTest, NeverCallsATimerEarly) {
  std::promise<TimePoint> called;
  const TimePoint when = clock_.now() + 5ms;
  loop().call_at(when, [&] { called.set_value(clock_.now()); });
  auto answer = called.get_future();
  EXPECT_GE(wait(answer), when);
}

TEST_F(EpollLoopTest, IsWokenByATimerThatIsEarlierThanTheOneItSleepsFor) {
  std::promise<void> called;
  loop().call_at(clock_.now() + 1h, [] { FAIL(); });
  loop().call_at(kNever, [] { FAIL(); });
  on_loop([] {});
  loop().call_at(clock_.now() + 1ms, [&] { called.set_value(); });
  auto answer = called.get_future();
  wait(answer);
}

TEST_F(EpollLoopTest, CallsLaterTimersAfterAnEarlierOneWasCancelled) {
  std::promise<void> called;
  const TimePoint now = clock_.now();
  loop().cancel(loop().call_at(now + 1ms, [] { FAIL(); }));
  loop().call_at(now + 3ms, [&] { called.set_value(); });
  auto answer = called.get_future();
  wait(answer);
}

TEST_F(EpollLoopTest, DoesNotRunWhatWasCancelledBeforeItBegan) {
  bool ran = false;
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owned;
  on_loop([&, owned = std::move(owned)]() mutable {
    const auto due = TimePoint(1ns);
    const auto victim = loop().call_at(due, [&ran, owned = std::move(owned)] { ran = true; });
    loop().cancel(victim);
    loop().cancel(victim);
    loop().cancel(12345);
  });
  EXPECT_TRUE(seen.expired());

  // Also if an earlier timer of the same round cancels it.
  on_loop([&] {
    const auto victim = std::make_shared<store::TimerId>(0);
    loop().call_at(TimePoint(1ns), [this, victim] { loop().cancel(*victim); });
    *victim = loop().call_at(TimePoint(2ns), [&ran] { ran = true; });
  });
  on_loop([] {});
  on_loop([] {});
  EXPECT_FALSE(ran);
}

TEST_F(EpollLoopTest, DoesNotLetTimersOrTasksThatComeAgainStarveTheRest) {
  std::atomic<bool> stop{false};
  std::function<void()> again_timer = [&] {
    if (!stop) loop().call_at(TimePoint(1ns), [&] { again_timer(); });
  };
  std::function<void()> again_task = [&] {
    if (!stop) loop().post([&] { again_task(); });
  };
  again_timer();
  again_task();
  std::promise<void> timer;
  loop().call_at(clock_.now(), [&] { timer.set_value(); });
  auto called = timer.get_future();
  wait(called);
  on_loop([] {});
  stop = true;
  on_loop([] {});
  on_loop([] {});
}

TEST_F(EpollLoopTest, GoesOnAfterATaskThatThrows) {
  struct Throwing final : store::Loop::Ready {
    void on_ready(std::uint32_t) override {
      loop->watch_fd(fd, 0, nullptr);
      throw std::runtime_error("watch");
    }
    EpollLoop* loop = nullptr;
    int fd = -1;
  } throwing;
  throwing.loop = &loop();
  throwing.fd = eventfd(1, EFD_CLOEXEC);
  loop().post([] { throw std::runtime_error("task"); });
  loop().call_at(TimePoint(1ns), [] { throw 7; });
  loop().watch_fd(throwing.fd, POLLIN, &throwing);
  for (int i = 0; i < 4; ++i) on_loop([] {});
  EXPECT_EQ(loop().failures(), 3u);
  close(throwing.fd);
}

class Counter final : public store::Loop::Ready {
 public:
  Counter(EpollLoop& loop, std::size_t wanted) : loop_(loop), wanted_(wanted) {}
  ~Counter() override { close(fd); }

  void on_ready(std::uint32_t events) override {
    seen_ = events;
    if (++calls_ == wanted_) {
      loop_.watch_fd(fd, 0, nullptr);
      done.set_value();
    }
  }
  std::size_t calls() const { return calls_; }
  std::uint32_t seen() const { return seen_; }

  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::promise<void> done;

 private:
  EpollLoop& loop_;
  const std::size_t wanted_;
  std::size_t calls_ = 0;
  std::uint32_t seen_ = 0;
};

void add(int fd) {
  const std::uint64_t one = 1;
  ASSERT_EQ(write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

TEST_F(EpollLoopTest, CallsAWatchAsLongAsPollWouldReport) {
  Counter counter(loop(), 3);
  loop().watch_fd(counter.fd, POLLIN, &counter);
  on_loop([] {});
  EXPECT_EQ(on_loop([&] { return counter.calls(); }), 0u);
  add(counter.fd);  // nobody reads it, so it stays ready
  auto done = counter.done.get_future();
  wait(done);
  on_loop([] {});
  EXPECT_EQ(on_loop([&] { return counter.calls(); }), 3u);
  EXPECT_EQ(on_loop([&] { return counter.seen(); }), std::uint32_t{POLLIN});
}

TEST_F(EpollLoopTest, ReplacesTheFormerWatchOfADescriptor) {
  Counter counter(loop(), 1);
  add(counter.fd);
  on_loop([&] {
    loop().watch_fd(counter.fd, POLLIN, nullptr);  // would crash if it were called
    loop().watch_fd(counter.fd, POLLOUT, &counter);
  });
  auto done = counter.done.get_future();
  wait(done);
  EXPECT_EQ(on_loop([&] { return counter.seen(); }), std::uint32_t{POLLOUT});
}

TEST_F(EpollLoopTest, DropsAnEventOfAWatchThatEndedInTheSameRound) {
  struct Killer final : store::Loop::Ready {
    void on_ready(std::uint32_t) override {
      ++calls;
      loop->watch_fd(mine, 0, nullptr);
      loop->watch_fd(other, 0, nullptr);
    }
    EpollLoop* loop = nullptr;
    int mine = -1;
    int other = -1;
    int calls = 0;
  };
  Killer first;
  Killer second;
  first.loop = second.loop = &loop();
  first.mine = second.other = eventfd(1, EFD_CLOEXEC);
  first.other = second.mine = eventfd(1, EFD_CLOEXEC);
  on_loop([&] {
    loop().watch_fd(first.mine, POLLIN, &first);
    loop().watch_fd(second.mine, POLLIN, &second);
  });
  on_loop([] {});
  EXPECT_EQ(on_loop([&] { return first.calls + second.calls; }), 1);
  close(first.mine);
  close(first.other);
}

TEST_F(EpollLoopTest, TellsAWatchThatTheKernelRefuses) {
  Counter counter(loop(), 1);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);  // epoll takes no plain files
  loop().watch_fd(file, POLLIN, &counter);
  auto done = counter.done.get_future();
  wait(done);
  EXPECT_EQ(on_loop([&] { return counter.seen(); }), std::uint32_t{POLLNVAL});
  on_loop([&] {
    loop().watch_fd(file, 0, nullptr);
    loop().watch_fd(-1, POLLIN, &counter);
    loop().watch_fd(-1, 0, nullptr);  // ended before it could be told
  });
  on_loop([] {});
  EXPECT_EQ(on_loop([&] { return counter.calls(); }), 1u);
  close(file);
}

TEST_F(EpollLoopTest, RunsWhatWasPostedBeforeStopAndNoTimer) {
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  std::vector<std::string> ran;
  loop().post([&] {
    opened.wait();
    loop().call_at(TimePoint(1ns), [&] { ran.push_back("timer"); });
  });
  loop().post([&] { ran.push_back("posted"); });
  loop().call_at(TimePoint(1ns), [&] { ran.push_back("timer"); });
  gate.set_value();
  loop().stop();
  loop().stop();
  EXPECT_EQ(std::count(ran.begin(), ran.end(), "posted"), 1);

  ran.clear();
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owned;
  loop().post([&ran, owned] { ran.push_back("late"); });
  EXPECT_EQ(loop().call_at(TimePoint(1ns), [&ran, owned] { ran.push_back("late"); }), 0u);
  owned.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_TRUE(ran.empty());
}

TEST_F(EpollLoopTest, DestroysUnrunTimersWhenItStops) {
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owned;
  loop().call_at(clock_.now() + 1h, [owned = std::move(owned)] { FAIL(); });
  loop().stop();
  EXPECT_TRUE(seen.expired());
}

TEST_F(EpollLoopTest, MayBeStoppedByManyThreadsAndItsOwnAtOnce) {
  loop().post([this] { loop().stop(); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([this] { loop().stop(); });
  for (auto& thread : threads) thread.join();
}

TEST_F(EpollLoopTest, MayEndOnItsOwnThread) {
  std::promise<void> ran;
  auto after = ran.get_future();
  std::promise<void> gate;
  auto opened = gate.get_future();
  auto* const last = loop_.release();
  last->post([last, &opened] {
    opened.wait();
    delete last;
  });
  last->post([&ran] { ran.set_value(); });
  gate.set_value();
  wait(after);
}

TEST_F(EpollLoopTest, OpensNoDescriptorThatSurvivesExec_F024) {
  loop().call_at(clock_.now() + 1h, [] {});
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone);
    if (target.find("eventpoll") == target.npos && target.find("timerfd") == target.npos &&
        target.find("eventfd") == target.npos) {
      continue;
    }
    EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC) << target;
  }
}

TEST_F(EpollLoopTest, SaysWhyItCannotStart_F045) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const rlimit two_more{static_cast<rlim_t>(next) + 2, before.rlim_max};  // it needs three
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &two_more), 0);
  const auto refused = EpollLoop::start();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), Errc::unavailable);
  EXPECT_EQ(refused.error().text(), "cannot start the loop thread: Too many open files");
}

// F026. The handler must never run on the loop thread, and nothing may be lost or late for ever.
std::atomic<int> alarms{0};
std::atomic<pid_t> loop_thread{0};
std::atomic<int> alarms_on_loop_thread{0};

TEST_F(EpollLoopTest, WorksInAStormOfSignals_F026) {
  alarms = 0;
  loop_thread = on_loop([] { return gettid(); });
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {  // without SA_RESTART
    ++alarms;
    if (gettid() == loop_thread) ++alarms_on_loop_thread;
  };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval storm{{0, 1'000}, {0, 1'000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &storm, nullptr), 0);
  int rounds = 0;
  while (alarms < 50) {
    std::promise<TimePoint> called;
    auto answer = called.get_future();
    const TimePoint when = clock_.now() + 500us;
    loop().call_at(when, [&] { called.set_value(clock_.now()); });
    EXPECT_GE(wait(answer), when);
    on_loop([&] { ++rounds; });
  }
  const itimerval calm{};
  setitimer(ITIMER_REAL, &calm, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(rounds, 0);
  EXPECT_EQ(alarms_on_loop_thread, 0);
}

// F023: the thread is the parent's. A child that destroys its copy of the loop must not wait for
// it.
TEST_F(EpollLoopTest, IsLeftAloneByAForkedChild_F023) {
  EXPECT_TRUE(test::holds_in_child([&] {
    loop_->stop();
    loop_.reset();
    return true;
  }));
  EXPECT_EQ(on_loop([] { return 7; }), 7);
}

TEST(BootClock, GoesForwardAndKnowsTheYear) {
  const BootClock clock;
  const TimePoint first = clock.now();
  EXPECT_GT(first, TimePoint{});
  EXPECT_GE(clock.now(), first);
  EXPECT_GT(clock.wall_now(), WallTime(std::chrono::sys_days(std::chrono::year{2020} / 1 / 1)));
}

}  // namespace
}  // namespace holdfast::runtime
