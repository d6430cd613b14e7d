#include "cli/run/waiting_line.hpp"

#include "cli/run/busy_text.hpp"
#include "cli/text/utf8.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const WallTime kWall = WallTime(std::chrono::microseconds(1'700'000'000'000'000));
const TimePoint kNow = TimePoint(1000s);

ClaimInfo billing(Duration lease_left) {
  return {.record = {.owner = "9f:1",
                     .host = "web2",
                     .pid = 8123,
                     .program = "billing-7",
                     .since = kWall - 12400ms,
                     .reason = "nightly invoice run"},
          .fence = FencingToken(91),
          .lease_left = lease_left};
}

ClaimInfo waiter(std::int64_t pid) {
  ClaimInfo claim;
  claim.record.host = "here";
  claim.record.pid = pid;
  return claim;
}

LockInfo orders(Duration lease_left) {
  return {.name = "orders/42",
          .mode = "exclusive",
          .holders = {billing(lease_left)},
          .line = {waiter(1), waiter(2), waiter(3), waiter(4), waiter(5)}};
}

TEST(WaitingLine, SaysPlaceHolderLeaseReasonAndTime) {
  Sight sight("here", 3);
  sight.saw(orders(10s), kNow - 1s);
  sight.saw(orders(17600ms), kNow);
  EXPECT_EQ(
      waiting_line({.name = "orders/42", .waited = 8s, .limit = 30s}, sight, kNow, kWall, true),
      "⏳ orders/42  3rd of 5 · held by billing-7 (web2 pid 8123) for 12.4s · lease 17.6s left, "
      "renewing · \"nightly invoice run\" · waited 00:08 of 00:30");
}

// As of a client of Redisson's, whose lock we share.
TEST(WaitingLine, AHolderThatIsNotOursTellsNeitherPlaceNorTime) {
  LockInfo lock = orders(10s);
  lock.holders[0].record = {};
  lock.holders[0].record.owner = "51db3dfa:1";
  lock.holders[0].fence = {};
  Sight sight("here", 3);
  sight.saw(lock, kNow);
  EXPECT_THAT(waiting_line({.name = "a", .waited = 1s}, sight, kNow, kWall, false),
              HasSubstr("held by 51db3dfa:1 - lease 10s left"));
  const std::string text =
      busy_text({.name = "a", .wait = 0s, .exit_code = 75, .sight = &sight, .last_place = {}},
                Error(Errc::busy), kNow, kWall);
  EXPECT_THAT(text, HasSubstr("  holder   51db3dfa:1\n"));
  EXPECT_THAT(text, HasSubstr("ask 51db3dfa:1 before: holdfast release a --fence 0 --now"));
}

TEST(WaitingLine, SaysOnlyWhatItKnows) {
  const Sight nothing("here", 3);
  EXPECT_EQ(waiting_line({.name = "a", .waited = 1s}, nothing, kNow, kWall, false),
            "waiting for a  waited 00:01");
  Sight free("here", 3);
  free.saw(std::nullopt, kNow);
  EXPECT_THAT(waiting_line({.name = "a", .waited = 1s}, free, kNow, kWall, false),
              HasSubstr("nobody holds it"));
}

TEST(WaitingLine, DoesNotTakeAnAgeingLeaseForARenewedOne) {
  Sight sight("here", 3);
  sight.saw(orders(10s), kNow - 2s);
  sight.saw(orders(8s), kNow);
  EXPECT_EQ(sight.renewed_ago(kNow), std::nullopt);
  EXPECT_EQ(sight.lease_left(kNow + 3s), 5s) << "counts down between looks";
  EXPECT_EQ(sight.lease_left(kNow + 30s), 0s);
}

TEST(WaitingLine, ANewHolderIsNotARenewal) {
  Sight sight("here", 3);
  sight.saw(orders(10s), kNow - 2s);
  LockInfo other = orders(30s);
  other.holders[0].fence = FencingToken(92);
  sight.saw(other, kNow);
  EXPECT_EQ(sight.renewed_ago(kNow), std::nullopt);
}

