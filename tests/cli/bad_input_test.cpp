// Input that makes no sense, and the exit code it gets.
#include <fstream>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class BadInput : public CliTest {
 protected:
  int code_of(const Words& words) {
    last_ = done(words).exit_code();
    return last_;
  }
  int run_named(const std::string& name) { return code_of({"run", name, "--", "true"}); }
  int run_with(const std::string& option, const std::string& value) {
    return code_of({"run", option, value, "a", "--", "true"});
  }
  int last_ = -1;
};

TEST_F(BadInput, NamesAreOneTo512BytesOfAnyValue_F131) {
  EXPECT_EQ(run_named(""), 65);
  EXPECT_EQ(run_named(std::string(513, 'x')), 65);
  EXPECT_EQ(run_named(std::string(512, 'x')), 0);
  EXPECT_EQ(run_named("two\nlines"), 0);
  EXPECT_EQ(run_named("\xff\xfe"), 0);
  EXPECT_EQ(run_named("../x"), 0);
  EXPECT_EQ(run_named("Robert'); DROP TABLE lock;--"), 0);
}

TEST_F(BadInput, Durations_F133) {
  for (const char* lease : {"0", "-1", "1ms", "99ms", "25h", "1000000000000000000", "5x", "", "s",
                            "1e3", "5s3m", "nan", "inf", "99999999999999999999999999"}) {
    EXPECT_EQ(run_with("--lease", lease), 65) << lease;
  }
  for (const char* wait : {"-1", "5x", "1000000000000000000", "1h1h", " 5"}) {
    EXPECT_EQ(run_with("--wait", wait), 65) << wait;
  }
  EXPECT_EQ(run_with("--grace", "soon"), 65);
  EXPECT_EQ(run_with("--grace", "16s"), 65) << "more than half of the lease";
  EXPECT_THAT(run_with("--lease", "100ms"), testing::AnyOf(0, 80)) << "a slow machine may lose it";
  EXPECT_EQ(run_with("--wait", "forever"), 0);
}

TEST_F(BadInput, Stores) {
  EXPECT_EQ(run_with("--store", "nosuch:thing"), 65);
  EXPECT_EQ(run_with("--store", "no colon"), 65);
  EXPECT_EQ(run_with("--store", ""), 65);
  EXPECT_EQ(run_with("--store", "memory:x?a"), 65);
}

TEST_F(BadInput, AStoreThatCannotBeCreated) {
  EXPECT_EQ(run_with("--store", "sqlite:/proc/nowhere/x.db"), 73);
  EXPECT_EQ(run_with("--store", "sqlite:" + file("no/such/folder/x.db").string()), 73);
  EXPECT_EQ(run_with("--store", "sqlite:" + folder_.string()), 77) << "there, but not usable";
  std::ofstream(file("home")) << "not a folder";
  Spawned::Setup how = setup();
  how.environment.push_back("HOME=" + file("home").string());
  how.environment.push_back("XDG_STATE_HOME=");
  EXPECT_EQ(start({"run", "-S", "embedded:", "a", "--", "true"}, how).exit_code(), 73);
}

TEST_F(BadInput, AFileThatIsNoStore) {
  std::ofstream(file("other.db")) << std::string(4096, 'z');
  EXPECT_EQ(run_with("--store", "sqlite:" + file("other.db").string()), 76);
}

TEST_F(BadInput, CommandLines) {
  EXPECT_EQ(code_of({"run"}), 64);
  EXPECT_EQ(code_of({"run", "a"}), 64);
  EXPECT_EQ(code_of({"run", "a", "--"}), 64);
  EXPECT_EQ(code_of({"run", "--", "true"}), 64);
  EXPECT_EQ(code_of({"run", "a", "true"}), 64);
  EXPECT_EQ(code_of({"run", "a", "rm", "-rf", "x"}), 64);
  EXPECT_EQ(code_of({"run", "-w", "--", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-n", "-w", "5s", "a", "--", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--nonblock=1", "a", "--", "true"}), 64);
  EXPECT_EQ(code_of({"--verbose"}), 64);
  EXPECT_EQ(run_with("-E", "256"), 64);
  EXPECT_EQ(run_with("-E", "x"), 64);
  EXPECT_EQ(run_with("--on-lost", "nosuch"), 64);
  EXPECT_EQ(run_with("--status-fd", "77"), 64);
  EXPECT_EQ(run_with("--color", "blue"), 64);
  EXPECT_EQ(run_with("-m", std::string(1025, 'm')), 65);
  for (const char* permits : {"", "1", "/2", "1/", "0/2", "3/2", "1/2/3", "1/2000000", "-1/2"}) {
    EXPECT_EQ(run_with("-p", permits), 64) << permits;
  }
  EXPECT_EQ(code_of({"run", "-s", "-x", "a", "--", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-s", "-u", "a", "--", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-s", "-p", "1/2", "a", "--", "true"}), 64);
  EXPECT_EQ(code_of({"show"}), 64);
  EXPECT_EQ(code_of({"show", "a", "b"}), 64);
  EXPECT_EQ(code_of({"__guard", "--", "true"}), 64);
}

TEST_F(BadInput, WhatComesLaterSaysSo) {
  Spawned program = done({"console"});
  EXPECT_EQ(program.exit_code(), 64);
  EXPECT_THAT(program.err(), HasSubstr("not there yet"));
}

TEST_F(BadInput, SuggestsWhatWasMeant) {
  Spawned option = done({"run", "--nonblok", "a", "--", "true"});
  EXPECT_EQ(option.exit_code(), 64);
  EXPECT_THAT(option.err(), HasSubstr("did you mean --nonblock"));
  Spawned command = done({"relese"});
  EXPECT_EQ(command.exit_code(), 64);
  EXPECT_THAT(command.err(), HasSubstr("did you mean \"release\""));
  Spawned evil = done({"\x1b[31m"});
  EXPECT_THAT(evil.err(), Not(HasSubstr("\x1b")));
}

TEST_F(BadInput, PasswordsAreNeverPrinted_F137) {
  const std::string secret = "hunter2";
  for (const std::string url : {"nosuch://me:hunter2@host/0", "nosuch://:hunter2@host",
                                "memory:x?password=hunter2", "sqlite://me:hunter2@host/x"}) {
    for (const Words& words :
         {Words{"run", "-S", url, "a", "--", "sh", "-c", "echo $HOLDFAST_STORE"},
          Words{"run", "-S", url, "--json", "-v", "a", "--", "true"},
          Words{"ls", "-S", url, "--json"}, Words{"doctor", url},
          Words{"run", "--dry-run", "-S", url, "a", "--", "true"}}) {
      Spawned program = done(words);
      EXPECT_THAT(program.out() + program.err(), Not(HasSubstr(secret))) << words[0] << " " << url;
    }
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
