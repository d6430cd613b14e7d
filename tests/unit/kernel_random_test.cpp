#include "runtime/kernel_random.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

namespace holdfast::runtime {
namespace {

TEST(KernelRandom, NeverRepeatsItself) {
  KernelRandom random;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(random.next());
  EXPECT_EQ(seen.size(), 1'000u);
}

TEST(KernelRandom, FillsEveryBit) {
  KernelRandom random;
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t number = random.next();
    ones |= number;
    zeros |= ~number;
  }
  EXPECT_EQ(ones, ~std::uint64_t{0});
  EXPECT_EQ(zeros, ~std::uint64_t{0});
}

TEST(KernelRandom, StaysBelowItsBound) {
  KernelRandom random;
  EXPECT_EQ(random.below(0), 0u);
  EXPECT_EQ(random.below(1), 0u);
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below(7), 7u);
}

TEST(KernelRandom, GivesDifferentNumbersToThreads) {
  KernelRandom random;
  std::vector<std::vector<std::uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&mine, &random] {
      for (int i = 0; i < 500; ++i) mine.push_back(random.next());
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> seen;
  for (const auto& each : drawn) seen.insert(each.begin(), each.end());
  EXPECT_EQ(seen.size(), 2'000u);
}

// F023: two processes with one client id would be one owner.
TEST(KernelRandom, GivesAForkedChildOtherNumbersThanItsParent_F023) {
  KernelRandom random;
  random.next();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t number = random.next();
      if (write(ends[1], &number, sizeof number) != static_cast<ssize_t>(sizeof number)) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  std::set<std::uint64_t> mine;
  for (int i = 0; i < 64; ++i) mine.insert(random.next());
  std::uint64_t theirs = 0;
  int received = 0;
  for (; read(ends[0], &theirs, sizeof theirs) == static_cast<ssize_t>(sizeof theirs); ++received) {
    EXPECT_FALSE(mine.contains(theirs));
  }
  close(ends[0]);
  EXPECT_EQ(received, 64);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
}

}  // namespace
}  // namespace holdfast::runtime
