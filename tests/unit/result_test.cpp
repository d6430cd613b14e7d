#include "holdfast/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace holdfast {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error(Errc::invalid_argument, "odd");
  return number / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = half(8);
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, 4);
  EXPECT_EQ(good.value(), 4);

  const Result<int> bad = half(7);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), Errc::invalid_argument);
  EXPECT_EQ(bad.error().text(), "odd");
}

TEST(Result, IsMadeFromACodeAlone) {
  const Result<std::string> result = Errc::busy;
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Outcome::not_held);
}

TEST(Result, ThrowsASystemErrorWithTheTextIfAskedForAValueThatIsNotThere) {
  try {
    (void)half(7).value();
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), make_error_code(Errc::invalid_argument));
    EXPECT_EQ(std::string(error.what()).rfind("odd", 0), 0u);
  }
}

TEST(Result, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  EXPECT_EQ(**result, 5);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
  const auto other = Result<std::unique_ptr<int>>(Errc::lost).value_or(nullptr);
  EXPECT_EQ(other, nullptr);
}

TEST(Result, ReachesMembersOfItsValue) {
  Result<std::string> result = std::string("abc");
  EXPECT_EQ(result->size(), 3u);
  *result += "d";
  EXPECT_EQ(std::as_const(result)->size(), 4u);
}

TEST(Result, ChainsUntilTheFirstError) {
  EXPECT_EQ(*half(8).and_then(half).and_then(half), 1);
  const auto stuck = half(8).and_then(half).and_then(half).and_then(half).and_then(half);
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.error().text(), "odd");
}

TEST(Result, ChangesItsValueAndKeepsItsError) {
  const auto text = [](int number) { return std::to_string(number); };
  EXPECT_EQ(*half(8).transform(text), "4");
  EXPECT_EQ(half(7).transform(text).error().text(), "odd");
}

TEST(Result, OfNothingIsGoodByDefault) {
  const Result<void> good;
  EXPECT_TRUE(good);
  EXPECT_NO_THROW(good.value());

  const Result<void> bad = Error(Errc::lost, "gone");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), Errc::lost);
  EXPECT_THROW(bad.value(), std::system_error);
}

}  // namespace
}  // namespace holdfast
