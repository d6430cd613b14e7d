// F016: a holder that is stopped for longer than its lease.
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>

#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

class SqlitePause : public SqliteTest {
 protected:
  // Stops a process, but not in the middle of a write: there nobody could go on.
  void stop(const ChildProcess& child) {
    RawDatabase raw(database());
    raw.must("PRAGMA busy_timeout = 0");
    ASSERT_TRUE(eventually([&] {
      child.signal(SIGSTOP);
      ::waitid(P_PID, static_cast<id_t>(child.pid()), nullptr, WSTOPPED);
      if (raw.run("BEGIN IMMEDIATE; ROLLBACK")) return true;
      child.signal(SIGCONT);
      return false;
    }));
  }
};

TEST_F(SqlitePause, PastTheLeaseServesTheNextAndTellsTheStoppedHolder) {
  ChildProcess holder(kHolder, {url(), "1000"});
  const FencingToken fence = fence_from(holder.hear());
  const Client client = open();
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait(client));
  stop(holder);
  const Stopwatch watch;
  const auto hold = std::move(pending).get_for(kSoon);
  ASSERT_TRUE(hold) << hold.error().text();
  std::printf("served %lld ms after the stop\n", static_cast<long long>(watch.elapsed().count()));
  EXPECT_GT(watch.elapsed(), 300ms) << "a third of the lease was left at least";
  EXPECT_GT(hold->fence(), fence);
  holder.tell("valid");
  holder.tell("lost");
  holder.tell("release");
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.hear(), "no") << "at once, before anybody could tell it";
  EXPECT_EQ(holder.hear(), "lost");
  EXPECT_EQ(holder.hear(), "lost") << "so says release()";
  EXPECT_TRUE(hold->verify()) << "and the new holder did not notice";
}

// Alive, and the kernel knows it.
TEST_F(SqlitePause, ShorterThanTheLeaseChangesNothing) {
  ChildProcess holder(kHolder, {url(), "30000"});
  ASSERT_NE(holder.hear(), "");
  stop(holder);
  const Client client = open();
  EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = 700ms})));
  holder.tell("release");
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.hear(), "released");
}

// A process stopped in the middle of a write stops the whole file: that is no answer, not a no.
TEST_F(SqlitePause, InTheMiddleOfAWriteIsNoAnswerForAllAndHarmsNobody) {
  make();
  RawDatabase raw(database());
  raw.must("BEGIN IMMEDIATE");
  const Client client = open({.answer_within = 250ms, .patience = 1s});
  EXPECT_TRUE(is_no_answer(client.mutex("lock").acquire({.wait = kSoon})));
  raw.must("ROLLBACK");
  EXPECT_TRUE(eventually([&] { return client.mutex("lock").acquire({.wait = kSoon}).has_value(); }));
}

}  // namespace
}  // namespace holdfast::test
