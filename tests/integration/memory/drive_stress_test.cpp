// Many threads on one socket: who reads, who sleeps, who is woken. The server answers late, in
// bursts and out of order, loses answers and hangs up; still every question is answered exactly
// once, to the caller that asked it, and nobody sleeps for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "runtime/parking.hpp"
#include "support/scripted_transport.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using store::CallId;

// Ends the program if a test has hung: nothing else could.
class Watchdog {
 public:
  explicit Watchdog(std::function<std::string()> state)
      : thread_([this, state = std::move(state)] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, 240s, [this] { return over_; })) return;
          std::fprintf(stderr, "hung: %s\n", state().c_str());
          std::abort();
        }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

using AnyReply =
    std::variant<std::monostate, store::GrantReply, store::RenewReply, store::ReleaseReply>;

// A thread that waits for one answer. It goes away as soon as it has it.
class Waiter final : public store::BlockedCaller {
 public:
  explicit Waiter(TimePoint until = kNever) : until_(until) {}

  bool done() const override { return done_.load(std::memory_order_acquire); }
  TimePoint until() const override { return until_; }
  void nudge() override { spot_.unpark(); }

  void finish(AnyReply with) {
    reply = std::move(with);
    done_.store(true, std::memory_order_release);
    nudge();
  }
  void park() { spot_.park(); }

  AnyReply reply;  // monostate: given up

 private:
  const TimePoint until_;
  std::atomic<bool> done_{false};
  runtime::ParkingSpot spot_;
};

using WaiterPtr = std::shared_ptr<Waiter>;

// Takes all answers and finishes whoever waits for them, as a driver does.
class Desk final : public store::Answers<store::GrantReply>,
                   public store::Answers<store::RenewReply>,
                   public store::Answers<store::ReleaseReply> {
 public:
  explicit Desk(ScriptedStore& store) : store_(store) {}

  template <class Reply>
  store::Call<Reply> call(WaiterPtr waiter, CallId& id) {
    const std::lock_guard lock(mutex_);
    id = ++asked_;
    open_.emplace(id, std::move(waiter));
    return {*this, id, kNever};
  }

  void answered(CallId id, store::GrantReply reply) override { settle(id, std::move(reply)); }
  void answered(CallId id, store::RenewReply reply) override { settle(id, std::move(reply)); }
  void answered(CallId id, store::ReleaseReply reply) override { settle(id, std::move(reply)); }

  // The waiter goes without an answer; the question stays open.
  void give_up(CallId id) {
    WaiterPtr waiter;
    {
      const std::lock_guard lock(mutex_);
      const auto found = open_.find(id);
      if (found != open_.end()) waiter = std::exchange(found->second, nullptr);
    }
    finish(waiter, {});
  }

  void finish(const WaiterPtr& waiter, AnyReply reply) {
    if (!waiter) return;
    waiter->finish(std::move(reply));
    store_.interrupt(*waiter);
  }

  bool wait_until_open(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 200s, [&] { return open_.size() == count; });
  }

  std::string state() {
    const std::lock_guard lock(mutex_);
    return std::to_string(asked_) + " asked, " + std::to_string(open_.size()) + " open";
  }
  std::size_t open() {
    const std::lock_guard lock(mutex_);
    return open_.size();
  }
  int answered_twice() {
    const std::lock_guard lock(mutex_);
    return answered_twice_;
  }

 private:
  void settle(CallId id, AnyReply reply) {
    WaiterPtr waiter;
    {
      const std::lock_guard lock(mutex_);
      auto entry = open_.extract(id);
      if (entry.empty()) {
        ++answered_twice_;
        return;
      }
      waiter = std::move(entry.mapped());
      changed_.notify_all();
    }
    finish(waiter, std::move(reply));
  }

  ScriptedStore& store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  CallId asked_ = 0;
  std::map<CallId, WaiterPtr> open_;
  int answered_twice_ = 0;
};

constexpr std::uint64_t kRounds = 6'400;

store::LockName name(const std::string& bytes) { return *store::LockName::checked(bytes); }

class DriveStress : public testing::Test {
 protected:
  void start(ServerOptions options) {
    auto odds = std::move(options.script);
    options.script = [odds](const store::LockName& lock) {
      if (lock.bytes() == "lost") return Fate::never;
      return odds ? odds(lock) : Fate::at_once;
    };
    server_ = std::make_unique<ScriptedServer>(clock_, std::move(options));
    store_ = std::make_unique<ScriptedStore>(*server_, *loop_, clock_);
    desk_ = std::make_unique<Desk>(*store_);
    watchdog_ = std::make_unique<Watchdog>([this] { return desk_->state(); });
  }

  void TearDown() override {
    watchdog_.reset();
    store_.reset();
    // A timer that was cancelled too late may still be talking to the desk.
    std::promise<void> passed;
    loop_->post([&passed] { passed.set_value(); });
    passed.get_future().wait();
    desk_.reset();
  }

  void restart(ServerOptions options) {
    TearDown();
    closed_ = false;
    lost_ = 0;
    granted_ = no_answers_ = 0;
    start(std::move(options));
  }

