#include "transport/read_role.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/manual_clock.hpp"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using Reader = ReadRole::Reader;

constexpr auto kPatience = 60s;  // only a test that fails waits that long

class Caller final : public store::BlockedCaller {
 public:
  explicit Caller(TimePoint until = kNever) : until_(until) {}

  bool done() const override { return done_; }
  TimePoint until() const override { return until_; }
  void nudge() override {
    ++nudges_;
    if (const auto play = std::exchange(on_nudge, nullptr)) play();
  }

  void finish() { done_ = true; }
  int nudges() const { return nudges_; }

  std::function<void()> on_nudge;

 private:
  const TimePoint until_;
  std::atomic<bool> done_{false};
  std::atomic<int> nudges_{0};
};

// A connection whose reads are played by the test.
class FakeConnection final : public ReadRole::Connection {
 public:
  bool read_once(TimePoint until) override {
    ++reads;
    last_until = until;
    const auto play = on_read;  // it may replace itself
    return play ? play() : true;
  }
  void interrupt() override {
    const std::lock_guard lock(mutex_);
    ++interrupts_;
    changed_.notify_all();
  }
  void let_loop_watch(bool on) override {
    EXPECT_NE(watched.exchange(on), on);  // told only what is new
  }
  void ended() override { ++ends; }

  // As poll(2) would: sleeps until somebody interrupts.
  void sleep_until_interrupted() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return interrupts_ > seen_; })) std::abort();
    ++seen_;
  }
  int interrupts() const {
    const std::lock_guard lock(mutex_);
    return interrupts_;
  }

  std::function<bool()> on_read;
  std::atomic<int> reads{0};
  TimePoint last_until{};
  std::atomic<bool> watched{false};
  int ends = 0;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int interrupts_ = 0;
  int seen_ = 0;
};

class ReadRoleTest : public testing::Test {
 protected:
  ReadRoleTest() { role_.open(); }

  // Another thread comes, and is through before we go on.
  bool drive_elsewhere(const std::shared_ptr<Caller>& caller) {
    bool answer = false;
    std::thread([&] { answer = role_.drive(caller); }).join();
    return answer;
  }

  // Lets `leader` lead; `meanwhile` runs inside its read, after which its answer is there.
  void lead(const std::shared_ptr<Caller>& leader, const std::function<void()>& meanwhile) {
    connection_.on_read = [&] {
      connection_.on_read = nullptr;
      meanwhile();
      leader->finish();
      return true;
    };
    EXPECT_TRUE(role_.drive(leader));
  }

  // A turn of the loop in which `meanwhile` happens.
  void turn(const std::function<void()>& meanwhile = [] {}) {
    connection_.on_read = [&] {
      connection_.on_read = nullptr;
      meanwhile();
      return true;
    };
    role_.loop_turn();
  }

  static std::shared_ptr<Caller> make_caller() { return std::make_shared<Caller>(); }

  test::ManualClock clock_;
  FakeConnection connection_;
  ReadRole role_{connection_, clock_};
};

TEST_F(ReadRoleTest, BelongsToTheLoopAtFirst) {
  EXPECT_EQ(role_.reader(), Reader::loop);
  EXPECT_TRUE(connection_.watched);
}

TEST_F(ReadRoleTest, DoesNotReadForACallerWhoseAnswerIsThere) {
  const auto caller = make_caller();
  caller->finish();
  EXPECT_TRUE(role_.drive(caller));
  EXPECT_EQ(connection_.reads, 0);
}

TEST_F(ReadRoleTest, LetsACallerReadUntilItsAnswerIsThere) {
  const auto caller = make_caller();
  connection_.on_read = [&] {
    EXPECT_EQ(role_.reader(), Reader::caller);
    EXPECT_FALSE(connection_.watched);
    EXPECT_EQ(connection_.last_until, kNever);
    if (connection_.reads == 3) caller->finish();
    return true;
  };
  EXPECT_TRUE(role_.drive(caller));
  EXPECT_EQ(connection_.reads, 3);
  EXPECT_EQ(role_.reader(), Reader::loop);
  EXPECT_TRUE(connection_.watched);
}

TEST_F(ReadRoleTest, TurnsOthersAwayWhileOneLeadsAndNudgesOneOfThemAtTheEnd) {
  const auto leader = make_caller();
  const auto first = make_caller();
  const auto second = make_caller();
  lead(leader, [&] {
    EXPECT_FALSE(drive_elsewhere(first));
    EXPECT_FALSE(drive_elsewhere(second));
    EXPECT_FALSE(drive_elsewhere(first));  // coming twice does not count twice
  });
  EXPECT_EQ(leader->nudges(), 0);
  EXPECT_EQ(first->nudges() + second->nudges(), 1);
  EXPECT_EQ(role_.reader(), Reader::loop);  // until it comes
}

