#include "cli/arguments.hpp"

#include "cli/refusal.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace holdfast::cli {
namespace {

using testing::ElementsAre;

const std::vector<Option> kOptions{
    {'n', "nonblock", "", ""}, {'w', "wait", "DUR", ""}, {'\0', "on-lost", "WHAT", ""}};

Arguments parse(const std::vector<std::string>& words, AfterDashes after = AfterDashes::command) {
  return Arguments::parse(kOptions, words, after);
}

TEST(Arguments, TakesValuesInEveryForm) {
  EXPECT_EQ(parse({"-w", "5s"}).value("wait"), "5s");
  EXPECT_EQ(parse({"-w5s"}).value("wait"), "5s");
  EXPECT_EQ(parse({"-nw5s"}).value("wait"), "5s");
  EXPECT_TRUE(parse({"-nw5s"}).has("nonblock"));
  EXPECT_EQ(parse({"--wait", "5s"}).value("wait"), "5s");
  EXPECT_EQ(parse({"--wait=5s"}).value("wait"), "5s");
  EXPECT_EQ(parse({"--wait="}).value("wait"), "");
  EXPECT_EQ(parse({"-w", "-1"}).value("wait"), "-1");
  EXPECT_EQ(parse({"-w", "1", "-w", "2"}).value("wait"), "2");
  EXPECT_EQ(parse({}).value("wait"), std::nullopt);
}

TEST(Arguments, OptionsMayStandBehindWords) {
  const Arguments arguments = parse({"name", "-n", "other"});
  EXPECT_TRUE(arguments.has("nonblock"));
  EXPECT_THAT(arguments.words(), ElementsAre("name", "other"));
}

TEST(Arguments, NothingBehindTwoDashesIsOurs) {
  const Arguments arguments = parse({"name", "--", "cmd", "-n", "--wait", "--", "x"});
  EXPECT_FALSE(arguments.has("nonblock"));
  EXPECT_THAT(arguments.words(), ElementsAre("name"));
  EXPECT_THAT(arguments.command(), ElementsAre("cmd", "-n", "--wait", "--", "x"));
  EXPECT_THAT(parse({"--", "-n"}, AfterDashes::words).words(), ElementsAre("-n"));
}

TEST(Arguments, ADashAloneIsAWord) { EXPECT_THAT(parse({"-"}).words(), ElementsAre("-")); }

TEST(Arguments, RefusesWhatItDoesNotKnow) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--nope"},
                                             {"-z"},
                                             {"-nz"},
                                             {"--non"},
                                             {"--nonblock=1"},
                                             {"-w"},
                                             {"--wait"},
                                             {"-w", "--", "x"},
                                             {"---"},
                                             {"--="}}) {
    EXPECT_THROW(parse(words), UsageError) << words[0];
  }
}

TEST(Arguments, SaysWhatWasMeant) {
  try {
    parse({"--nonblokc"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean --nonblock"));
  }
  try {
    parse({"name", "rm", "-rf"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("behind --"));
  }
}

}  // namespace
}  // namespace holdfast::cli
