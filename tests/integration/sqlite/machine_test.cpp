// F130: leases are counted in one machine's BOOTTIME. Whose it is stands in the file.
#include "sqlite_test.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "support/answer.hpp"
#include "support/manual_clock.hpp"
#include "support/time_namespace.hpp"

namespace holdfast::test {
namespace {

using store::sqlite::Failure;
using store::sqlite::Machine;
using store::sqlite::SqliteStore;
using testing::HasSubstr;

class SqliteMachine : public SqliteTest {
 protected:
  const Machine here_{.id = "machine", .boot = "boot 1", .time_namespace = "time:[1]"};
  ManualClock clock_;

  std::unique_ptr<SqliteStore> open_on(const Machine& machine) {
    return std::make_unique<SqliteStore>(SqliteStore::Parts{
        store::sqlite::find_place({"sqlite", database(), {}}), machine, clock_, {1, ++clients_}});
  }
  void expect_refused(const Machine& machine, const std::string& because) {
    try {
      open_on(machine);
      ADD_FAILURE() << "it was opened";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.no_answer().why, Errc::unsupported);
      EXPECT_THAT(failure.what(), HasSubstr(because));
    }
  }
  store::GrantReply grant(SqliteStore& store, std::uint64_t spare = 0) {
    store::GrantRequest request;
    request.name = store::LockName::checked("lock").value();
    request.owner = {{1, clients_}, ++claims_};
    request.lease = 24h;
    request.spare = spare;
    Answer<store::GrantReply> answer;
    store.try_grant(request, answer.call());
    return answer.reply();
  }
  static std::uint64_t fence_of(const store::GrantReply& reply) {
    const auto* const granted = std::get_if<store::Granted>(&reply);
    return granted != nullptr ? granted->fence : 0;
  }

 private:
  std::uint64_t clients_ = 0;
  std::uint64_t claims_ = 0;
};

TEST_F(SqliteMachine, ThatIsAnotherIsRefused_F130) {
  open_on(here_);
  expect_refused({"another", here_.boot, here_.time_namespace}, "another machine");
  expect_refused({"another", "boot 2", here_.time_namespace}, "another machine");
  EXPECT_TRUE(open_on(here_));
}

TEST_F(SqliteMachine, InAnotherTimeNamespaceIsRefused_F130) {
  open_on(here_);
  expect_refused({here_.id, here_.boot, "time:[2]"}, "time namespace");
  EXPECT_TRUE(open_on(here_));
}

TEST_F(SqliteMachine, BootedAnewVoidsLeasesAndRaisesEveryFence_F130) {
  std::uint64_t last = 0;
  for (const char* boot : {"boot 1", "boot 2", "boot 3"}) {
    Machine machine = here_;
    machine.boot = boot;
    const auto store = open_on(machine);
    constexpr std::uint64_t kSpare = 1000;
    const std::uint64_t fence = fence_of(grant(*store, kSpare));
    EXPECT_GT(fence, last) << boot;
    EXPECT_EQ(fence >> 40, last == 0 ? 1 : (last >> 40) + 1) << "a new epoch";
    EXPECT_EQ(fence_of(grant(*store)), 0U) << "it is held for a day, as far as this boot knows";
    last = fence + kSpare;
  }
}

// What the last boot wrote last may not have reached the disk; the epoch covers that as well.
TEST_F(SqliteMachine, BootedAnewForgetsSessionsAndLinesOfTheDead_F130) {
  auto before = open_on(here_);
  ASSERT_NE(fence_of(grant(*before)), 0U);
  before.reset();  // with a claim left, so its session stays as a dead one's does
  RawDatabase raw(database());
  EXPECT_EQ(raw.number("SELECT count(*) FROM session"), 1);
  Machine machine = here_;
  machine.boot = "boot 2";
  const auto after = open_on(machine);
  EXPECT_EQ(raw.number("SELECT count(*) FROM session"), 0);
  EXPECT_EQ(raw.number("SELECT count(*) FROM lock"), 0);
  EXPECT_EQ(raw.number("SELECT floor FROM meta"), std::int64_t{2} << 40);
}

// Somebody in a container that shows another boot id must not take everybody's locks away.
TEST_F(SqliteMachine, BootedAnewIsNotBelievedWhileASessionOfTheOldBootLives_F130) {
  const auto living = open_on(here_);
  ASSERT_NE(fence_of(grant(*living)), 0U);
  expect_refused({here_.id, "boot 2", here_.time_namespace}, "in use");
  EXPECT_EQ(RawDatabase(database()).number("SELECT count(*) FROM session"), 1);
}

TEST_F(SqliteMachine, BootedAnewInAnotherTimeNamespaceIsJustANewBoot_F130) {
  open_on(here_);
  EXPECT_TRUE(open_on({here_.id, "boot 2", "time:[2]"}));
  expect_refused({here_.id, "boot 2", "time:[1]"}, "time namespace");
}

// Arguments: URL. Tells what connecting in a time namespace of its own comes to.
const Role kElsewhereInTime("elsewhere in time", [](Parent& parent, const Words& arguments) {
  const std::string problem = elsewhere_in_time(100'000s, [&] {
    const auto client = connect(arguments.at(0));
    parent.tell(client ? "connected" : client.error().text());
  });
  if (!problem.empty()) parent.tell(problem);
});

TEST_F(SqliteMachine, ReallyInAnotherTimeNamespaceIsRefused_F130) {
  make();
  const std::string answer = ChildProcess(kElsewhereInTime, {url()}).hear();
  if (answer.starts_with("cannot")) GTEST_SKIP() << "no time namespace can be made: " << answer;
  EXPECT_THAT(answer, HasSubstr("unsupported: "));
  EXPECT_THAT(answer, HasSubstr("time namespace"));
}

}  // namespace
}  // namespace holdfast::test