TEST_F(ReadRoleTest, GoesToTheNudgedCandidateAndThenToTheNext) {
  const auto leader = make_caller();
  const auto first = make_caller();
  const auto second = make_caller();
  lead(leader, [&] {
    EXPECT_FALSE(drive_elsewhere(first));
    EXPECT_FALSE(drive_elsewhere(second));
  });
  const auto& nudged = first->nudges() == 1 ? first : second;
  const auto& other = first->nudges() == 1 ? second : first;
  lead(nudged, [&] { EXPECT_EQ(role_.reader(), Reader::caller); });
  EXPECT_EQ(other->nudges(), 1);
  EXPECT_EQ(nudged->nudges(), 1);
}

TEST_F(ReadRoleTest, NudgesNobodyWhoseAnswerIsThereOrWhoIsTooLate) {
  const auto leader = make_caller();
  const auto done = make_caller();
  const auto late = std::make_shared<Caller>(clock_.now() + 5s);
  const auto fit = std::make_shared<Caller>(clock_.now() + 30s);
  lead(leader, [&] {
    for (const auto& each : {done, late, fit}) EXPECT_FALSE(drive_elsewhere(each));
    done->finish();
    clock_.advance(10s);
  });
  EXPECT_EQ(done->nudges(), 0);
  EXPECT_EQ(late->nudges(), 0);
  EXPECT_EQ(fit->nudges(), 1);
}

TEST_F(ReadRoleTest, NeverTouchesACallerThatHasGone) {
  const auto leader = make_caller();
  lead(leader, [&] {
    auto gone = make_caller();
    EXPECT_FALSE(drive_elsewhere(gone));
    EXPECT_EQ(gone.use_count(), 1);
  });
  turn();
}

TEST_F(ReadRoleTest, LetsTheLoopReadWithoutSleeping) {
  turn([&] {
    EXPECT_EQ(role_.reader(), Reader::turn);
    EXPECT_LE(connection_.last_until, clock_.now());
  });
  EXPECT_EQ(connection_.reads, 1);
  EXPECT_EQ(role_.reader(), Reader::loop);
}

TEST_F(ReadRoleTest, IgnoresALoopThatComesAfterACallerTookTheRole) {
  lead(make_caller(), [&] { std::thread([&] { role_.loop_turn(); }).join(); });
  EXPECT_EQ(connection_.reads, 1);
}

TEST_F(ReadRoleTest, NudgesACallerThatCameDuringTheLoopsTurn) {
  const auto caller = make_caller();
  turn([&] { EXPECT_FALSE(drive_elsewhere(caller)); });
  EXPECT_EQ(caller->nudges(), 1);
}

TEST_F(ReadRoleTest, KeepsTheOthersAsleepWhileOneIsOnItsWay) {
  const auto first = make_caller();
  const auto second = make_caller();
  turn([&] {
    EXPECT_FALSE(drive_elsewhere(first));
    EXPECT_FALSE(drive_elsewhere(second));
  });
  turn();
  turn();
  EXPECT_EQ(first->nudges() + second->nudges(), 1);
}

TEST_F(ReadRoleTest, NudgesAnotherIfTheNudgedOneNeedNotComeAnyMore) {
  const auto first = make_caller();
  const auto second = make_caller();
  turn([&] {
    EXPECT_FALSE(drive_elsewhere(first));
    EXPECT_FALSE(drive_elsewhere(second));
  });
  const auto& nudged = first->nudges() == 1 ? first : second;
  const auto& other = first->nudges() == 1 ? second : first;
  nudged->finish();
  EXPECT_EQ(other->nudges(), 0);
  turn();
  EXPECT_EQ(other->nudges(), 1);
}

// The nudged one comes, and is turned away by a newcomer, before the nudging thread has gone on.
TEST_F(ReadRoleTest, NudgesAgainOneThatWasNudgedAndTurnedAway) {
  const auto nudged = make_caller();
  const auto newcomer = make_caller();
  std::thread leading;
  nudged->on_nudge = [&] {
    std::promise<void> reading;
    connection_.on_read = [&] {
      connection_.on_read = nullptr;
      reading.set_value();
      connection_.sleep_until_interrupted();
      return true;
    };
    leading = std::thread([&] { EXPECT_TRUE(role_.drive(newcomer)); });
    reading.get_future().wait();
    EXPECT_FALSE(drive_elsewhere(nudged));
  };
  turn([&] { EXPECT_FALSE(drive_elsewhere(nudged)); });
  newcomer->finish();
  role_.interrupt(*newcomer);
  leading.join();
  EXPECT_EQ(nudged->nudges(), 2);
}

TEST_F(ReadRoleTest, WakesALeaderWhoseAnswerCameByAnotherRoute) {
  const auto leader = make_caller();
  std::promise<void> reading;
  connection_.on_read = [&] {
    reading.set_value();
    connection_.sleep_until_interrupted();
    return true;
  };
  std::thread thread([&] { EXPECT_TRUE(role_.drive(leader)); });
  reading.get_future().wait();
  leader->finish();
  role_.interrupt(*leader);
  thread.join();
  EXPECT_EQ(connection_.reads, 1);
}

