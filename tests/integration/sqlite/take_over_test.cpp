// F028, F029: what becomes of the locks of a process that is gone, and of one that only seems so.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sqlite_test.hpp"
#include "support/processes/holder.hpp"

namespace holdfast::test {
namespace {

// Well before a lease of 30 s, on the slowest machine.
constexpr auto kFarBeforeTheLease = 8s;
// Several looks of one who waits.
constexpr auto kSomeLooks = 700ms;

class SqliteTakeOver : public SqliteTest {
 protected:
  // Names the session file of the only client there is.
  std::string only_session() const {
    const auto files = session_files();
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? "" : sessions() + "/" + files.front();
  }
};

TEST_F(SqliteTakeOver, OfAKilledHolderIsFastForOneWhoWaits_F028) {
  ChildProcess holder(kHolder, {url(), "30000"});
  const FencingToken fence = fence_from(holder.hear());
  const Client client = open();
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait(client));
  const Stopwatch watch;
  holder.kill();
  const auto hold = std::move(pending).get_for(kSoon);
  ASSERT_TRUE(hold) << hold.error().text();
  std::printf("taken over after %lld ms\n", static_cast<long long>(watch.elapsed().count()));
  EXPECT_LT(watch.elapsed(), kFarBeforeTheLease);
  EXPECT_GT(hold->fence(), fence);
}

// A client that has much else to do looks no less often.
TEST_F(SqliteTakeOver, OfAKilledHolderIsFastForABusyClient_F028) {
  ChildProcess holder(kHolder, {url(), "30000"});
  ASSERT_NE(holder.hear(), "");
  const Client client = open();
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait(client));
  const Stopwatch watch;
  holder.kill();
  while (!pending.ready() && watch.elapsed() < kSoon) {
    static_cast<void>(client.mutex("other").async_acquire().get());
    ::usleep(10'000);
  }
  std::printf("taken over after %lld ms\n", static_cast<long long>(watch.elapsed().count()));
  EXPECT_LT(watch.elapsed(), 3s) << "before the engine asks again by itself, after 5 s";
  EXPECT_TRUE(std::move(pending).get());
}

TEST_F(SqliteTakeOver, OfAKilledHolderNeedsOneAttempt_F028) {
  ChildProcess holder(kHolder, {url(), "30000"});
  const FencingToken fence = fence_from(holder.hear());
  const Client client = open();
  EXPECT_TRUE(fails_with(Errc::busy, client.mutex("lock").try_acquire()));
  holder.kill();
  const auto hold = client.mutex("lock").try_acquire();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_GT(hold->fence(), fence);
}

// Arguments: URL. Waits in line and never answers.
const Role kWaits("waits", [](Parent&, const Words& arguments) {
  static_cast<void>(connect(arguments.at(0))->mutex("lock").acquire());
});

TEST_F(SqliteTakeOver, PassesOverAKilledWaiterAtTheHeadOfTheLine_F029) {
  const Client client = open(), next = open();
  auto hold = client.mutex("lock").acquire();
  ChildProcess head(kWaits, {url()});
  ASSERT_TRUE(comes_to_wait(client));
  auto pending = next.mutex("lock").async_acquire();
  ASSERT_TRUE(eventually([&] { return client.inspect()->front().line.size() == 2; }));
  head.kill();
  const Stopwatch watch;
  EXPECT_TRUE(hold->release());
  EXPECT_TRUE(std::move(pending).get_for(kSoon));
  EXPECT_LT(watch.elapsed(), kFarBeforeTheLease);
}

// Waits with several claims of one client.
const Role kWaitsOften("waits often", [](Parent&, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  std::vector<Pending<Hold>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(client.mutex("lock").async_acquire({.order = Order::fifo}));
  }
  ::pause();
});

TEST_F(SqliteTakeOver, PassesOverAllClaimsOfAKilledWaiterAtOnce_F029) {
  const Client client = open(), next = open();
  auto hold = client.mutex("lock").acquire();
  ChildProcess head(kWaitsOften, {url()});
  ASSERT_TRUE(eventually([&] { return client.inspect()->front().line.size() == 20; }));
  auto pending = next.mutex("lock").async_acquire({.order = Order::fifo});
  ASSERT_TRUE(eventually([&] { return client.inspect()->front().line.size() == 21; }));
  head.kill();
  const Stopwatch watch;
  EXPECT_TRUE(hold->release());
  EXPECT_TRUE(std::move(pending).get_for(kSoon));
  EXPECT_LT(watch.elapsed(), 2s) << "a look for each of them would take longer";
}

// ---- a child that inherited the lifeline ----

// As kHolder, with a child that has the lifeline and lives until it hears a line.
const Role kHolderWithHeir("holder with heir", [](Parent&, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  const auto hold = client.mutex("lock").acquire(
      {.lease = std::chrono::milliseconds(std::stoi(arguments.at(1)))});
  ::fcntl(client.lifeline(), F_SETFD, 0);
  if (::fork() == 0) {
    ::execl("/bin/sh", "sh", "-c", "echo ready; read line", nullptr);
    ::_exit(1);
  }
  ::pause();
});

TEST_F(SqliteTakeOver, WaitsForAChildThatInheritedTheLifeline) {
  ChildProcess holder(kHolderWithHeir, {url(), "30000"});
  ASSERT_EQ(holder.hear(), "ready");
  const Client client = open();
  ::kill(holder.pid(), SIGKILL);
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(holder.pid()), nullptr, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(fails_with(Errc::busy, client.mutex("lock").try_acquire()));
  EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = kSomeLooks})));
  auto pending = client.mutex("lock").async_acquire();
  const Stopwatch watch;
  holder.tell("end");
  EXPECT_TRUE(std::move(pending).get_for(kSoon));
  EXPECT_LT(watch.elapsed(), kFarBeforeTheLease);
}

