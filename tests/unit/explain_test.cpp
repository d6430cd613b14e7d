#include "core/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

store::LockName lock(std::string_view bytes = "invoices") {
  return store::LockName::checked(bytes).value();
}

store::Refused refusal() {
  store::Refused no;
  no.holder.emplace();
  no.holder->program = "billing";
  no.holder->host = "web2";
  no.holder->pid = 8123;
  no.lease_left = 12'300ms;
  no.ahead = 3;
  return no;
}

std::string text(Errc why, const std::optional<store::Refused>& no = std::nullopt,
                 const std::string& cause = "") {
  return explain(why, lock(), 5s, no, cause).text();
}

TEST(Explain, ShowsDurationsShort) {
  EXPECT_EQ(short_text(0s), "0ms");
  EXPECT_EQ(short_text(250ms), "250ms");
  EXPECT_EQ(short_text(1500ms), "1.5s");
  EXPECT_EQ(short_text(90s), "90.0s");
}

TEST(Explain, BusyNamesLockHolderLeasePlaceAndNextStep) {
  EXPECT_THAT(text(Errc::busy, refusal()),
              AllOf(StartsWith("busy: \"invoices\""), HasSubstr("held by billing (web2 pid 8123)"),
                    HasSubstr("lease 12.3s left"), HasSubstr("3 ahead in line"),
                    HasSubstr("try again later or give a longer wait")));
}

TEST(Explain, BusyCarriesTheSameAsValues) {
  const Error error = explain(Errc::busy, lock(), 0s, refusal(), "");
  EXPECT_EQ(error.errc(), Errc::busy);
  EXPECT_EQ(error.detail().lock, "invoices");
  EXPECT_EQ(error.detail().holder->program, "billing");
  EXPECT_EQ(error.detail().lease_left, Duration(12'300ms));
  EXPECT_EQ(error.detail().ahead, 3u);
}

TEST(Explain, TimedOutSaysHowLongItWaited) {
  EXPECT_THAT(text(Errc::timed_out, refusal()),
              AllOf(StartsWith("timed_out: \"invoices\" not acquired within 5.0s"),
                    HasSubstr("held by billing"), HasSubstr("ask the holder")));
}

TEST(Explain, SaysOnlyWhatIsKnown) {
  EXPECT_THAT(text(Errc::busy), AllOf(Not(HasSubstr("held by")), Not(HasSubstr("left"))));
  store::Refused first = refusal();
  first.ahead = 0;
  EXPECT_THAT(text(Errc::busy, first), Not(HasSubstr("ahead")));
  store::Refused nameless = refusal();
  nameless.holder.reset();
  EXPECT_THAT(text(Errc::busy, nameless), Not(HasSubstr("held by")));
}

TEST(Explain, AnErrorThatIsNoRefusalDoesNotNameAHolder) {
  const Error error = explain(Errc::unavailable, lock(), 5s, refusal(), "connection refused");
  EXPECT_THAT(error.text(), AllOf(Not(HasSubstr("billing")), HasSubstr("connection refused")));
  EXPECT_EQ(error.detail().holder, std::nullopt);
}

TEST(Explain, ABusyLockIsNotExplainedByAnOlderSilence) {
  EXPECT_THAT(text(Errc::busy, refusal(), "connection refused"), Not(HasSubstr("connection")));
}

TEST(Explain, EveryFailureOfTheStoreNamesTheNextStep) {
  EXPECT_THAT(text(Errc::unavailable), HasSubstr("check that the store is up"));
  EXPECT_THAT(text(Errc::unknown), HasSubstr("ask again"));
  EXPECT_THAT(text(Errc::permission), HasSubstr("credentials"));
  EXPECT_THAT(text(Errc::store_full), HasSubstr("make room"));
  EXPECT_THAT(text(Errc::would_deadlock), HasSubstr("the same Owner"));
  EXPECT_EQ(text(Errc::cancelled), "cancelled: \"invoices\"");
}

TEST(Explain, ControlCharactersInNamesAreEscaped_F131) {
  const std::string hostile = "a\x1b[2J\n\"b";
  store::Refused no = refusal();
  no.holder->program = hostile;
  no.holder->host = hostile;
  const Error error = explain(Errc::busy, lock(hostile), 0s, no, "");
  EXPECT_THAT(error.text(), AllOf(HasSubstr("\"a\\x1b[2J\\x0a\\x22b\""), Not(HasSubstr("\x1b")),
                                  Not(HasSubstr("\n"))));
  EXPECT_EQ(error.detail().lock, hostile) << "as a value it is what was asked for";
  EXPECT_THAT(lost_error(lock(hostile), LostWhy::gone).text(), Not(HasSubstr("\x1b")));
}

TEST(Explain, ALossSaysHow) {
  const auto loss = [](LostWhy why) { return lost_error(lock(), why); };
  EXPECT_EQ(loss(LostWhy::expired), Errc::lost);
  EXPECT_THAT(loss(LostWhy::expired).text(),
              AllOf(HasSubstr("\"invoices\""), HasSubstr("lease ran out")));
  EXPECT_EQ(loss(LostWhy::gone), Errc::lost);
  EXPECT_THAT(loss(LostWhy::gone).text(), HasSubstr("not ours any more"));
  EXPECT_EQ(loss(LostWhy::max_hold), Errc::lost);
  EXPECT_THAT(loss(LostWhy::max_hold).text(), HasSubstr("max_hold"));
  EXPECT_EQ(loss(LostWhy::forced), Errc::forced);
  EXPECT_THAT(loss(LostWhy::forced).text(), HasSubstr("an operator revoked it"));
}

}  // namespace
}  // namespace holdfast::core