TEST_F(ReadRoleTest, InterruptsNobodyForACallerThatDoesNotLead) {
  const auto leader = make_caller();
  const auto other = make_caller();
  role_.interrupt(*other);
  lead(leader, [&] {
    std::thread([&] { role_.interrupt(*other); }).join();
    role_.interrupt(*leader);  // the leader hands out its own answer: it will look anyway
  });
  role_.interrupt(*leader);
  EXPECT_EQ(connection_.interrupts(), 0);
}

TEST_F(ReadRoleTest, IsLeftByALeaderWhoseTimeIsOver) {
  const auto leader = std::make_shared<Caller>(clock_.now() + 5s);
  const auto other = make_caller();
  connection_.on_read = [&] {
    EXPECT_FALSE(drive_elsewhere(other));
    clock_.advance(5s);
    return true;
  };
  EXPECT_TRUE(role_.drive(leader));
  EXPECT_EQ(connection_.last_until, leader->until());
  EXPECT_EQ(other->nudges(), 1);
  EXPECT_FALSE(role_.drive(leader));  // its time will not come back: no spinning
  EXPECT_EQ(connection_.reads, 1);
  EXPECT_EQ(role_.reader(), Reader::loop);
}

TEST_F(ReadRoleTest, BelongsToNobodyAfterTheConnectionEnded) {
  const auto caller = make_caller();
  connection_.on_read = [] { return false; };
  EXPECT_TRUE(role_.drive(caller));
  EXPECT_EQ(role_.reader(), Reader::nobody);
  EXPECT_FALSE(connection_.watched);
  EXPECT_EQ(connection_.ends, 1);

  EXPECT_FALSE(role_.drive(caller));  // parks
  role_.loop_turn();
  EXPECT_EQ(connection_.reads, 1);
  EXPECT_EQ(caller->nudges(), 0);

  role_.open();
  role_.open();
  EXPECT_EQ(role_.reader(), Reader::loop);
  EXPECT_TRUE(connection_.watched);
  EXPECT_EQ(caller->nudges(), 1);
}

TEST_F(ReadRoleTest, TellsOfAnEndThatTheLoopNoticed) {
  connection_.on_read = [] { return false; };
  role_.loop_turn();
  EXPECT_EQ(role_.reader(), Reader::nobody);
  EXPECT_FALSE(connection_.watched);
  EXPECT_EQ(connection_.ends, 1);
}

TEST_F(ReadRoleTest, IsHandedBackByAReadThatThrows) {
  const auto leader = make_caller();
  const auto other = make_caller();
  connection_.on_read = [&]() -> bool {
    EXPECT_FALSE(drive_elsewhere(other));
    throw std::runtime_error("x");
  };
  EXPECT_THROW(role_.drive(leader), std::runtime_error);
  EXPECT_EQ(role_.reader(), Reader::loop);
  EXPECT_EQ(other->nudges(), 1);
}

TEST_F(ReadRoleTest, EndsWhenTheLeaderHasLeft) {
  const auto leader = make_caller();
  std::promise<void> reading;
  std::atomic<bool> left{false};
  connection_.on_read = [&] {
    reading.set_value();
    connection_.sleep_until_interrupted();
    left = true;
    return true;
  };
  std::thread thread([&] { EXPECT_TRUE(role_.drive(leader)); });
  reading.get_future().wait();
  role_.shut();
  EXPECT_TRUE(left);
  EXPECT_EQ(role_.reader(), Reader::nobody);
  EXPECT_FALSE(connection_.watched);
  thread.join();

  EXPECT_FALSE(role_.drive(leader));
  role_.loop_turn();
  role_.open();
  EXPECT_EQ(role_.reader(), Reader::nobody);
  EXPECT_EQ(connection_.reads, 1);
  role_.shut();
}

TEST_F(ReadRoleTest, MayBeShutFromInsideARead) {
  connection_.on_read = [&] {
    role_.shut();
    return true;
  };
  role_.loop_turn();
  EXPECT_EQ(role_.reader(), Reader::nobody);
  EXPECT_FALSE(connection_.watched);
}

// Counts the memory that callers and what remembers them take.
std::atomic<int> blocks{0};

template <class T>
struct Counting {
  using value_type = T;
  Counting() = default;
  template <class U>
  Counting(const Counting<U>&) {}
  T* allocate(std::size_t n) {
    ++blocks;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* place, std::size_t n) {
    --blocks;
    std::allocator<T>().deallocate(place, n);
  }
  friend bool operator==(const Counting&, const Counting&) { return true; }
};

TEST_F(ReadRoleTest, ForgetsCallersThatComeAndGoWhileOneLeads) {
  lead(make_caller(), [&] {
    std::thread([&] {
      for (int i = 0; i < 10'000; ++i) {
        const auto passing = std::allocate_shared<Caller>(Counting<Caller>());
        ASSERT_FALSE(role_.drive(passing));
        ASSERT_LE(blocks, 64);
      }
    }).join();
  });
  turn();
  EXPECT_EQ(blocks, 0);
}

}  // namespace
}  // namespace holdfast::transport
