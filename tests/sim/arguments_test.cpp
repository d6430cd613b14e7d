#include "arguments.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::sim {
namespace {

std::optional<Arguments> parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "holdfast-sim");
  return parse(static_cast<int>(words.size()), words.data());
}

TEST(SimArguments, ManySeedsFromAChosenOneOrFromAnyone) {
  const auto usual = parsed({});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->first, 1U);
  EXPECT_GE(usual->jobs, 1U);
  const auto chosen = parsed({"--seeds", "500", "--first-seed", "7", "--hours", "1.5"});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->seeds, 500U);
  EXPECT_EQ(chosen->first, 7U);
  EXPECT_EQ(chosen->hours, 1.5);
  EXPECT_EQ(parsed({"--first-seed", "random"})->first, std::nullopt);
}

TEST(SimArguments, OneSeedAndWhatToDoWithIt) {
  EXPECT_TRUE(parsed({"--seed", "42", "--minimise"})->minimise);
  EXPECT_TRUE(parsed({"--seed", "42", "--minimize"})->minimise);
  const auto one =
      parsed({"--seed", "42", "--timeline", "a.svg", "--ops", "1.1.1", "--faults", "none"});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->one, 42U);
  EXPECT_EQ(one->timeline, "a.svg");
  EXPECT_TRUE(one->only.has({1, 1, 1}));
  EXPECT_FALSE(one->only.has({1, 1, 2}));
  EXPECT_FALSE(one->only.has_fault(1));
}

TEST(SimArguments, NonsenseIsRefused) {
  EXPECT_FALSE(parsed({"--sedes", "3"}));
  EXPECT_FALSE(parsed({"--seeds"}));
  EXPECT_FALSE(parsed({"--seeds", "3x"}));
  EXPECT_FALSE(parsed({"--jobs", "0"}));
  EXPECT_FALSE(parsed({"--hours", "0"}));
  EXPECT_FALSE(parsed({"--seed", "1", "--ops", "1.1"}));
  EXPECT_FALSE(parsed({"--seeds", "10", "--minimise"})) << "of which one?";
  EXPECT_FALSE(parsed({"--seed", "1", "--ops", "1.1.1", "--minimise"})) << "it is small already";
}

}  // namespace
}  // namespace holdfast::sim
