// What is left when somebody is killed, and when the lock is lost.
#include <csignal>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using testing::HasSubstr;

// A job with a child in its group, and one that made a session of its own: all ignore what can be
// ignored.
constexpr const char* kFamily =
    "trap '' TERM INT HUP; "
    "setsid sh -c 'trap \"\" TERM HUP; echo $$ > $D/far; while :; do sleep 0.05; done' & "
    "sh -c 'trap \"\" TERM; echo $$ > $D/near; while :; do sleep 0.05; done' & "
    "echo $$ > $D/job; while :; do sleep 0.05; done";

class Deaths : public CliTest {
 protected:
  Spawned start_family(const Words& options) {
    Words words = options;
    words.push_back("a");
    Spawned program = start_script(words, kFamily);
    EXPECT_TRUE(written("far"));
    EXPECT_TRUE(written("near"));
    EXPECT_TRUE(written("job"));
    return program;
  }

  std::vector<pid_t> family() const { return {pid_in("far"), pid_in("near"), pid_in("job")}; }

  bool all_dead() const {
    for (const pid_t pid : family()) {
      if (is_alive(pid)) return false;
    }
    return true;
  }

  // Says who of the family was still there when it got the lock.
  Spawned start_heir() {
    std::string check = "for p in";
    for (const pid_t pid : family()) check += " " + std::to_string(pid);
    check +=
        "; do s=$(cut -d' ' -f3 /proc/$p/stat 2>/dev/null); "
        "case $s in ''|Z|X) ;; *) echo $p $s alive >> $D/early;; esac; done; echo > $D/heir";
    Spawned heir = start_script({"a"}, check);
    EXPECT_TRUE(waiting("a", 1));
    return heir;
  }
};

TEST_F(Deaths, KillingRunEndsItsWholeJobBeforeTheLockIsPassedOn_F028) {
  Spawned program = start_family({"-l", "30s"});
  Spawned heir = start_heir();
  const auto start = std::chrono::steady_clock::now();
  program.signal(SIGKILL);
  EXPECT_EQ(heir.exit_code(), 0) << heir.err();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s) << "the lease was not waited for";
  EXPECT_EQ(content_of(file("early")), "") << "somebody worked on while another had the lock";
  EXPECT_TRUE(all_dead());
}

// Both are killed, so nobody is left to end the orphans; but they have inherited the lifeline.
TEST_F(Deaths, NobodyGetsTheLockEarlyWhileOrphansOfTheJobLive) {
  Spawned program = start_family({"-l", "60s"});
  Spawned heir = start_heir();
  const pid_t guardian = guardian_of(program.pid());
  ASSERT_GT(guardian, 0);
  program.signal(SIGSTOP);
  kill(guardian, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !is_alive(pid_in("job")); }));
  program.signal(SIGKILL);
  EXPECT_FALSE(eventually([&] { return !heir.running(); }, 1s));
  ASSERT_TRUE(is_alive(pid_in("far")) && is_alive(pid_in("near")));
  kill(pid_in("far"), SIGKILL);
  kill(pid_in("near"), SIGKILL);
  EXPECT_EQ(heir.exit_code(20s), 0) << "the lease was not waited for";
  EXPECT_EQ(content_of(file("early")), "");
}

TEST_F(Deaths, TheKernelEndsTheCommandWithItsGuardian) {
  Spawned program = start_family({"-l", "60s"});
  const pid_t guardian = guardian_of(program.pid());
  ASSERT_GT(guardian, 0);
  program.signal(SIGSTOP);  // it cannot help
  kill(guardian, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(pid_in("job")); }));
  program.signal(SIGCONT);
  EXPECT_EQ(program.exit_code(), 71);
  EXPECT_TRUE(all_dead());
}

TEST_F(Deaths, KillingTheProcessGroupOfRunDoesNotSpareTheJob) {
  Spawned program = start_family({"-l", "30s"});
  kill(-program.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return all_dead(); }));
}

