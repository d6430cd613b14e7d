// holdfast run as a user meets it: exit codes, arguments, environment, status.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Run : public CliTest {};

TEST_F(Run, ReturnsTheExitCodeOfItsCommand) {
  EXPECT_EQ(done({"run", "a", "--", "true"}).exit_code(), 0);
  EXPECT_EQ(done({"run", "a", "--", "sh", "-c", "exit 7"}).exit_code(), 7);
  EXPECT_EQ(done({"run", "a", "--", "sh", "-c", "exit 255"}).exit_code(), 255);
}

TEST_F(Run, ReturnsThe128AndTheSignalThatKilledIt) {
  EXPECT_EQ(done({"run", "a", "--", "sh", "-c", "kill -TERM $$"}).exit_code(), 128 + SIGTERM);
  EXPECT_EQ(done({"run", "a", "--", "sh", "-c", "kill -KILL $$"}).exit_code(), 128 + SIGKILL);
}

TEST_F(Run, TellsACommandThatIsNotThereFromOneThatCannotBeExecuted) {
  Spawned missing = done({"run", "a", "--", "no-such-command-anywhere"});
  EXPECT_EQ(missing.exit_code(), 127);
  EXPECT_THAT(missing.err(), HasSubstr("no-such-command-anywhere"));
  EXPECT_EQ(done({"run", "a", "--", "/etc/passwd"}).exit_code(), 126);
  EXPECT_EQ(done({"run", "a", "--", folder_.string()}).exit_code(), 126);
  EXPECT_EQ(fence_of("a"), 0u) << "and lets go of the lock";
}

TEST_F(Run, LeavesTheOptionsOfTheCommandAlone) {
  Spawned program =
      done({"run", "a", "-w", "5s", "--", "printf", "%s|", "-n", "--help", "--", "-w", ""});
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_EQ(program.out(), "-n|--help|--|-w||");
}

TEST_F(Run, RunsAStringByTheShell) {
  Spawned program = done({"run", "-c", "echo $((6*7)); exit 3", "a"});
  EXPECT_EQ(program.exit_code(), 3);
  EXPECT_EQ(program.out(), "42\n");
  EXPECT_EQ(done({"run", "-c", "true", "a", "--", "true"}).exit_code(), 64);
}

TEST_F(Run, SaysNothingWhenAllIsWell) {
  Spawned program = done({"run", "a", "--", "sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(program.out(), "out\n");
  EXPECT_EQ(program.err(), "err\n");
}

TEST_F(Run, TellsTheCommandAboutItsLock) {
  Spawned program =
      done({"run", "-l", "12s", "jobs/nightly", "--", "sh", "-c",
            "echo $HOLDFAST_HELD $HOLDFAST_LOCK $HOLDFAST_MODE $HOLDFAST_LEASE_MS; "
            "echo $HOLDFAST_STORE; echo $HOLDFAST_FENCE $HOLDFAST_OWNER; " HOLDFAST_PROGRAM
            " show --json $HOLDFAST_LOCK"});
  ASSERT_EQ(program.exit_code(), 0) << program.err();
  std::istringstream lines(program.out());
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "1 jobs/nightly exclusive 12000");
  std::getline(lines, line);
  EXPECT_EQ(line, url());
  std::getline(lines, line);
  std::string show;
  std::getline(lines, show);
  const json holder = json::parse(show)["holders"][0];
  EXPECT_EQ(line, std::to_string(holder["fence"].get<std::uint64_t>()) + " " +
                      holder["owner"].get<std::string>());
}

TEST_F(Run, GivesGreaterFencesOneAfterTheOther) {
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t fence = std::stoull(done({"run", "-c", "echo $HOLDFAST_FENCE", "a"}).out());
    EXPECT_GT(fence, last);
    last = fence;
  }
}

TEST_F(Run, OnlyOneAtATime) {
  const std::string script =
      "test -e $D/inside && echo overlap >> $D/overlaps; touch $D/inside; sleep 0.02; "
      "echo x >> $D/count; rm $D/inside";
  std::vector<Spawned> programs;
  for (int i = 0; i < 6; ++i) programs.push_back(start_script({"a"}, script));
  for (Spawned& program : programs) EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_EQ(content_of(file("count")), "x\nx\nx\nx\nx\nx\n");
  EXPECT_FALSE(std::filesystem::exists(file("overlaps")));
}

