#include "store/redis/resp.hpp"

#include "gtest/gtest.h"

namespace holdfast::store::redis {
namespace {

using Type = Reply::Type;

Reply text(std::string words) { return {.type = Type::text, .text = std::move(words)}; }
Reply number(std::int64_t value) { return {.type = Type::integer, .integer = value}; }

std::vector<Reply> all(ReplyReader& reader) {
  std::vector<Reply> replies;
  while (auto reply = reader.next()) replies.push_back(std::move(*reply));
  return replies;
}

std::vector<Reply> read(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  return all(reader);
}

constexpr std::string_view kMany =
    "+OK\r\n-ERR no\r\n:-17\r\n$5\r\na\r\nbc\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n"
    "*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n+y\r\n";

TEST(Resp, ReadsEveryType) {
  const std::vector<Reply> replies = read(kMany);
  ASSERT_EQ(replies.size(), 9u);
  EXPECT_EQ(replies[0], text("OK"));
  EXPECT_EQ(replies[1], (Reply{.type = Type::error, .text = "ERR no"}));
  EXPECT_EQ(replies[2], number(-17));
  EXPECT_EQ(replies[3], text("a\r\nbc"));
  EXPECT_EQ(replies[4], Reply{});
  EXPECT_EQ(replies[5], Reply{});
  EXPECT_EQ(replies[6], (Reply{.type = Type::array}));
  EXPECT_EQ(replies[7], text(""));
  const Reply inner{.type = Type::array, .items = {text("x"), Reply{}}};
  EXPECT_EQ(replies[8], (Reply{.type = Type::array, .items = {number(1), inner, text("y")}}));
}

TEST(Resp, MeansTheSameHoweverItIsCut_F010) {
  const std::vector<Reply> whole = read(kMany);
  for (std::size_t piece = 1; piece < kMany.size(); ++piece) {
    ReplyReader reader;
    std::vector<Reply> replies;
    for (std::size_t at = 0; at < kMany.size(); at += piece) {
      reader.feed(kMany.substr(at, piece));
      for (Reply& reply : all(reader)) replies.push_back(std::move(reply));
    }
    EXPECT_EQ(replies, whole) << "in pieces of " << piece;
  }
}

TEST(Resp, RefusesGarbage_F011) {
  for (const std::string_view bytes :
       {"x\r\n", "\r\n", "$x\r\n", "$-2\r\n", "*-2\r\n", ":1x\r\n", ":\r\n", "$1\r\nabc",
        ":99999999999999999999\r\n", "$9223372036854775807\r\n", "*9223372036854775807\r\n",
        "$ 1\r\na\r\n"}) {
    ReplyReader reader;
    reader.feed(bytes);
    EXPECT_EQ(reader.next(), std::nullopt) << bytes;
    EXPECT_TRUE(reader.broken()) << bytes;
    reader.feed("+OK\r\n");
    EXPECT_EQ(reader.next(), std::nullopt) << bytes;
  }
}

TEST(Resp, HasLimits_F011) {
  const ReplyLimits limits{.line = 100, .bytes = 10'000, .depth = 3};
  const auto breaks = [&](const std::string& bytes) {
    ReplyReader reader(limits);
    reader.feed(bytes);
    while (reader.next()) {
    }
    return reader.broken();
  };
  EXPECT_TRUE(breaks("+" + std::string(200, 'x')));
  EXPECT_TRUE(breaks("+" + std::string(200, 'x') + "\r\n"));
  EXPECT_FALSE(breaks("+" + std::string(50, 'x') + "\r\n"));
  EXPECT_FALSE(breaks("*1\r\n*1\r\n*1\r\n:1\r\n"));
  EXPECT_TRUE(breaks("*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"));
  EXPECT_TRUE(breaks("$10001\r\n"));
  std::string many = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) many += ":1\r\n";
  EXPECT_TRUE(breaks(many)) << "an array of many small things is large, too";
}

TEST(Resp, WritesWordsOfAnyBytes) {
  std::string out;
  append_command(out, Words{"SET", std::string("a\0b\r\n", 5), ""});
  using namespace std::string_literals;
  EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$5\r\na\0b\r\n\r\n$0\r\n\r\n"s);
}

}  // namespace
}  // namespace holdfast::store::redis