TEST(WaitingLine, EscapesEverythingThatOthersWrote_F141) {
  LockInfo lock = orders(10s);
  lock.holders[0].record.program = "\x1b[2J";
  lock.holders[0].record.host = "\x1b[3J";
  lock.holders[0].record.reason = "\x1b[4J\r";
  Sight sight("here", 3);
  sight.saw(lock, kNow);
  const Error error(Errc::timed_out);
  for (const std::string& text :
       {waiting_line({.name = "\x1b[1J", .waited = 1s}, sight, kNow, kWall, true),
        busy_text(
            {.name = "\x1b[1J", .wait = 1s, .exit_code = 75, .sight = &sight, .last_place = {}},
            error, kNow, kWall)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, HasSubstr("\\x1b[2J"));
  }
}

TEST(WaitingLine, IsCutToTheWidthOfTheTerminal) {
  EXPECT_EQ(cut_to("abcdef", 10, true), "abcdef");
  EXPECT_EQ(cut_to("abcdef", 4, true), "abc…");
  EXPECT_EQ(cut_to("üüüüüü", 4, true), "üüü…");
  EXPECT_EQ(cut_to("abcdef", 4, false), "abc.");
}

TEST(WaitingLine, ComesMoreAndMoreSeldomWhereItCannotBeRedrawn) {
  EXPECT_EQ(next_line_after(0s), 1s);
  EXPECT_EQ(next_line_after(1s), 10s);
  EXPECT_EQ(next_line_after(10s), 1min);
  EXPECT_EQ(next_line_after(1min), 2min);
  EXPECT_EQ(next_line_after(5min), 8min);
}

TEST(Ordinal, IsEnglish) {
  EXPECT_EQ(ordinal(1), "1st");
  EXPECT_EQ(ordinal(2), "2nd");
  EXPECT_EQ(ordinal(3), "3rd");
  EXPECT_EQ(ordinal(4), "4th");
  EXPECT_EQ(ordinal(11), "11th");
  EXPECT_EQ(ordinal(112), "112th");
  EXPECT_EQ(ordinal(21), "21st");
}

TEST(BusyText, NamesTheHolderAndTheNextStep) {
  Sight sight("here", 3);
  sight.saw(orders(10s), kNow - 4s);
  sight.saw(orders(30s), kNow - 2s);
  const std::string text = busy_text({.name = "orders/42",
                                      .wait = 30s,
                                      .exit_code = 75,
                                      .sight = &sight,
                                      .last_place = sight.place()},
                                     Error(Errc::timed_out), kNow, kWall);
  EXPECT_THAT(
      text, testing::StartsWith("holdfast: busy: orders/42 not acquired within 30s   (exit 75)\n"));
  EXPECT_THAT(text, HasSubstr("holder   billing-7   host web2  pid 8123   since "));
  EXPECT_THAT(text, HasSubstr("fence 91\n"));
  EXPECT_THAT(text, HasSubstr("reason   nightly invoice run\n"));
  EXPECT_THAT(text, HasSubstr("lease    28s left, renewed 2s ago: alive\n"));
  EXPECT_THAT(text, HasSubstr("queue    you were 3rd of 5\n"));
  EXPECT_THAT(text, HasSubstr("--wait 2m   |   holdfast show orders/42   |   ask billing-7 before: "
                              "holdfast release orders/42 --fence 91 --reason TEXT\n"));
}

TEST(BusyText, UsesTheStoresWordIfNobodyLooked) {
  Error::Detail detail;
  detail.code = Errc::busy;
  detail.holder = billing(5s).record;
  detail.lease_left = 5s;
  const std::string text =
      busy_text({.name = "a", .wait = 0s, .exit_code = 9, .sight = nullptr, .last_place = {}},
                Error(detail), kNow, kWall);
  EXPECT_THAT(text, HasSubstr("busy: a is held by somebody else   (exit 9)"));
  EXPECT_THAT(text, HasSubstr("holder   billing-7"));
  EXPECT_THAT(text, HasSubstr("lease    5s left"));
}

}  // namespace
}  // namespace holdfast::cli
