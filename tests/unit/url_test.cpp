#include "holdfast/store/url.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace holdfast::store {
namespace {

using namespace std::string_literals;

void expect_wrong(std::string_view url, std::string_view what, std::size_t byte) {
  const auto parsed = Url::parse(url);
  ASSERT_FALSE(parsed.has_value()) << url;
  EXPECT_EQ(parsed.error(), Errc::invalid_argument);
  EXPECT_EQ(parsed.error().text(),
            "the store URL: " + std::string(what) + " at byte " + std::to_string(byte));
}

TEST(Url, IsASchemeARestAndOptions) {
  const auto url = Url::parse("redis://user:pw@[::1]:6379/0?db=3&wait=2&names=path");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->scheme, "redis");
  EXPECT_EQ(url->rest, "//user:pw@[::1]:6379/0");
  EXPECT_EQ(url->options,
            (std::map<std::string, std::string>{{"db", "3"}, {"wait", "2"}, {"names", "path"}}));
}

TEST(Url, MayHaveNoRestAndNoOptions) {
  const auto embedded = Url::parse("embedded:");
  ASSERT_TRUE(embedded.has_value());
  EXPECT_EQ(embedded->scheme, "embedded");
  EXPECT_EQ(embedded->rest, "");
  EXPECT_TRUE(embedded->options.empty());

  const auto bare_question = Url::parse("dir:/shared?");
  ASSERT_TRUE(bare_question.has_value());
  EXPECT_EQ(bare_question->rest, "/shared");
  EXPECT_TRUE(bare_question->options.empty());
}

TEST(Url, UndoesPercentCodesInOptionsOnly) {
  const auto url = Url::parse("sqlite:/a%20b.db?k%65y=%3d%26%25+%C3%A4=x&empty=");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->rest, "/a%20b.db");
  EXPECT_EQ(url->options, (std::map<std::string, std::string>{{"key", "=&%+ä=x"}, {"empty", ""}}));
}

TEST(Url, AllowsWhatSchemesMayHave) {
  EXPECT_EQ(Url::parse("redis+unix.v-2:/run/s")->scheme, "redis+unix.v-2");
}

// F138: an error with its position, no crash.
TEST(Url, SaysWhereAWrongSchemeIsWrong_F138) {
  expect_wrong("", "no scheme", 1);
  expect_wrong(":/x", "no scheme", 1);
  expect_wrong("?a=b", "a scheme that does not begin with a lower-case letter", 1);
  expect_wrong("1redis:x", "a scheme that does not begin with a lower-case letter", 1);
  expect_wrong("Redis:x", "a scheme that does not begin with a lower-case letter", 1);
  expect_wrong("reDis:x", "a character that no scheme has", 3);
  expect_wrong("re/dis:x", "a character that no scheme has", 3);
  expect_wrong("redis", "no ':' after the scheme", 6);
}

TEST(Url, SaysWhereAWrongOptionIsWrong_F138) {
  expect_wrong("m:?a", "an option without '='", 4);
  expect_wrong("m:?=1", "an option without a name", 4);
  expect_wrong("m:?a=1&", "an option without a name", 8);
  expect_wrong("m:?a=1&&b=2", "an option without a name", 8);
  expect_wrong("m:?a=1&b=2&a=3", "an option given twice", 12);
  expect_wrong("m:?a=1&%61=3", "an option given twice", 8);
}

TEST(Url, IsStrictAboutPercentCodes_F138) {
  expect_wrong("m:?a=%", "'%' without two hex digits", 6);
  expect_wrong("m:?a=x%4", "'%' without two hex digits", 7);
  expect_wrong("m:?a=%4g", "'%' without two hex digits", 6);
  expect_wrong("m:?%zz=1", "'%' without two hex digits", 4);
  expect_wrong("m:?a=%4&b=1", "'%' without two hex digits", 6);
  expect_wrong("m:?a=b%00", "a coded control character", 7);
  expect_wrong("m:?a=%0a", "a coded control character", 6);
}

TEST(Url, RefusesControlCharactersAnywhere_F138) {
  expect_wrong("m:\0"s, "a control character", 3);
  expect_wrong("m:x\r\nSET", "a control character", 4);
  expect_wrong("m:?a=\x7f", "a control character", 6);
  expect_wrong("\nm:", "a control character", 1);
}

TEST(Url, NeverRepeatsTheInputInAnError_F137) {
  for (const std::string url : {"redis://u:hunter2@h?hunter2", "hunter2 redis:",
                                "m:?hunter2=1&hunter2=2", "m:?a=hunter2%zz", "m:hunter2\n"}) {
    const auto parsed = Url::parse(url);
    ASSERT_FALSE(parsed.has_value()) << url;
    EXPECT_EQ(parsed.error().text().find("hunter2"), std::string::npos) << url;
  }
}

// F138: whatever the bytes, an answer; a URL that was taken splits at its first ':' and '?'.
TEST(Url, AnswersForAnyBytes_F138) {
  std::mt19937_64 random(138);
  const std::string alphabet = "redis:?&=%0aF+./-@[]\n\xff"s + '\0';
  int taken = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text = random() % 2 == 0 ? "m:" : "";
    for (auto length = random() % 24; length > 0; --length)
      text += alphabet[random() % alphabet.size()];
    const auto url = Url::parse(text);
    if (!url) {
      ASSERT_NE(url.error().text().find(" at byte "), std::string::npos);
      continue;
    }
    ++taken;
    const auto question = text.find('?');
    ASSERT_EQ(url->scheme + ":" + url->rest, text.substr(0, question));
  }
  EXPECT_GT(taken, 1'000);
}

}  // namespace
}  // namespace holdfast::store
