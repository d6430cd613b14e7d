// Standing in line, and signals.
#include <csignal>

#include <nlohmann/json.hpp>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class Line : public CliTest {
 protected:
  Spawned hold(const Words& options = {}) {
    Words words = options;
    words.push_back("a");
    Spawned first = holder(words, "held");
    EXPECT_TRUE(written("held"));
    return first;
  }
  void let_go() const { CliTest::let_go("held"); }
};

TEST_F(Line, TheWaiterGetsTheLockWhenTheFirstIsDone) {
  Spawned holder = hold();
  Spawned waiter = start({"run", "a", "--", "echo", "mine"});
  ASSERT_TRUE(waiting("a", 1));
  EXPECT_EQ(waiter.out(), "");
  let_go();
  EXPECT_EQ(holder.exit_code(), 0);
  EXPECT_EQ(waiter.exit_code(), 0);
  EXPECT_EQ(waiter.out(), "mine\n");
}

TEST_F(Line, SignalsWhileWaitingLeaveTheLineAtOnce_F025) {
  Spawned holder = hold();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Spawned waiter = start({"run", "a", "--", "true"});
    ASSERT_TRUE(waiting("a", 1));
    waiter.signal(signal);
    EXPECT_EQ(waiter.exit_code(1500ms), 128 + signal) << "sooner than if the store did not answer";
    EXPECT_TRUE(waiting("a", 0)) << "nothing stays behind";
  }
}

TEST_F(Line, TellsAfterASecondWhoIsInFront) {
  Spawned holder = hold({"-m", "long \x1b[31mwork"});
  Spawned waiter = start({"run", "-w", "20s", "a", "--", "true"});
  ASSERT_TRUE(eventually([&] { return waiter.err().ends_with("\n"); }));
  EXPECT_THAT(waiter.err(), HasSubstr("1st of 1"));
  EXPECT_THAT(waiter.err(), HasSubstr("pid " + std::to_string(holder.pid())));
  EXPECT_THAT(waiter.err(), HasSubstr("long \\x1b[31mwork"));
  EXPECT_THAT(waiter.err(), HasSubstr("of 00:20"));
  EXPECT_THAT(waiter.err(), Not(HasSubstr("\x1b"))) << "no escapes off a terminal";
  let_go();
  EXPECT_EQ(waiter.exit_code(), 0);
}

TEST_F(Line, SaysWhereItStoodWhenTimeIsOver) {
  Spawned holder = hold();
  Spawned first = start({"run", "--fifo", "a", "--", "true"});
  ASSERT_TRUE(waiting("a", 1));
  Spawned second = done({"run", "--fifo", "-w", "1500ms", "a", "--", "true"});
  EXPECT_EQ(second.exit_code(), 75);
  EXPECT_THAT(second.err(), HasSubstr("not acquired within 1.5s"));
  EXPECT_THAT(second.err(), HasSubstr("you were 2nd of 2"));
  let_go();
  EXPECT_EQ(first.exit_code(), 0);
}

TEST_F(Line, SignalsReachTheCommandAndNotJustUs_F025) {
  Spawned program = start_script({"a"},
                                 "trap 'echo hup >> $D/got' HUP; trap 'echo usr1 >> $D/got' USR1; "
                                 "trap 'echo usr2 >> $D/got' USR2; trap 'echo int >> $D/got' INT; "
                                 "trap 'echo quit >> $D/got' QUIT; trap 'exit 42' TERM; "
                                 "echo > $D/in; while :; do sleep 0.01; done");
  ASSERT_TRUE(written("in"));
  std::string expected;
  const std::vector<std::pair<int, std::string>> passed_on{{SIGHUP, "hup\n"},
                                                           {SIGUSR1, "usr1\n"},
                                                           {SIGUSR2, "usr2\n"},
                                                           {SIGINT, "int\n"},
                                                           {SIGQUIT, "quit\n"}};
  for (const auto& [signal, name] : passed_on) {
    program.signal(signal);
    expected += name;
    EXPECT_TRUE(eventually([&] { return content_of(file("got")) == expected; }, 10s))
        << name << content_of(file("got"));
  }
  program.signal(SIGTERM);
  EXPECT_EQ(program.exit_code(), 42);
}

TEST_F(Line, ASignalReachesTheWholeGroupOfTheCommand_F025) {
  Spawned program =
      start_script({"a"}, "sh -c 'echo $$ > $D/child; exec sleep 60' & echo > $D/in; wait");
  ASSERT_TRUE(written("in"));
  ASSERT_TRUE(written("child"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.exit_code(), 128 + SIGTERM);
  EXPECT_FALSE(is_alive(pid_in("child")));
}

// Until the last of the group is gone, though the command itself has obeyed.
TEST_F(Line, TheLockIsKeptWhileTheCommandTakesItsTimeToEnd_F025) {
  Spawned program = start_script(
      {"a"},
      "sh -c 'trap \"\" TERM; echo > $D/child; while ! test -e $D/child.end; do sleep 0.01; done' "
      "& "
      "trap 'echo > $D/told; while ! test -e $D/job.end; do sleep 0.01; done; exit 42' TERM; "
      "echo > $D/in; while :; do sleep 0.01; done");
  ASSERT_TRUE(written("child"));
  ASSERT_TRUE(written("in"));
  const std::uint64_t fence = fence_of("a");
  program.signal(SIGTERM);
  ASSERT_TRUE(written("told"));
  EXPECT_EQ(done({"run", "-n", "a", "--", "true"}).exit_code(), 75);
  CliTest::let_go("job");
  // As long as its child runs.
  EXPECT_FALSE(eventually([&] { return !program.running(); }, 300ms));
  EXPECT_EQ(fence_of("a"), fence);
  CliTest::let_go("child");
  EXPECT_EQ(program.exit_code(), 42);
  EXPECT_EQ(fence_of("a"), 0U);
}

TEST_F(Line, WhatNohupIgnoresStaysIgnored) {
  Spawned holder = hold();
  Spawned::Setup how = setup();
  how.ignore_hup = true;
  Spawned waiter = start({"run", "a", "--", "sh", "-c", "kill -HUP $$; exit 5"}, how);
  ASSERT_TRUE(waiting("a", 1));
  waiter.signal(SIGHUP);
  EXPECT_FALSE(eventually([&] { return !waiter.running(); }, 300ms));
  let_go();
  EXPECT_EQ(waiter.exit_code(), 5) << "by the command, too";
}

}  // namespace
}  // namespace holdfast::cli_tests