TEST_F(Deaths, KillingTheGuardianEndsTheJobAndIsToldByTheExitCode) {
  Spawned program = start_family({});
  const pid_t guardian = guardian_of(program.pid());
  ASSERT_GT(guardian, 0);
  kill(guardian, SIGKILL);
  EXPECT_EQ(program.exit_code(), 71);
  EXPECT_THAT(program.err(), HasSubstr("guardian"));
  EXPECT_TRUE(all_dead());
  EXPECT_EQ(fence_of("a"), 0u);
}

TEST_F(Deaths, ARevokedLockEndsTheJobWith80_F146) {
  Spawned program = start_family({"-l", "2s", "--grace", "300ms"});
  Spawned release =
      done({"release", "a", "--fence", std::to_string(fence_of("a")), "--reason", "test"});
  EXPECT_EQ(release.exit_code(), 0) << release.err();
  EXPECT_EQ(program.exit_code(), 80);
  EXPECT_THAT(program.err(), HasSubstr("lost"));
  EXPECT_TRUE(all_dead()) << "also those that ignore SIGTERM or left the group";
}

TEST_F(Deaths, AFreedLockEndsTheJobWith80_F146) {
  Spawned program = start_script({"-l", "6s", "a"},
                                 "trap 'echo > $D/term; exit 3' TERM; "
                                 "echo > $D/in; while :; do sleep 0.02; done");
  ASSERT_TRUE(written("in"));
  const std::string fence = std::to_string(fence_of("a"));
  EXPECT_EQ(done({"release", "--now", "a", "--fence", fence, "--reason", "x"}).exit_code(), 0);
  EXPECT_EQ(program.exit_code(4500ms), 80) << "at the next renewal, not at the end of the lease";
  EXPECT_TRUE(written("term")) << "it was asked to end before it was killed";
}

TEST_F(Deaths, LossReachesAStoppedJob_F146) {
  Spawned program = start_script({"-l", "4s", "--no-renew", "--grace", "2s", "a"},
                                 "trap 'echo > $D/term; exit 3' TERM; kill -STOP $$; "
                                 "while :; do sleep 0.02; done");
  EXPECT_EQ(program.exit_code(), 80);
  EXPECT_TRUE(written("term"));
}

TEST_F(Deaths, LossSparesNobodyThoughTheCommandObeys_F146) {
  Spawned program = start_script(
      {"-l", "4s", "--no-renew", "--grace", "2s", "a"},
      "setsid sh -c 'trap \"\" TERM; echo $$ > $D/far; while :; do sleep 0.05; done' & sleep 60");
  EXPECT_EQ(program.exit_code(), 80);
  EXPECT_FALSE(is_alive(pid_in("far")));
}

TEST_F(Deaths, TheSignalOnLossCanBeChosen_F146) {
  Spawned program =
      start_script({"-l", "1s", "--no-renew", "--on-lost", "USR1", "a"},
                   "trap 'echo > $D/usr1; exit 3' USR1; while :; do sleep 0.02; done");
  EXPECT_EQ(program.exit_code(), 80);
  EXPECT_TRUE(written("usr1"));
}

TEST_F(Deaths, LossCanBeIgnored_F146) {
  Spawned program = start_script({"-l", "500ms", "--no-renew", "--on-lost", "ignore", "a"},
                                 "while ! test -e $D/go; do sleep 0.02; done; exit 5");
  ASSERT_TRUE(eventually([&] { return program.err().find("goes on") != std::string::npos; }));
  std::ofstream(file("go")) << "\n";
  EXPECT_EQ(program.exit_code(), 5);
}

TEST_F(Deaths, AStoppedRunDoesNotKeepItsJobFromEndingAtTheEndOfTheLease_F146) {
  Spawned program = start_family({"-l", "1s", "--grace", "200ms"});
  program.signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return all_dead(); })) << "the guardian sees to it";
  EXPECT_TRUE(program.running());
  program.signal(SIGCONT);
  EXPECT_EQ(program.exit_code(), 80);
}

TEST_F(Deaths, ARunThatRenewsOutlivesItsLease) {
  Spawned program = start_script({"-l", "1200ms", "a"}, "sleep 3; exit 6");
  EXPECT_EQ(program.exit_code(), 6) << program.err();
}

}  // namespace
}  // namespace holdfast::cli_tests
