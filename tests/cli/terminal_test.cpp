// On a terminal: the waiting line, ^C, ^Z, and who may read the keys.
#include <csignal>

#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using testing::HasSubstr;

// The program as the leader of a session on a terminal of its own. A shell's part (waiting for it to
// stop and continuing it) is the test's.
class OnTerminal : public CliTest {
 protected:
  void start_on_terminal(const Words& words) {
    Words all{HOLDFAST_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    Spawned::Setup how = setup();
    how.environment.push_back("TERM=xterm");
    winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
    // The session's leader, a "shell" that stays, starts the program in a foreground group.
    shell_ = forkpty(&terminal_, nullptr, nullptr, &size);
    ASSERT_GE(shell_, 0);
    if (shell_ == 0) act_as_shell(all, how.environment);
  }

  // Starts the program in a group in the foreground, and reports each change of its state.
  [[noreturn]] static void act_as_shell(Words& words, Words& environment) {
    for (std::string& variable : environment) putenv(variable.data());
    std::signal(SIGTTOU, SIG_IGN);
    const pid_t program = fork();
    if (program == 0) {
      setpgid(0, 0);
      tcsetpgrp(0, getpid());
      std::signal(SIGTTOU, SIG_DFL);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(99);
    }
    for (;;) {
      int status = 0;
      if (waitpid(program, &status, WUNTRACED) < 0) _exit(98);
      tcsetpgrp(0, getpgrp());
      if (!WIFSTOPPED(status)) {
        dprintf(1, "[ended %d]\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
        _exit(0);
      }
      dprintf(1, "[stopped]\n");
      char line[16];
      if (read(0, line, sizeof line) <= 0) _exit(97);  // Enter is fg
      tcsetpgrp(0, program);
      kill(-program, SIGCONT);
    }
  }

  void TearDown() override {
    if (shell_ > 0) {
      kill(shell_, SIGKILL);
      waitpid(shell_, nullptr, 0);
      close(terminal_);
    }
    CliTest::TearDown();
  }

  void type(const std::string& keys) {
    EXPECT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  // Until the screen has shown that text.
  testing::AssertionResult appears(const std::string& text) {
    const bool there = eventually([&] {
      char piece[1024];
      timeval none{0, 1000};
      fd_set files;
      FD_ZERO(&files);
      FD_SET(terminal_, &files);
      if (select(terminal_ + 1, &files, nullptr, nullptr, &none) == 1) {
        const ssize_t length = read(terminal_, piece, sizeof piece);
        if (length > 0) screen_.append(piece, static_cast<std::size_t>(length));
      }
      return screen_.find(text) != std::string::npos;
    });
    if (there) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no \"" << text << "\" on the screen:\n" << screen_;
  }

  pid_t shell_ = 0;
  int terminal_ = -1;
  std::string screen_;
};

TEST_F(OnTerminal, TheCommandReadsTheKeysAndTheTerminalComesBack) {
  start_on_terminal({"run", "a", "--", "sh", "-c", "echo ready; read x; echo got:$x; exit 5"});
  ASSERT_TRUE(appears("ready"));
  type("word\n");
  EXPECT_TRUE(appears("got:word"));
  EXPECT_TRUE(appears("[ended 5]"));
}

TEST_F(OnTerminal, TheCommandBeginsInTheForeground) {
  start_on_terminal({"run", "a", "--", "sh", "-c",
                     "set -- $(cat /proc/self/stat); [ $5 = $8 ] && echo in front || echo behind"});
  EXPECT_TRUE(appears("in front"));
}

TEST_F(OnTerminal, InterruptReachesTheCommand_F025) {
  start_on_terminal({"run", "a", "--", "sh", "-c",
                     "trap 'exit 9' INT; echo ready; while :; do sleep 0.02; done"});
  ASSERT_TRUE(appears("ready"));
  type("\x03");
  EXPECT_TRUE(appears("[ended 9]"));
}

TEST_F(OnTerminal, InterruptWhileWaitingIs130_F025) {
  Spawned holder = start_script({"a"}, "echo > $D/in; sleep 60");
  ASSERT_TRUE(written("in"));
  start_on_terminal({"run", "a", "--", "true"});
  ASSERT_TRUE(appears("\r\x1b[K"));
  ASSERT_TRUE(appears("1st of 1"));
  type("\x03");
  EXPECT_TRUE(appears("[ended 130]"));
  EXPECT_TRUE(waiting("a", 0));
}

TEST_F(OnTerminal, TheWaitingLineFitsTheTerminal) {
  Spawned holder = start_script({"-m", std::string(200, 'm'), "a"}, "echo > $D/in; sleep 60");
  ASSERT_TRUE(written("in"));
  start_on_terminal({"run", "-w", "1500ms", "a", "--", "true"});
  ASSERT_TRUE(appears("[ended 75]"));
  const std::size_t line = screen_.find("1st of 1");
  ASSERT_NE(line, std::string::npos);
  const std::size_t begin = screen_.rfind("\x1b[K", line);
  const std::size_t end = screen_.find('\r', line);
  EXPECT_LE(end - begin, 60u + 20u) << "a few characters have several bytes";
}

TEST_F(OnTerminal, StopAndForegroundAgain) {
  start_on_terminal({"run", "a", "--", "sh", "-c", "echo ready; read x; echo got:$x; exit 6"});
  ASSERT_TRUE(appears("ready"));
  type("\x1a");
  ASSERT_TRUE(appears("[stopped]"));
  type("\n");
  type("again\n");
  EXPECT_TRUE(appears("got:again"));
  EXPECT_TRUE(appears("[ended 6]"));
}

}  // namespace
}  // namespace holdfast::cli_tests
