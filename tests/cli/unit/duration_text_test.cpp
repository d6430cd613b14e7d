#include "cli/text/duration_text.hpp"

#include "gtest/gtest.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("5s"), 5s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1h2m3s4ms"), 1h + 2min + 3s + 4ms);
  EXPECT_EQ(parse_duration("5"), 5s);
  EXPECT_EQ(parse_duration("0"), 0s);
  EXPECT_EQ(parse_duration("1.5"), 1500ms);
  EXPECT_EQ(parse_duration("0.25s"), 250ms);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("2.145h"), 2h + 8min + 42s);  // to the nanosecond
  EXPECT_EQ(parse_duration("0.999999999h"), 1h - 3600ns);
}

TEST(DurationText, RefusesEverythingElse) {
  for (const char* text :
       {"",      "-1",   "-5s",  "+5",  "s",   "5x",   "5 s", " 5",  "5.",    ".5",  "1..5",
        "1.2.3", "5s3m", "1m1m", "5s7", "1e3", "0x10", "5S",  "inf", "1h-1m", "\xff"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, RefusesWhatDoesNotFitInsteadOfWrapping_F133) {
  EXPECT_EQ(parse_duration("9223372036"), 9223372036s);
  EXPECT_EQ(parse_duration("9223372037"), std::nullopt);
  EXPECT_EQ(parse_duration("1000000000000000000"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_duration("2562047h47m16s854ms"), 2562047h + 47min + 16s + 854ms);
  EXPECT_EQ(parse_duration("2562047h47m16s855ms"), std::nullopt);
}

TEST(DurationText, WritesThemShort) {
  EXPECT_EQ(duration_text(0s), "0ms");
  EXPECT_EQ(duration_text(250ms), "250ms");
  EXPECT_EQ(duration_text(12s + 450ms), "12.4s");
  EXPECT_EQ(duration_text(30s), "30s");
  EXPECT_EQ(duration_text(200s), "3m20s");
  EXPECT_EQ(duration_text(2min), "2m");
  EXPECT_EQ(duration_text(65min), "1h05m");
  EXPECT_EQ(duration_text(-5s), "0ms");
  EXPECT_EQ(clock_text(8s), "00:08");
  EXPECT_EQ(clock_text(1h + 2min + 3s), "1:02:03");
}

}  // namespace
}  // namespace holdfast::cli
