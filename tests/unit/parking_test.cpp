#include "runtime/parking.hpp"

#include <gtest/gtest.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::runtime {
namespace {

TEST(ParkingSpot, RemembersAnUnparkThatCameFirst) {
  ParkingSpot spot;
  spot.unpark();
  spot.unpark();
  spot.park();
}

TEST(ParkingSpot, CountsSeveralUnparksAsOne) {
  ParkingSpot spot;
  spot.unpark();
  spot.unpark();
  spot.park();
  bool second = false;
  std::thread other([&] {
    second = true;
    spot.unpark();
  });
  spot.park();  // would return at once, before `second`, if the two had been counted
  EXPECT_TRUE(second);
  other.join();
}

TEST(ParkingSpot, ShowsWhatWasWrittenBeforeTheUnpark) {
  ParkingSpot there;
  ParkingSpot back;
  int ball = 0;  // not atomic: the spots order everything
  constexpr int kRounds = 20'000;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      there.park();
      ++ball;
      back.unpark();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ++ball;
    there.unpark();
    back.park();
    ASSERT_EQ(ball, 2 * (i + 1));
  }
  other.join();
}

TEST(ParkingSpot, WakesForAnyOfManyUnparkers) {
  ParkingSpot spot;
  std::atomic<int> posted{0};
  constexpr int kEach = 5'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        posted.fetch_add(1, std::memory_order_relaxed);
        spot.unpark();
      }
    });
  }
  while (posted.load(std::memory_order_relaxed) < 3 * kEach) spot.park();
  for (auto& thread : threads) thread.join();
}

// The sleeper owns what it waits for and lets it go as soon as it wakes.
TEST(ParkingSpot, MayBeDroppedByTheSleeperWhileItIsBeingUnparked) {
  struct Owner {
    ParkingSpot spot;
    int answer = 0;
  };
  for (int i = 0; i < 2'000; ++i) {
    auto mine = std::make_shared<Owner>();
    std::thread other([theirs = mine]() mutable {
      theirs->answer = 7;
      theirs->spot.unpark();
      theirs.reset();
    });
    mine->spot.park();
    ASSERT_EQ(mine->answer, 7);
    mine.reset();
    other.join();
  }
}

sem_t alarms;  // one of the few things that a signal handler may touch

TEST(ParkingSpot, SleepsOnThroughSignals_F026) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { sem_post(&alarms); };
  ASSERT_EQ(sem_init(&alarms, 0, 0), 0);
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  ParkingSpot spot;
  bool woken = false;
  // Signals go to the thread that parks: the other one blocks them.
  sigset_t alarm_only;
  sigset_t mask;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm_only, &mask);
  std::thread other([&] {
    for (int seen = 0; seen < 20; ++seen) sem_wait(&alarms);
    woken = true;
    spot.unpark();
  });
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  const itimerval storm{{0, 1'000}, {0, 1'000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &storm, nullptr), 0);
  spot.park();
  EXPECT_TRUE(woken);
  const itimerval calm{};
  setitimer(ITIMER_REAL, &calm, nullptr);
  other.join();
  sigaction(SIGALRM, &before, nullptr);
}

}  // namespace
}  // namespace holdfast::runtime
