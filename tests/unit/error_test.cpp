#include "holdfast/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "holdfast/holder_record.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

std::vector<Errc> every_code() {
  std::vector<Errc> codes;
  for (int i = 1; i <= static_cast<int>(Errc::out_of_memory); ++i) {
    codes.push_back(static_cast<Errc>(i));
  }
  return codes;
}

HolderRecord record_of(std::string program, std::string host, std::int64_t pid) {
  HolderRecord record;
  record.program = std::move(program);
  record.host = std::move(host);
  record.pid = pid;
  return record;
}

TEST(Error, IsOnePointerWide) { EXPECT_EQ(sizeof(Error), sizeof(void*)); }

TEST(Error, HasANameAndATextForEveryCode) {
  std::set<std::string> names;
  for (const Errc code : every_code()) {
    const Error error(code);
    EXPECT_EQ(error.errc(), code);
    EXPECT_FALSE(error.text().empty());
    EXPECT_EQ(error.text(), error.code().message());
    names.emplace(name_of(code));
  }
  EXPECT_EQ(names.size(), every_code().size());
  EXPECT_EQ(name_of(Errc::timed_out), "timed_out");
}

TEST(Error, MapsEveryCodeToOneOutcome) {
  const std::set<Errc> maybe{Errc::unknown, Errc::protocol, Errc::store_corrupt};
  const std::set<Errc> misuse{
      Errc::not_owner,     Errc::forked,           Errc::unsupported,  Errc::would_deadlock,
      Errc::size_mismatch, Errc::invalid_argument, Errc::invalid_name, Errc::invalid_lease,
  };
  for (const Errc code : every_code()) {
    const std::error_code error = make_error_code(code);
    const Outcome expected = maybe.contains(code)    ? Outcome::maybe_held
                             : misuse.contains(code) ? Outcome::misuse
                                                     : Outcome::not_held;
    EXPECT_EQ(error == Outcome::not_held, expected == Outcome::not_held) << name_of(code);
    EXPECT_EQ(error == Outcome::maybe_held, expected == Outcome::maybe_held) << name_of(code);
    EXPECT_EQ(error == Outcome::misuse, expected == Outcome::misuse) << name_of(code);
  }
}

TEST(Error, SurvivesANumberThatIsNoCode) {
  for (const int value : {-1, 0, 22, 1'000'000}) {
    const auto code = static_cast<Errc>(value);
    EXPECT_EQ(name_of(code), "unlisted");
    EXPECT_FALSE(Error(code).text().empty());
    EXPECT_FALSE(make_error_code(code) == Outcome::not_held);
    EXPECT_FALSE(make_error_code(code) == Outcome::maybe_held);
    EXPECT_FALSE(make_error_code(code) == Outcome::misuse);
  }
}

TEST(Error, BelongsToItsOwnCategories) {
  EXPECT_STREQ(make_error_code(Errc::busy).category().name(), "holdfast");
  EXPECT_STREQ(make_error_condition(Outcome::misuse).category().name(), "holdfast.outcome");
  EXPECT_EQ(make_error_condition(Outcome::maybe_held).message(), "maybe held");
  const std::error_code code = Errc::busy;
  EXPECT_EQ(code, make_error_code(Errc::busy));
}

TEST(Error, KeepsTheDetailItWasGiven) {
  Error::Detail detail;
  detail.code = Errc::busy;
  detail.text = "'stock' is held by billing-7";
  detail.lock = "stock";
  detail.holder = record_of("billing-7", "web2", 8123);
  detail.lease_left = 12s;
  detail.ahead = 3;
  const Error error(detail);
  const Error copy = error;
  EXPECT_EQ(copy, Errc::busy);
  EXPECT_EQ(copy.text(), "'stock' is held by billing-7");
  EXPECT_EQ(copy.detail().holder->pid, 8123);
  EXPECT_EQ(copy.detail().lease_left, Duration(12s));
  EXPECT_EQ(copy.detail().ahead, 3u);
  EXPECT_EQ(&copy.detail(), &error.detail());
}

TEST(Error, StaysUsableAfterItWasMovedFromOrAssignedToItself) {
  Error first(Errc::lost, "first");
  Error second(std::move(first));
  EXPECT_EQ(second.text(), "first");
  EXPECT_EQ(first.text(), "moved from");  // NOLINT(bugprone-use-after-move)
  first = second;
  EXPECT_EQ(first.text(), "first");
  Error& alias = first;
  first = alias;
  first = std::move(alias);
  EXPECT_EQ(first.text(), "first");
  second = Error(Errc::busy, "third");
  EXPECT_EQ(second.text(), "third");
  EXPECT_EQ(first.text(), "first");
}

// F044: there may be no memory to say so.
TEST(Error, NeedsNoMemoryToSayThatThereIsNone_F044) {
  const Error first(Errc::out_of_memory);
  const Error second(Errc::out_of_memory);
  EXPECT_EQ(&first.detail(), &second.detail());
  EXPECT_EQ(first.text(), "out of memory");
}

TEST(Error, IsCopiedAndDroppedByManyThreads) {
  const Error shared(Errc::busy, std::string(100, 'x'));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 10'000; ++i) {
        const Error copy = shared;
        Error none(Errc::out_of_memory);
        none = copy;
        ASSERT_EQ(none.text().size(), 100u);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Error, DescribesAHolderInOneLine) {
  HolderRecord record = record_of("billing-7", "web2", 8123);
  record.owner = "9f0c:17";
  EXPECT_EQ(describe(record), "billing-7 (web2 pid 8123)");
  record.program.clear();
  EXPECT_EQ(describe(record), "9f0c:17 (web2 pid 8123)");
  record.host.clear();
  EXPECT_EQ(describe(record), "9f0c:17 (pid 8123)");
  record.pid = 0;
  EXPECT_EQ(describe(record), "9f0c:17");
  EXPECT_EQ(describe({}), "somebody");
}

// F131: a record is written by others; it must not drive the terminal it is shown on.
TEST(Error, EscapesWhatAHolderSaysOfItself_F131) {
  const HolderRecord record = record_of("\x1b[2Jevil\n", "web\r2", 1);
  EXPECT_EQ(describe(record), "\\x1b[2Jevil\\x0a (web\\x0d2 pid 1)");
}

}  // namespace
}  // namespace holdfast