TEST_F(Run, ExitsWith75AndNamesTheHolderWhenItIsBusy) {
  Spawned holder = start_script({"-m", "nightly invoices", "a"}, "echo > $D/in; sleep 60");
  ASSERT_TRUE(written("in"));
  Spawned busy = done({"run", "-n", "a", "--", "touch", file("ran").string()});
  EXPECT_EQ(busy.exit_code(), 75);
  EXPECT_THAT(busy.err(), HasSubstr("busy: a is held"));
  EXPECT_THAT(busy.err(), HasSubstr("pid " + std::to_string(holder.pid())));
  EXPECT_THAT(busy.err(), HasSubstr("nightly invoices"));
  EXPECT_THAT(busy.err(), HasSubstr("--fence " + std::to_string(fence_of("a"))));
  EXPECT_EQ(done({"run", "-w", "0", "a", "--", "true"}).exit_code(), 75);
  EXPECT_EQ(done({"run", "-w", "300ms", "a", "--", "true"}).exit_code(), 75);
  EXPECT_EQ(done({"run", "-n", "-E", "9", "a", "--", "true"}).exit_code(), 9);
  Spawned quiet = done({"run", "-q", "-n", "a", "--", "true"});
  EXPECT_EQ(quiet.exit_code(), 75);
  EXPECT_EQ(quiet.err(), "");
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(Run, WritesItsStatusToADescriptor) {
  const auto status_of = [&](Words words, int code) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    Spawned::Setup how = setup();
    how.inherited = ends[1];
    words.insert(words.begin(), {"run", "--status-fd", "3"});
    Spawned program = start(words, how);
    close(ends[1]);
    EXPECT_EQ(program.exit_code(), code);
    char text[4096];
    const ssize_t length = read(ends[0], text, sizeof text);
    close(ends[0]);
    const std::string line(text, length > 0 ? static_cast<std::size_t>(length) : 0);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    return json::parse(line);
  };
  const json own_75 = status_of({"a", "--", "sh", "-c", "exit 75"}, 75);
  EXPECT_EQ(own_75["outcome"], "exited");
  EXPECT_EQ(own_75["exit"], 75);
  EXPECT_GT(own_75["fence"].get<std::uint64_t>(), 0u);
  EXPECT_EQ(own_75["schema"], 1);
  EXPECT_EQ(status_of({"a", "--", "no-such-command"}, 127)["outcome"], "not_started");

  Spawned holder = start_script({"a"}, "echo > $D/in; sleep 60");
  ASSERT_TRUE(written("in"));
  const json busy = status_of({"-n", "a", "--", "sh", "-c", "exit 75"}, 75);
  EXPECT_EQ(busy["outcome"], "busy");
  EXPECT_TRUE(busy["exit"].is_null());
}

TEST_F(Run, SaysItAllAsJsonIfAsked) {
  Spawned program = done({"run", "--json", "-v", "a", "--", "true"});
  std::istringstream lines(program.err());
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line)["event"]);
  EXPECT_THAT(events, testing::ElementsAre("acquired", "released", "end"));
}

TEST_F(Run, DryRunSaysWhatWouldHappenAndChangesNothing) {
  Spawned free = done({"run", "--dry-run", "a", "--", "touch", file("ran").string()});
  EXPECT_EQ(free.exit_code(), 0);
  EXPECT_THAT(free.out(), HasSubstr("would run"));

  Spawned holder = start_script({"a"}, "echo > $D/in; sleep 60");
  ASSERT_TRUE(written("in"));
  const auto fence = fence_of("a");
  EXPECT_THAT(done({"run", "--dry-run", "a", "--", "true"}).out(),
              HasSubstr("would wait behind 1"));
  Spawned busy = done({"run", "--dry-run", "-n", "a", "--", "touch", file("ran").string()});
  EXPECT_EQ(busy.exit_code(), 0);
  EXPECT_THAT(busy.out(), HasSubstr("would exit 75"));
  EXPECT_THAT(busy.out(), HasSubstr("pid " + std::to_string(holder.pid())));
  EXPECT_EQ(json::parse(done({"run", "--dry-run", "--json", "a", "--", "true"}).out())["behind"],
            1);
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
  EXPECT_EQ(fence_of("a"), fence);
  EXPECT_TRUE(waiting("a", 0));
}

TEST_F(Run, KeepsHoldingForProcessesThatTheCommandLeftInItsGroup) {
  Spawned first = start_script(
      {"a"},
      "(echo > $D/left; while ! test -e $D/go; do sleep 0.01; done; echo > $D/late) & exit 4");
  ASSERT_TRUE(written("left"));
  ASSERT_TRUE(eventually([&] { return first.err().find("left behind") != std::string::npos; }))
      << first.err();
  EXPECT_EQ(done({"run", "-n", "a", "--", "true"}).exit_code(), 75);
  std::ofstream(file("go")) << "\n";
  EXPECT_EQ(first.exit_code(), 4);
  EXPECT_TRUE(std::filesystem::exists(file("late")));
}

TEST_F(Run, LetsADaemonGoThatMadeASessionOfItsOwn) {
  Spawned program =
      start_script({"a"},
                   "setsid sh -c 'echo $$ > $D/daemon; exec sleep 60' > /dev/null 2>&1 & "
                   "while ! test -s $D/daemon; do sleep 0.01; done");
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  const pid_t daemon = pid_in("daemon");
  EXPECT_TRUE(is_alive(daemon));
  EXPECT_EQ(done({"run", "-n", "a", "--", "true"}).exit_code(), 0);
  kill(daemon, SIGKILL);
}

}  // namespace
}  // namespace holdfast::cli_tests
