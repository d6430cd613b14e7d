// Commands that look at locks.
#include <csignal>

#include <nlohmann/json.hpp>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Inspect : public CliTest {
 protected:
  Spawned hold(const std::string& name, const std::string& mark) {
    Spawned holder = start(
        {"run", "-m", "why \x1b[31m", name, "--", "sh", "-c", "echo > $D/" + mark + "; sleep 60"});
    EXPECT_TRUE(written(mark));
    return holder;
  }
};

TEST_F(Inspect, ListsLocksForPeopleAndMachines) {
  EXPECT_EQ(done({"ls", "--json"}).out(), "[]\n");
  EXPECT_EQ(done({"ls", "--exit-code"}).exit_code(), 1);
  Spawned one = hold("shop/1", "in1");
  Spawned two = hold("cellar/2", "in2");
  Spawned table = done({"ls"});
  EXPECT_EQ(table.exit_code(), 0);
  EXPECT_THAT(table.out(), testing::StartsWith("NAME "));
  EXPECT_THAT(table.out(), HasSubstr("shop/1"));
  EXPECT_THAT(done({"ls", "shop/*"}).out(), Not(HasSubstr("cellar/2")));
  EXPECT_EQ(done({"ls", "--exit-code", "nothing*"}).exit_code(), 1);
  EXPECT_EQ(done({"ls", "--jsonl", "--waiting"}).out(), "");

  const json locks = json::parse(done({"ls", "--json", "--held"}).out());
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_EQ(locks[0]["name"], "cellar/2");
  EXPECT_EQ(locks[1]["schema"], 1);
  EXPECT_EQ(locks[1]["holders"][0]["pid"], one.pid());
  EXPECT_THAT(locks[1]["holders"][0]["since"].get<std::string>(),
              testing::MatchesRegex("[0-9-]+T[0-9:.]+Z"));
  EXPECT_GT(locks[1]["holders"][0]["lease_left"].get<double>(), 5.0);
}

TEST_F(Inspect, ShowsOneLock) {
  EXPECT_EQ(done({"show", "a"}).exit_code(), 1);
  Spawned holder = hold("a", "in");
  Spawned waiter = start({"run", "a", "--", "true"});
  ASSERT_TRUE(waiting("a", 1));
  Spawned text = done({"show", "a"});
  EXPECT_EQ(text.exit_code(), 0);
  EXPECT_THAT(text.out(), HasSubstr("why \\x1b[31m"));
  EXPECT_THAT(text.out(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text.out(), HasSubstr("1 waiting"));
  EXPECT_THAT(text.out(), HasSubstr("pid " + std::to_string(waiter.pid())));
}

TEST_F(Inspect, NamesWithWildcardsMeanThemselves) {
  Spawned star = hold("a*", "in1");
  Spawned plain = hold("ab", "in2");
  EXPECT_EQ(json::parse(done({"show", "--json", "a*"}).out())["holders"][0]["pid"], star.pid());
  EXPECT_EQ(done({"show", "a?"}).exit_code(), 1);
}

TEST_F(Inspect, NeverPrintsWhatANameWouldSayToATerminal_F131_F141) {
  const std::string evil =
      "\x1b]0;owned\x07\n\x9b"
      "31m\xff";
  Spawned holder = hold(evil, "in");
  for (const Words& words :
       {Words{"ls"}, Words{"ls", "--json"}, Words{"show", evil}, Words{"show", "--json", evil},
        Words{"name", evil}, Words{"run", "-n", evil, "--", "true"},
        Words{"run", "--dry-run", evil, "--", "true"},
        Words{"run", "-n", "--json", evil, "--", "true"}}) {
    Spawned program = done(words);
    for (const char c : program.out() + program.err()) {
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c != 0x7f)) << words[0] << " printed byte " << int(c);
    }
  }
  const json lock = json::parse(done({"ls", "--json"}).out())[0];
  EXPECT_EQ(lock["name_hex"], "1b5d303b6f776e6564070a9b33316dff") << "the exact name for machines";
}

TEST_F(Inspect, ReleaseNeedsTheFenceThatHolds_F145) {
  Spawned holder = hold("a", "in");
  const std::uint64_t fence = fence_of("a");
  Spawned wrong = done({"release", "a", "--fence", std::to_string(fence + 1), "--reason", "x"});
  EXPECT_EQ(wrong.exit_code(), 1);
  EXPECT_EQ(fence_of("a"), fence);
  EXPECT_EQ(done({"release", "a", "--fence", std::to_string(fence)}).exit_code(), 64);
  EXPECT_EQ(done({"release", "a", "--reason", "x"}).exit_code(), 64);
  EXPECT_EQ(done({"release", "a", "--fence", "0", "--reason", "x"}).exit_code(), 65);
  EXPECT_TRUE(holder.running());

  Spawned right =
      done({"release", "--now", "a", "--fence", std::to_string(fence), "--reason", "stuck"});
  EXPECT_EQ(right.exit_code(), 0);
  EXPECT_THAT(right.out(), HasSubstr("freed a fence " + std::to_string(fence)));
  EXPECT_THAT(right.out(), HasSubstr("stuck"));
  EXPECT_EQ(fence_of("a"), 0u);
}

TEST_F(Inspect, DoctorMeasuresAndSuggestsALease) {
  Spawned text = done({"doctor"});
  EXPECT_EQ(text.exit_code(), 0) << text.err();
  EXPECT_THAT(text.out(), HasSubstr("a lease of"));
  const json report = json::parse(done({"doctor", "--json", url()}).out());
  EXPECT_GT(report["round_trip_median"].get<double>(), 0.0);
  EXPECT_GE(report["suggested_lease"].get<double>(), 1.0);
  EXPECT_EQ(done({"ls", "--json"}).out(), "[]\n") << "it leaves nothing behind";
}

TEST_F(Inspect, CompletesCommandsOptionsAndLiveNames) {
  Spawned holder = hold("shop/17", "in");
  EXPECT_THAT(done({"__complete", "--", "r"}).out(), HasSubstr("run\n"));
  EXPECT_THAT(done({"__complete", "--", "r"}).out(), Not(HasSubstr("__guard")));
  EXPECT_THAT(done({"__complete", "--", "run", "--no"}).out(), HasSubstr("--nonblock\n"));
  EXPECT_EQ(done({"__complete", "--", "show", "sh"}).out(), "shop/17\n");
  EXPECT_EQ(done({"__complete", "--", "show", "x"}).out(), "");
  Spawned script = done({"completion", "bash"});
  EXPECT_THAT(script.out(), HasSubstr("complete -F _holdfast holdfast"));
}

TEST_F(Inspect, VersionAndHelp) {
  EXPECT_EQ(json::parse(done({"version", "--json"}).out())["schema"], 1);
  for (const char* topic : {"EXITCODES", "urls", "SAFETY", "run", "ls"}) {
    EXPECT_EQ(done({"help", topic}).exit_code(), 0) << topic;
  }
  EXPECT_EQ(done({"help", "nonsense"}).exit_code(), 64);
  EXPECT_EQ(done({}).exit_code(), 64);
}

}  // namespace
}  // namespace holdfast::cli_tests