TEST_F(SqliteTakeOver, WaitsForAnHeirNoLongerThanTheLease) {
  ChildProcess holder(kHolderWithHeir, {url(), "1500"});
  ASSERT_EQ(holder.hear(), "ready");
  const Client client = open();
  ::kill(holder.pid(), SIGKILL);
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(holder.pid()), nullptr, WEXITED | WNOWAIT), 0);
  const Stopwatch watch;
  EXPECT_TRUE(client.mutex("lock").acquire({.wait = kSoon}));
  EXPECT_GT(watch.elapsed(), 800ms) << "at least two thirds of a lease were left";
  holder.tell("end");
}

// ---- fork without exec ----

// Arguments: URL.
const Role kForks("forks", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  Hold hold = client.mutex("lock").acquire().value();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool good = client.mutex("lock").try_acquire().error() == Errc::forked &&
                      client.mutex("other").acquire().error() == Errc::forked &&
                      client.inspect().error() == Errc::forked && !hold.valid() &&
                      hold.release().error() == Errc::forked;
    std::exit(good ? 0 : 1);  // with all destructors of static objects
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  parent.tell(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "forked" : "something else");
  parent.hear();
  parent.tell(hold.valid() && hold.verify() ? "held" : "not held");
  parent.hear();
  parent.tell(hold.release() ? "released" : "not released");
});

TEST_F(SqliteTakeOver, DoesNotHappenWhenAForkedChildEnds_F023_F125) {
  ChildProcess holder(kForks, {url()});
  ASSERT_EQ(holder.hear(), "forked");
  const Client client = open();
  EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = kSomeLooks})));
  holder.tell("go on");
  EXPECT_EQ(holder.hear(), "held");
  holder.tell("go on");
  EXPECT_EQ(holder.hear(), "released");
  EXPECT_TRUE(client.mutex("lock").try_acquire());
}

// ---- somebody meddles with the session files ----

TEST_F(SqliteTakeOver, DoesNotHappenWhenTheSessionFileIsRemoved) {
  ChildProcess holder(kHolder, {url(), "30000"});
  ASSERT_NE(holder.hear(), "");
  ASSERT_TRUE(std::filesystem::remove(only_session()));
  {
    const Client client = open();
    EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = kSomeLooks})));
    holder.tell("release");
    EXPECT_EQ(holder.hear(), "released");
    EXPECT_TRUE(client.mutex("lock").try_acquire());
  }
  holder.kill();
  expect_nothing_left_behind();
}

TEST_F(SqliteTakeOver, DoesNotHappenWhenTheSessionFileIsReplaced) {
  ChildProcess holder(kHolder, {url(), "30000"});
  ASSERT_NE(holder.hear(), "");
  const std::string file = only_session();
  std::ofstream(file + ".new") << std::string(4096, '\0');  // so that it cannot get the same inode
  std::filesystem::rename(file + ".new", file);
  const Client client = open();
  EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = kSomeLooks})));
  holder.tell("release");
  EXPECT_EQ(holder.hear(), "released");
  EXPECT_TRUE(client.mutex("lock").try_acquire());
}

TEST_F(SqliteTakeOver, OfAKilledHolderWithoutItsSessionFileWaitsForTheLease) {
  for (const bool replaced : {false, true}) {
    ChildProcess holder(kHolder, {url(), "1500"});
    ASSERT_NE(holder.hear(), "");
    const std::string file = only_session();
    if (replaced) {
      std::ofstream(file + ".new") << std::string(4096, '\0');
      std::filesystem::rename(file + ".new", file);
    } else {
      std::filesystem::remove(file);
    }
    holder.kill();
    {
      const Client client = open();
      const Stopwatch watch;
      auto hold = client.mutex("lock").acquire({.wait = kSoon});
      ASSERT_TRUE(hold);
      EXPECT_GT(watch.elapsed(), 800ms) << "at least two thirds of a lease were left";
      EXPECT_TRUE(hold->release());
    }
    expect_nothing_left_behind();
  }
}

// Whoever begins sweeps what nobody owns any more; files of those who just begin are not to suffer.
TEST_F(SqliteTakeOver, SweepersLeaveTheFilesOfBeginnersAlone) {
  make();
  std::atomic<int> without_file = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < (kSanitized ? 20 : 60); ++round) {
        const Client client = open();
        const auto hold = client.mutex(std::to_string(i)).acquire();
        ASSERT_TRUE(hold) << hold.error().text();
        struct stat status {};
        if (::fstat(client.lifeline(), &status) != 0 || status.st_nlink == 0) ++without_file;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(without_file, 0);
}

// Whoever begins buries the dead, and gets its lock also if that fails.
TEST_F(SqliteTakeOver, DoesNotDependOnBuryingTheDead) {
  ChildProcess holder(kHolder, {url(), "30000"});
  ASSERT_NE(holder.hear(), "");
  holder.kill();
  RawDatabase raw(database());
  raw.must("CREATE TRIGGER trouble BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'no'); END");
  {
    const Client client = open();
    const auto hold = client.mutex("lock").try_acquire();
    EXPECT_TRUE(hold) << hold.error().text();
  }
  raw.must("DROP TRIGGER trouble");
  expect_nothing_left_behind();
}

}  // namespace
}  // namespace holdfast::test
