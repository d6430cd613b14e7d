#include "runtime/fork_word.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "runtime/process_info.hpp"
#include "support/forked_child.hpp"

namespace holdfast::runtime {
namespace {

using test::holds_in_child;

TEST(ForkWord, StaysTheSameWithinAProcess) {
  const std::uint64_t first = ForkWord::enter();
  EXPECT_NE(first, 0u);
  EXPECT_EQ(ForkWord::enter(), first);
  EXPECT_TRUE(ForkWord::is_current(first));
  EXPECT_FALSE(ForkWord::is_current(first + 1));
  EXPECT_FALSE(ForkWord::is_current(0));
}

TEST(ForkWord, IsNotCurrentInAChild_F023) {
  const std::uint64_t mine = ForkWord::enter();
  EXPECT_TRUE(
      holds_in_child([mine] { return !ForkWord::is_current(mine) && !ForkWord::is_current(0); }));
  EXPECT_TRUE(ForkWord::is_current(mine));
}

TEST(ForkWord, GivesAChildAGenerationOfItsOwn) {
  const std::uint64_t mine = ForkWord::enter();
  EXPECT_TRUE(holds_in_child([mine] {
    const std::uint64_t own = ForkWord::enter();
    const bool child_is_right =
        own > mine && ForkWord::is_current(own) && !ForkWord::is_current(mine);
    const bool grandchild_is_right = holds_in_child([mine, own] {
      const std::uint64_t third = ForkWord::enter();
      return third > own && ForkWord::is_current(third) && !ForkWord::is_current(own) &&
             !ForkWord::is_current(mine);
    });
    return child_is_right && grandchild_is_right && ForkWord::is_current(own);
  }));
  EXPECT_EQ(ForkWord::enter(), mine);
}

// pthread_atfork handlers do not run here.
TEST(ForkWord, NoticesAChildThatTheLibraryDidNotMake_F023) {
  const std::uint64_t mine = ForkWord::enter();
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child == 0) _exit(ForkWord::is_current(mine) ? 1 : 0);
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ForkWord, IsTheSameForAllThreads) {
  std::vector<std::uint64_t> seen(4);
  std::vector<std::thread> threads;
  for (auto& each : seen) threads.emplace_back([&each] { each = ForkWord::enter(); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set(seen.begin(), seen.end()), std::set{ForkWord::enter()});
}

TEST(ProcessInfo, NamesThisProcessAndNotItsParent) {
  const ProcessInfo mine = this_process();
  EXPECT_FALSE(mine.host.empty());
  EXPECT_FALSE(mine.program.empty());
  EXPECT_EQ(mine.program.find('/'), std::string::npos);
  EXPECT_EQ(mine.pid, getpid());
  EXPECT_TRUE(holds_in_child([&mine] { return this_process().pid != mine.pid; }));
}

}  // namespace
}  // namespace holdfast::runtime
