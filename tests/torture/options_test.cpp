#include "torture/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::torture {
namespace {

using testing::HasSubstr;

TEST(TortureOptions, AreAllUnderstood) {
  const Parsed parsed =
      parse({"--store", "dir:/tmp/x", "--seed", "7", "--ops", "500", "--faults", "9", "--processes",
             "3", "--lease", "900", "--json", "--report", "out", "--bug", "ignore_lost"});
  ASSERT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.options.url, "dir:/tmp/x");
  EXPECT_EQ(parsed.options.seed, 7U);
  EXPECT_EQ(parsed.options.ops, 500U);
  EXPECT_EQ(parsed.options.faults, 9U);
  EXPECT_EQ(parsed.options.processes, 3U);
  EXPECT_EQ(parsed.options.lease, std::chrono::milliseconds(900));
  EXPECT_TRUE(parsed.options.json);
  EXPECT_EQ(parsed.options.report, "out");
  EXPECT_EQ(parsed.options.bug, "ignore_lost");
}

TEST(TortureOptions, BringAFaultForEachTwentyAcquires) {
  EXPECT_EQ(parse({"--ops", "400"}).options.faults, 20U);
  EXPECT_EQ(parse({"--ops", "400", "--faults", "0"}).options.faults, 0U);
}

TEST(TortureOptions, OfTheLineToRunItAgainMeanTheSame) {
  const Options options = parse({"--store", "dir:/tmp/x", "--seed", "7", "--ops", "500"}).options;
  EXPECT_EQ(command_line(options),
            "holdfast-torture --store 'dir:/tmp/x' --seed 7 --ops 500 --faults 25 --processes 4 "
            "--lease 600");
}

TEST(TortureOptions, ThatMakeNoSenseAreNamed) {
  EXPECT_THAT(parse({"--opps", "3"}).error, HasSubstr("--opps"));
  EXPECT_THAT(parse({"--ops"}).error, HasSubstr("--ops needs a value"));
  EXPECT_THAT(parse({"--ops", "many"}).error, HasSubstr("not \"many\""));
  EXPECT_THAT(parse({"--ops", "0"}).error, HasSubstr("from 1"));
  EXPECT_THAT(parse({"--ops", "-3"}).error, HasSubstr("not \"-3\""));
  EXPECT_THAT(parse({"--processes", "1000"}).error, HasSubstr("to 64"));
  EXPECT_THAT(parse({"--lease", "100"}).error, HasSubstr("from 300"));
  EXPECT_THAT(parse({"--ops", "10", "--faults", "11"}).error, HasSubstr("greater than --ops"));
}

}  // namespace
}  // namespace holdfast::torture