  void block(const WaiterPtr& waiter) {
    while (!waiter->done()) {
      if (!store_->drive(waiter)) waiter->park();
    }
  }

  // Asks, again if there was nobody to ask just then, and waits.
  template <class Reply, class Ask>
  std::optional<Reply> ask(Ask verb, std::optional<Duration> patience = {},
                           TimePoint until = kNever) {
    for (;;) {
      auto reply = ask_once<Reply>(verb, patience, until);
      const auto* none = reply ? std::get_if<store::NoAnswer>(&*reply) : nullptr;
      if (none == nullptr || none->executed || closed_) return reply;
      EXPECT_TRUE(hangs_up_);
      std::this_thread::yield();
    }
  }

  // The waiter is forgotten as soon as it has its answer.
  template <class Reply, class Ask>
  std::optional<Reply> ask_once(Ask verb, std::optional<Duration> patience, TimePoint until) {
    auto waiter = std::make_shared<Waiter>(until);
    CallId id = 0;
    auto call = desk_->call<Reply>(waiter, id);
    store::TimerId timer = 0;
    if (patience) {
      timer = loop_->call_at(later(clock_.now(), *patience), [this, id] { desk_->give_up(id); });
    }
    verb(std::move(call));
    block(waiter);
    loop_->cancel(timer);
    if (std::holds_alternative<std::monostate>(waiter->reply)) return std::nullopt;
    return std::get<Reply>(std::move(waiter->reply));
  }

  store::GrantRequest request(const std::string& lock, std::uint64_t caller, std::uint64_t round) {
    store::GrantRequest request;
    request.name = name(lock);
    request.owner = {{1, caller}, round};
    request.lease = 1h + Duration(caller * 1'000'000 + round);  // says whose question it was
    return request;
  }

  store::HoldKey key(const store::GrantRequest& request, const store::Granted& granted) {
    store::HoldKey key;
    static_cast<store::ClaimKey&>(key) = request;
    key.fence = granted.fence;
    return key;
  }

  // Acquires, renews and releases.
  void cycle(const store::GrantRequest& wanted, std::optional<Duration> patience = {},
             TimePoint until = kNever) {
    const auto reply = ask<store::GrantReply>(
        [&](auto call) { store_->try_grant(wanted, std::move(call)); }, patience, until);
    if (!reply) {
      EXPECT_TRUE(patience);
      return;
    }
    if (std::holds_alternative<store::NoAnswer>(*reply)) return no_answer();
    const auto* granted = std::get_if<store::Granted>(&*reply);
    if (granted == nullptr) {
      EXPECT_TRUE(std::holds_alternative<store::Refused>(*reply));
      EXPECT_EQ(wanted.name.bytes(), "shared");
      return;
    }
    EXPECT_EQ(granted->lease, wanted.lease);
    ++granted_;

    store::Renewal renewal;
    static_cast<store::HoldKey&>(renewal) = key(wanted, *granted);
    renewal.lease = wanted.lease + 2h;
    const auto renewed = ask<store::RenewReply>([&](auto call) {
      store_->renew({&renewal, 1}, std::move(call));
    });
    ASSERT_TRUE(renewed);
    if (const auto* each = std::get_if<std::vector<store::RenewalReply>>(&*renewed)) {
      ASSERT_EQ(each->size(), 1u);
      const auto* good = std::get_if<store::Renewed>(&each->front());
      ASSERT_TRUE(good);
      EXPECT_EQ(good->lease, renewal.lease);
    } else {
      no_answer();
    }

    const auto released = ask<store::ReleaseReply>(
        [&](auto call) { store_->release(key(wanted, *granted), std::move(call)); });
    ASSERT_TRUE(released);
    if (std::holds_alternative<store::NoAnswer>(*released)) return no_answer();
    EXPECT_TRUE(std::holds_alternative<store::Released>(*released));
  }

  void no_answer() {
    EXPECT_TRUE(hangs_up_);
    ++no_answers_;
  }

  // Nobody waits for this one.
  void ask_and_go(const store::GrantRequest& wanted) {
    CallId id = 0;
    store_->try_grant(wanted, desk_->call<store::GrantReply>(nullptr, id));
  }

