// F017, F033: a holder that is stopped, for longer than its lease or not.
#include <signal.h>

#include "sqlite_test.hpp"
#include "support/processes/pauses.hpp"

namespace holdfast::test {
namespace {

class SqlitePause : public SqliteTest {
 protected:
  // Not in the middle of a write: there nobody could go on.
  Pause between_writes() {
    return {.stop = [this](const ChildProcess& child) {
      RawDatabase raw(database());
      raw.must("PRAGMA busy_timeout = 0");
      ASSERT_TRUE(eventually([&] {
        child.stop();
        if (raw.run("BEGIN IMMEDIATE; ROLLBACK")) return true;
        child.signal(SIGCONT);
        return false;
      }));
    }};
  }
};

TEST_F(SqlitePause, PastTheLeaseServesTheNextAndTellsTheStoppedHolder_F017_F033) {
  expect_served_past_the_lease(url(), between_writes());
}

// Alive, and the kernel knows it.
TEST_F(SqlitePause, ShorterThanTheLeaseChangesNothing) {
  expect_short_pause_changes_nothing(url(), between_writes());
}

// A process stopped in the middle of a write stops the whole file: that is no answer, not a no.
TEST_F(SqlitePause, InTheMiddleOfAWriteIsNoAnswerForAllAndHarmsNobody) {
  make();
  RawDatabase raw(database());
  raw.must("BEGIN IMMEDIATE");
  const Client client = open({.answer_within = 250ms, .patience = 1s});
  EXPECT_TRUE(is_no_answer(client.mutex("lock").acquire({.wait = kSoon})));
  raw.must("ROLLBACK");
  EXPECT_TRUE(
      eventually([&] { return client.mutex("lock").acquire({.wait = kSoon}).has_value(); }));
}

}  // namespace
}  // namespace holdfast::test
