#include "support/net/pipe.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr Pipe::Time kStart{1h};

// All that passes at that moment, and in how many writes.
struct Passed {
  std::string bytes;
  int writes = 0;
  bool operator==(const Passed&) const = default;
};

Passed pass(Pipe& pipe, Pipe::Time now) {
  Passed all;
  for (auto some = pipe.ready(now); !some.empty(); some = pipe.ready(now)) {
    all.bytes += some;
    all.writes += 1;
    pipe.written(some.size(), now);
  }
  return all;
}

TEST(Pipe, PassesBytesAsTheyCome) {
  Pipe pipe({}, 1);
  EXPECT_EQ(pipe.due(), Pipe::kNever);
  pipe.take("one", kStart);
  pipe.take("two", kStart);
  EXPECT_EQ(pipe.due(), kStart);
  EXPECT_EQ(pass(pipe, kStart), (Passed{"onetwo", 2}));
  EXPECT_EQ(pipe.traffic().came, 6U);
  EXPECT_EQ(pipe.traffic().passed, 6U);
  EXPECT_EQ(pipe.traffic().writes, 2U);
}

TEST(Pipe, DelaysBytesAndTheEnd) {
  Pipe pipe({.delay = 10ms}, 1);
  pipe.take("late", kStart);
  pipe.end(kStart + 1ms);
  EXPECT_EQ(pass(pipe, kStart + 9ms).bytes, "");
  EXPECT_EQ(pipe.due(), kStart + 10ms);
  EXPECT_EQ(pass(pipe, kStart + 10ms).bytes, "late");
  EXPECT_FALSE(pipe.may_close(kStart + 10ms));
  EXPECT_TRUE(pipe.may_close(kStart + 11ms));
}

TEST(Pipe, DrawsJitterFromItsSeedAndKeepsTheOrder) {
  const auto moments = [](std::uint64_t seed) {
    Pipe pipe({.delay = 5ms, .jitter = 20ms}, seed);
    std::vector<Pipe::Time> all;
    for (char each = 'a'; each <= 'z'; ++each) pipe.take(std::string(1, each), kStart);
    std::string order;
    while (pipe.due() != Pipe::kNever) {
      all.push_back(pipe.due());
      order += pass(pipe, pipe.due()).bytes;
    }
    EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
    EXPECT_GE(all.front(), kStart + 5ms);
    EXPECT_LE(all.back(), kStart + 25ms);
    return all;
  };
  EXPECT_EQ(moments(1), moments(1));
  EXPECT_NE(moments(1), moments(2));
}

TEST(Pipe, DropsWhatComesAndKeepsWhatWasThere) {
  Pipe pipe({.hold = true}, 1);
  pipe.take("before", kStart);
  pipe.set({.drop = true});
  pipe.take("lost", kStart);
  pipe.set({});
  pipe.take("after", kStart);
  EXPECT_EQ(pass(pipe, kStart).bytes, "beforeafter");
  EXPECT_EQ(pipe.traffic().came, 15U);
}

TEST(Pipe, DropsTheEndToo) {
  Pipe pipe({.drop = true}, 1);
  pipe.end(kStart);
  EXPECT_FALSE(pipe.may_close(kStart));
  pipe.set({});
  EXPECT_FALSE(pipe.may_close(kStart + 1h)) << "it came back";
  EXPECT_TRUE(pipe.over());
}

TEST(Pipe, HoldsBytesAndTheEndUntilReleased) {
  Pipe pipe({.hold = true}, 1);
  pipe.take("held", kStart);
  pipe.end(kStart);
  EXPECT_EQ(pass(pipe, kStart + 1h).bytes, "");
  EXPECT_FALSE(pipe.may_close(kStart + 1h));
  EXPECT_EQ(pipe.due(), Pipe::kNever);
  EXPECT_EQ(pipe.kept(), 4U);
  pipe.set_hold(false);
  EXPECT_EQ(pass(pipe, kStart + 1h).bytes, "held");
  EXPECT_TRUE(pipe.may_close(kStart + 1h));
}

TEST(Pipe, CutsWritesIntoChunks) {
  Pipe pipe({.chunk = 2}, 1);
  pipe.take("abcde", kStart);
  EXPECT_EQ(pass(pipe, kStart), (Passed{"abcde", 3}));
}

TEST(Pipe, PausesBetweenWrites) {
  Pipe pipe({.chunk = 1, .pause = 3ms}, 1);
  pipe.take("ab", kStart);
  EXPECT_EQ(pass(pipe, kStart).bytes, "a");
  EXPECT_EQ(pipe.due(), kStart + 3ms);
  EXPECT_EQ(pass(pipe, kStart + 3ms).bytes, "b");
}

TEST(Pipe, BreaksWhenSoManyBytesHavePassed) {
  Pipe pipe({.break_after = 3}, 1);
  pipe.take("ab", kStart);
  EXPECT_EQ(pass(pipe, kStart).bytes, "ab");
  EXPECT_FALSE(pipe.broken());
  pipe.take("cd", kStart);
  EXPECT_EQ(pass(pipe, kStart).bytes, "c");
  EXPECT_TRUE(pipe.broken());
}

TEST(Pipe, BreaksWithTheFirstByteThatComes) {
  Pipe pipe({.break_after = 0}, 1);
  EXPECT_FALSE(pipe.broken());
  pipe.take("a", kStart);
  EXPECT_TRUE(pipe.broken());
  EXPECT_EQ(pass(pipe, kStart).bytes, "");
}

TEST(Pipe, RewritesEachRead) {
  Pipe pipe({.rewrite = [](std::string& bytes) { bytes = "<" + bytes + ">"; }}, 1);
  pipe.take("a", kStart);
  pipe.take("b", kStart);
  EXPECT_EQ(pass(pipe, kStart).bytes, "<a><b>");
}

TEST(Pipe, ReplacesTheNthOccurrenceAcrossReadsAndPipes) {
  const Rules rules{.rewrite = replace_occurrence(3, "OK", "NO!")};
  Pipe first(rules, 1);
  Pipe second(rules, 1);
  first.take("OK OK", kStart);
  second.take("OK OK", kStart);
  EXPECT_EQ(pass(first, kStart).bytes, "OK OK");
  EXPECT_EQ(pass(second, kStart).bytes, "NO! OK");
}

}  // namespace
}  // namespace holdfast::test