  // A bit of everything.
  void run_caller(std::uint64_t caller, std::uint64_t rounds) {
    std::mt19937_64 random(caller);
    const std::string own = "own/" + std::to_string(caller) + "/";
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::string mine = own + std::to_string(round);
      switch (random() % 8) {
        case 0:
          cycle(request("shared", caller, round));
          break;
        case 1:  // only a timer can end this
          cycle(request("lost", caller, round), 1ms);
          ++lost_;
          break;
        case 2: {  // the timer and the answer may cross
          const Duration patience = std::chrono::microseconds(random() % 400);
          cycle(request(mine, caller, round), patience);
          break;
        }
        case 3:  // stops driving, and parks
          cycle(request(mine, caller, round), {}, later(clock_.now(), 100us));
          break;
        case 4:
          ask_and_go(request(mine, caller, round));
          break;
        default:
          cycle(request(mine, caller, round));
      }
    }
  }

  // As many rounds in all, however many callers share them.
  void run_callers(std::uint64_t callers) {
    const std::uint64_t rounds = kRounds / callers;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < callers; ++i) {
      threads.emplace_back([this, i, rounds] { run_caller(i, rounds); });
    }
    for (auto& thread : threads) thread.join();
  }

  void close_and_check() {
    EXPECT_TRUE(desk_->wait_until_open(hangs_up_ ? desk_->open() : lost_.load())) << desk_->state();
    store_->close();
    EXPECT_EQ(desk_->open(), 0u);
    EXPECT_EQ(desk_->answered_twice(), 0);
    EXPECT_GT(granted_, 0);
    EXPECT_GT(store_->reads_by_callers(), 0u);
  }

  runtime::BootClock clock_;
  std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<ScriptedStore> store_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Watchdog> watchdog_;
  std::atomic<std::size_t> lost_{0};  // questions that are never answered
  std::atomic<int> granted_{0};
  std::atomic<int> no_answers_{0};
  bool hangs_up_ = false;
  std::atomic<bool> closed_{false};
};

TEST_F(DriveStress, AnswersEveryQuestionOnceToItsOwnCaller) {
  start({.script = random_fates(7, {.later = 400}), .burst = 16});
  run_callers(64);
  close_and_check();
}

// Fewer callers are answered one by one, and the role goes round quickly.
TEST_F(DriveStress, AnswersEveryQuestionOnceToFewCallers) {
  for (const std::uint64_t callers : {1u, 2u, 5u}) {
    restart({.script = random_fates(callers, {.later = 10})});
    run_callers(callers);
    close_and_check();
  }
}

TEST_F(DriveStress, AnswersEveryQuestionOnceWhileTheServerHangsUp_F002) {
  hangs_up_ = true;
  for (const std::uint64_t callers : {64u, 5u}) {
    restart({.script = random_fates(callers, {.later = 200, .hang_up = 5})});
    run_callers(callers);
    close_and_check();
    EXPECT_GT(no_answers_, 0);
  }
}

TEST_F(DriveStress, LetsTheLoopReadWhatNobodyWaitsFor) {
  start({.script = random_fates(9, {.later = 500})});
  for (std::uint64_t i = 0; i < 2'000; ++i) ask_and_go(request("own/" + std::to_string(i), 1, i));
  EXPECT_TRUE(desk_->wait_until_open(0)) << desk_->state();
  EXPECT_EQ(store_->reads_by_callers(), 0u);
}

// Waiting in line is waiting without a question. Such a caller may lead for a long time, and what
// ends it comes from another thread: a lock that is handed on inside the process.
TEST_F(DriveStress, WakesCallersThatWaitForAnotherThread) {
  start({});
  constexpr std::size_t kThreads = 16;
  std::vector<WaiterPtr> turns(kRounds / 4 + 1);
  for (auto& each : turns) each = std::make_shared<Waiter>();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i + 1 < turns.size(); i += kThreads) {
        block(turns[i]);
        if (i % 5 == 0) cycle(request("own/" + std::to_string(i), t, i));
        desk_->finish(turns[i + 1], {});
      }
    });
  }
  desk_->finish(turns[0], {});
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(turns.back()->done());
}

// close() comes while callers lead, wait and ask.
TEST_F(DriveStress, AnswersEveryoneWhenItIsClosedInTheMiddle) {
  hangs_up_ = true;
  for (std::uint64_t round = 0; round < 20; ++round) {
    restart({.script = random_fates(round, {.later = 300, .never = 100})});
    std::vector<std::thread> threads;
    std::atomic<int> cycles{0};
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 50; ++i) {
          cycle(request("own/" + std::to_string(t) + "/" + std::to_string(i), t, i));
          cycles.fetch_add(1);
          cycles.notify_all();
        }
      });
    }
    while (cycles.load() < 5) cycles.wait(cycles.load());
    closed_ = true;
    store_->close();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(desk_->open(), 0u);
    EXPECT_EQ(desk_->answered_twice(), 0);
  }
}

// What a store's watches promise, over this transport.
TEST_F(DriveStress, DeliversWakesWhoeverReads) {
  start({});
  const auto held = request("shared", 1, 1);
  const auto reply =
      ask<store::GrantReply>([&](auto call) { store_->try_grant(held, std::move(call)); });
  const auto* granted = std::get_if<store::Granted>(&*reply);
  ASSERT_TRUE(granted);

  const auto woken = std::make_shared<Waiter>();
  const auto watch =
      store_->watch(request("shared", 2, 1), [&](const store::Wake&) { desk_->finish(woken, {}); });
  std::thread waiting([&] { block(woken); });
  const auto released = ask<store::ReleaseReply>(
      [&](auto call) { store_->release(key(held, *granted), std::move(call)); });
  EXPECT_TRUE(std::holds_alternative<store::Released>(*released));
  waiting.join();
}

}  // namespace
}  // namespace holdfast::test
