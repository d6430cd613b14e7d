#include "rules/cell_entry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::rules {
namespace {

using namespace store;
using namespace std::chrono_literals;

constexpr TimePoint kNow{Duration(1h)};

CellKey key() { return {CellKind::latch, LockName::checked("cell").value()}; }
CellWrite write(std::uint64_t number, std::uint64_t expected, std::string value) {
  return {key(), expected, std::move(value), {{1, 2}, number}};
}
CellAdd add(std::uint64_t number, std::int64_t delta, std::int64_t floor = 0) {
  return {key(), delta, floor, {{1, 2}, number}};
}

bool is_state(const CellReply& reply, const CellState& expected) {
  const auto* state = std::get_if<CellState>(&reply);
  return state != nullptr && *state == expected;
}
bool is_conflict(const CellReply& reply, const CellState& expected) {
  const auto* conflict = std::get_if<Conflict>(&reply);
  return conflict != nullptr && conflict->now == expected;
}
bool is_rejected(const CellReply& reply, Errc why) {
  const auto* rejected = std::get_if<Rejected>(&reply);
  return rejected != nullptr && rejected->why == why;
}

TEST(NumberIn, TakesOnlyTheFormThatAddWrites) {
  EXPECT_EQ(number_in("0"), 0);
  EXPECT_EQ(number_in("-17"), -17);
  EXPECT_EQ(number_in("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number_in("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"", "-", "+1", "01", "-0", "1 ", " 1", "1.0", "1e3", "0x1", "one",
                           "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(number_in(text), std::nullopt) << text;
  }
}

TEST(CellEntry, IsWrittenAtTheExpectedVersionOnly) {
  CellEntry entry;
  EXPECT_TRUE(is_conflict(entry.write(write(1, 1, "early"), kNow), {}));
  EXPECT_TRUE(is_state(entry.write(write(2, 0, "one"), kNow), {"one", 1}));
  EXPECT_TRUE(is_conflict(entry.write(write(3, 0, "late"), kNow), {"one", 1}));
  EXPECT_TRUE(is_state(entry.write(write(4, 1, ""), kNow), {"", 2}));
  EXPECT_TRUE(is_state(entry.write(write(5, 2, ""), kNow), {"", 3}));
}

TEST(CellEntry, RemembersTheAskersLastOperation) {
  CellEntry entry;
  entry.write(write(7, 0, "one"), kNow);
  EXPECT_EQ(entry.last, (DoneOp{7, true, 1, 0, kNow}));
  entry.add(add(8, 1), kNow + 1s);
  EXPECT_EQ(entry.last, (DoneOp{8, false, 1, 0, kNow + 1s})) << "\"one\" is no number";
  entry.write(write(9, 1, "41"), kNow + 2s);
  entry.add(add(10, 1), kNow + 3s);
  EXPECT_EQ(entry.last, (DoneOp{10, true, 3, 42, kNow + 3s}));
}

TEST(CellEntry, AnswersARepeatedOperationAsItDidThen) {
  CellEntry entry;
  entry.write(write(1, 0, "40"), kNow);
  entry.state = {"90", 5};  // by others
  EXPECT_TRUE(is_state(entry.write(write(1, 0, "40"), kNow), {"40", 1}));
  EXPECT_TRUE(is_state(entry.add(add(2, 1), kNow), {"91", 6}));
  entry.state = {"junk", 9};
  EXPECT_TRUE(is_state(entry.add(add(2, 1), kNow), {"91", 6}));
  EXPECT_EQ(entry.state, (CellState{"junk", 9}));
  EXPECT_TRUE(is_conflict(entry.add(add(3, 1), kNow), {"junk", 9}));
  entry.state = {"5", 10};
  EXPECT_TRUE(is_conflict(entry.add(add(3, 1), kNow), {"5", 10})) << "somebody was told no";
  EXPECT_EQ(entry.state, (CellState{"5", 10}));
}

TEST(CellEntry, RejectsAnOlderOperationAndStaysAsItIs) {
  CellEntry entry;
  entry.add(add(5, 3), kNow);
  const DoneOp before = entry.last;
  EXPECT_TRUE(is_rejected(entry.add(add(4, 3), kNow + 1s), Errc::unknown));
  EXPECT_TRUE(is_rejected(entry.write(write(4, 1, "x"), kNow + 1s), Errc::unknown));
  EXPECT_EQ(entry.last, before);
  EXPECT_EQ(entry.state, (CellState{"3", 1}));
}

TEST(CellEntry, AddsNotBelowTheFloorAndNotAboveWhatFits) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CellEntry entry;
  EXPECT_TRUE(is_state(entry.add(add(1, kMin), kNow), {"", 0}));
  EXPECT_TRUE(is_state(entry.add(add(1, kMin), kNow), {"", 0})) << "also when repeated";
  EXPECT_TRUE(is_state(entry.add(add(2, 3), kNow), {"3", 1}));
  EXPECT_TRUE(is_state(entry.add(add(3, -5), kNow), {"0", 2}));
  EXPECT_TRUE(is_state(entry.add(add(4, -5), kNow), {"0", 2})) << "nothing changed";
  EXPECT_TRUE(is_state(entry.add(add(5, -5, kMin), kNow), {"-5", 3}));
  EXPECT_TRUE(is_state(entry.add(add(6, kMin, kMin), kNow), {std::to_string(kMin), 4}));
  EXPECT_TRUE(is_state(entry.add(add(7, 0, 10), kNow), {"10", 5}));
  EXPECT_TRUE(is_conflict(entry.add(add(8, kMax), kNow), {"10", 5}));
  EXPECT_TRUE(is_state(entry.add(add(9, kMax - 10), kNow), {std::to_string(kMax), 6}));
}

TEST(CellEntry, RejectsWhatMakesNoSense) {
  CellEntry entry;
  EXPECT_TRUE(is_rejected(entry.write(write(0, 0, "x"), kNow), Errc::invalid_argument));
  EXPECT_TRUE(is_rejected(entry.add(add(0, 1), kNow), Errc::invalid_argument));
  EXPECT_TRUE(is_rejected(entry.write(write(1, 0, std::string(kMaxCellValue + 1, 'x')), kNow),
                          Errc::invalid_argument));
  EXPECT_TRUE(is_rejected(entry.add({{}, 1, 0, {{1, 2}, 1}}, kNow), Errc::invalid_name));
  EXPECT_EQ(entry.last, DoneOp{});
  EXPECT_TRUE(is_state(entry.write(write(1, 0, std::string(kMaxCellValue, 'x')), kNow),
                       {std::string(kMaxCellValue, 'x'), 1}));
}

TEST(DoneOp, MayBeForgottenAfterAnHour) {
  const DoneOp op{1, true, 1, 1, kNow};
  EXPECT_FALSE(may_be_forgotten(op, kNow + kCellOpsKept - Duration(1)));
  EXPECT_TRUE(may_be_forgotten(op, kNow + kCellOpsKept));
}

}  // namespace
}  // namespace holdfast::rules
