#include "progress.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class ProgressTest : public testing::Test {
 protected:
  Progress make(bool one_line) {
    return {{.command = "holdfast-sim", .goal = "100", .one_line = one_line},
            [this](std::string_view text) { said_ += text; },
            start_};
  }
  static Verdict good() { return {}; }
  static Verdict bad() {
    Verdict verdict;
    verdict.plan.seed = 42;
    verdict.report.violations.push_back(
        {.rule = check::Rule::served, .text = "excused", .counts = false});
    verdict.report.violations.push_back({.rule = check::Rule::exclusion, .text = "two holders"});
    return verdict;
  }

  const Progress::Instant start_{};
  std::string said_;
};

TEST_F(ProgressTest, SaysInALogHowFarItIsAndEverMoreRarely) {
  Progress progress = make(false);
  for (auto now = 0s; now < 36s; now += 1s) progress.ran(good(), start_ + now);
  progress.finish();
  EXPECT_EQ(said_,
            "6 of 100 schedules, 1 in a second, 0 violating\n"
            "16 of 100 schedules, 1 in a second, 0 violating\n"
            "36 of 100 schedules, 1 in a second, 0 violating\n");
}

TEST_F(ProgressTest, RewritesOneLineOnATerminal) {
  Progress progress = make(true);
  for (auto now = 0ms; now < 500ms; now += 100ms) progress.ran(good(), start_ + now);
  progress.finish();
  EXPECT_EQ(said_,
            "\r3 of 100 schedules, 15 in a second, 0 violating\033[K"
            "\r5 of 100 schedules, 12 in a second, 0 violating\033[K"
            "\r\033[K");
}

TEST_F(ProgressTest, ShowsAViolationAtOnceWithTheCommandThatShowsItAgain) {
  Progress progress = make(false);
  progress.ran(bad(), start_);
  EXPECT_EQ(said_,
            "seed 42 violates C1 exclusion: two holders\n"
            "  holdfast-sim --seed 42 --minimise\n");
}

}  // namespace
}  // namespace holdfast::sim
