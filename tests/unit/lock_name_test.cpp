#include "holdfast/store/lock_name.hpp"

#include <gtest/gtest.h>

#include <string>

#include "holdfast/store/keys.hpp"

namespace holdfast::store {
namespace {

using namespace std::string_literals;

// F131: one rule for all stores, 1 to 512 bytes of any value.
TEST(LockName, TakesOneTo512BytesOfAnyValue_F131) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name(1, static_cast<char>(byte));
    const auto checked = LockName::checked(name);
    ASSERT_TRUE(checked.has_value()) << byte;
    EXPECT_EQ(checked->bytes(), name);
  }
  for (const std::string& name : {"a\0b"s, "\r\n"s, "{}"s, "*"s, "/"s, ".."s, "%41"s, "\"'"s, " "s,
                                  "\xff\xfe"s, std::string(512, 'x')}) {
    const auto checked = LockName::checked(name);
    ASSERT_TRUE(checked.has_value()) << printable(name);
    EXPECT_EQ(checked->bytes(), name);
  }
}

TEST(LockName, RefusesAnEmptyName_F131) {
  const auto checked = LockName::checked("");
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error(), Errc::invalid_name);
  EXPECT_EQ(checked.error().text(), "the lock name is empty; names are 1 to 512 bytes");
}

TEST(LockName, RefusesALongNameAndSaysHowLongItWas_F131) {
  for (const std::size_t size : {std::size_t{513}, std::size_t{65536}}) {
    const auto checked = LockName::checked(std::string(size, 'x'));
    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(checked.error(), Errc::invalid_name);
    EXPECT_NE(checked.error().text().find(std::to_string(size) + " bytes"), std::string::npos);
  }
}

TEST(LockName, ShowsPlainTextAsItIs) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("stock/42 {a} *?%41"), "stock/42 {a} *?%41");
  EXPECT_EQ(printable("Größe 錠 🔒"), "Größe 錠 🔒");
}

TEST(LockName, EscapesControlCharactersQuotesAndBackslashes_F131) {
  EXPECT_EQ(printable("a\0b\n\r\t\x1b[2J\x7f"s), "a\\x00b\\x0a\\x0d\\x09\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\"x\" 'y' \\"), "\\x22x\\x22 \\x27y\\x27 \\x5c");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // U+009B begins a terminal sequence
}

TEST(LockName, EscapesWhatTurnsTheDirectionOfWriting) {
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj"),
            "\\xe2\\x80\\xaegpj");                          // U+202E
  EXPECT_EQ(printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");  // U+2066
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            "a\\xe2\\x80\\xa8"
            "b");                                        // U+2028, a line separator
  EXPECT_EQ(printable("\xe2\x80\x93"), "\xe2\x80\x93");  // U+2013, a dash
}

TEST(LockName, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x80"), "\\x80");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong '/'
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf");  // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xe9\x8c"), "\\xe9\\x8c");                    // cut short
  EXPECT_EQ(printable("\xe9"
                      "a"),
            "\\xe9"
            "a");  // goes on after it
}

// Nothing that comes out can be taken for a control, and different names look different.
TEST(LockName, ShowsDifferentNamesDifferently) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += printable(std::string(1, static_cast<char>(byte)));
  for (const char c : all) EXPECT_TRUE(c >= ' ' && c != '\x7f');
  EXPECT_NE(printable("\n"), printable("\\x0a"));
}

TEST(OwnerId, IsShownAs32HexDigitsAndTheClaim) {
  const ClientId client{.high = 0x9f0c000000000001, .low = 0xabcdef};
  EXPECT_EQ(to_string(client), "9f0c0000000000010000000000abcdef");
  EXPECT_EQ(to_string(OwnerId{client, 17}), "9f0c0000000000010000000000abcdef:17");
  EXPECT_EQ(to_string(ClientId{}), std::string(32, '0'));
}

}  // namespace
}  // namespace holdfast::store
