#include "store/zookeeper/jute.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::store::zookeeper {
namespace {

using namespace std::string_literals;

std::string framed(std::string_view bytes) {
  std::string out;
  append_frame(out, [&](JuteWriter& to) {
    for (const char each : bytes) to.boolean(each == '1');
  });
  return out;
}

TEST(ZooKeeperJute, WritesTheHighestByteFirst) {
  std::string out;
  JuteWriter to(out);
  to.int32(-2);
  to.int64(0x0102030405060708);
  to.boolean(true);
  to.text("ab");
  to.texts(std::vector<std::string>{"", "c"});
  EXPECT_EQ(out,
            "\xff\xff\xff\xfe"
            "\1\2\3\4\5\6\7\10"
            "\1"
            "\0\0\0\2ab"
            "\0\0\0\2\0\0\0\0\0\0\0\1c"s);
}

TEST(ZooKeeperJute, ReadsWhatItWrites) {
  using Int = std::numeric_limits<std::int32_t>;
  using Long = std::numeric_limits<std::int64_t>;
  std::string out;
  JuteWriter to(out);
  for (const std::int32_t each : {0, 1, -1, Int::min(), Int::max()}) to.int32(each);
  for (const std::int64_t each : {std::int64_t{0}, Long::min(), Long::max()}) to.int64(each);
  to.text("a\0b"s);
  to.texts(std::vector<std::string>{"x", "", "y"});
  to.boolean(false);
  JuteReader in(out);
  for (const std::int32_t each : {0, 1, -1, Int::min(), Int::max()}) EXPECT_EQ(in.int32(), each);
  for (const std::int64_t each : {std::int64_t{0}, Long::min(), Long::max()}) {
    EXPECT_EQ(in.int64(), each);
  }
  EXPECT_EQ(in.text(), "a\0b"s);
  EXPECT_EQ(in.texts(), (std::vector<std::string>{"x", "", "y"}));
  EXPECT_FALSE(in.boolean());
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.rest(), "");
}

TEST(ZooKeeperJute, ReadsNullAsEmpty) {
  JuteReader in("\xff\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_EQ(in.text(), "");
  EXPECT_TRUE(in.texts().empty());
  EXPECT_TRUE(in.ok());
}

TEST(ZooKeeperJute, NeverReadsMoreThanThereIs_F011) {
  for (const std::string& bytes :
       {""s, "\0\0\0"s, "\0\0\0\3ab"s, "\x7f\xff\xff\xff"s, "\xff\xff\xff\xfe"s, "\x80\0\0\0"s}) {
    JuteReader text(bytes);
    EXPECT_EQ(text.text(), "");
    EXPECT_FALSE(text.ok());
    JuteReader texts(bytes);
    EXPECT_TRUE(texts.texts().empty());
    EXPECT_FALSE(texts.ok());
    EXPECT_EQ(texts.int64(), 0) << "nor later";
  }
  const std::string not_all_there = "\0\0\0\2\0\0\0\0\0\0\0\5abcd"s;
  JuteReader many(not_all_there);
  many.texts();
  EXPECT_FALSE(many.ok());
  const std::string a_byte_is_missing(67, '\1');
  JuteReader stat(a_byte_is_missing);
  stat.stat();
  EXPECT_FALSE(stat.ok());
}

TEST(ZooKeeperFrames, MeanTheSameHoweverTheyAreCut_F010) {
  const std::string all = framed("10") + framed("") + framed("1111");
  for (std::size_t piece = 1; piece <= all.size(); ++piece) {
    FrameReader reader;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      reader.feed(std::string_view(all).substr(at, piece));
      while (const auto frame = reader.next()) frames.emplace_back(frame->bytes);
    }
    EXPECT_EQ(frames, (std::vector<std::string>{"\1\0"s, "", "\1\1\1\1"})) << piece;
    EXPECT_FALSE(reader.broken());
  }
}

TEST(ZooKeeperFrames, OfAnAbsurdLengthAreTheEnd_F011) {
  for (const std::string& bytes : {"\xff\xff\xff\xff"s, "\x80\0\0\0"s, "\x7f\xff\xff\xff"s}) {
    FrameReader reader;
    reader.feed(bytes + "abcdefghijklmnopqrstuvwxyz");
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken());
    reader.feed(framed("1"));
    EXPECT_FALSE(reader.next());
    reader.reset();
    reader.feed(framed("1"));
    EXPECT_TRUE(reader.next());
  }
}

// F088: ten thousands of children.
TEST(ZooKeeperFrames, ThatAreTooLongArePassedOver_F088) {
  std::string length;
  JuteWriter(length).int32(static_cast<std::int32_t>(FrameReader::kLongest + 1));
  for (const std::size_t piece : {std::size_t{7}, std::size_t{65536}, FrameReader::kLongest * 2}) {
    const std::string all = length + "0123456789abcdef" +
                            std::string(FrameReader::kLongest + 1 - FrameReader::kHead, 'x') +
                            framed("1");
    FrameReader reader;
    std::vector<std::string> frames;
    std::vector<bool> cut;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      reader.feed(std::string_view(all).substr(at, piece));
      while (const auto frame = reader.next()) {
        frames.emplace_back(frame->bytes);
        cut.push_back(frame->cut);
      }
    }
    EXPECT_EQ(frames, (std::vector<std::string>{"0123456789abcdef", "\1"}));
    EXPECT_EQ(cut, (std::vector<bool>{true, false}));
  }
}

}  // namespace
}  // namespace holdfast::store::zookeeper
