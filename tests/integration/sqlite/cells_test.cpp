// Latches and versioned values between processes, and what the file keeps of them.
#include <algorithm>
#include <random>
#include <thread>

#include "sqlite_test.hpp"
#include "store/sqlite/cell_rows.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "support/answer.hpp"
#include "support/manual_clock.hpp"
#include "support/shared_page.hpp"

namespace holdfast::test {
namespace {

using SqliteCells = SqliteTest;

// --- other processes ---

// Arguments: URL. Waits for the latch and tells when it is let go.
const Role kWaitsAtTheGate("waits at the gate", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  parent.tell("waits");
  const auto opened = client.latch("gate").wait();
  parent.tell(opened ? "let go" : opened.error().text());
});

// Arguments: URL. Counts down at each word, and tells what is left.
const Role kCountsDown("counts down", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  parent.tell("ready");
  while (parent.hear()) {
    const auto left = client.latch("gate").count_down();
    parent.tell(left ? std::to_string(*left) : left.error().text());
  }
});

TEST_F(SqliteCells, LetWaitersOfOtherProcessesGoAtTheLastCountDown_S28) {
  const Client client = open();
  ASSERT_TRUE(client.latch("gate").set_count(3));
  std::vector<ChildProcess> waiters, counters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back(kWaitsAtTheGate, Words{url()});
  for (int i = 0; i < 3; ++i) counters.emplace_back(kCountsDown, Words{url()});
  for (ChildProcess& waiter : waiters) ASSERT_EQ(waiter.hear(), "waits");
  for (ChildProcess& counter : counters) ASSERT_EQ(counter.hear(), "ready");
  for (int i = 0; i < 2; ++i) {
    counters[static_cast<std::size_t>(i)].tell("go");
    EXPECT_EQ(counters[static_cast<std::size_t>(i)].hear(), std::to_string(2 - i));
  }
  EXPECT_EQ(waiters[0].hear(300ms), "") << "one is missing";
  counters[2].tell("go");
  EXPECT_EQ(counters[2].hear(), "0");
  const Stopwatch watch;
  for (ChildProcess& waiter : waiters) EXPECT_EQ(waiter.hear(), "let go");
  EXPECT_LT(watch.elapsed(), 5s);
  EXPECT_TRUE(client.latch("gate").try_wait().value());
}

TEST_F(SqliteCells, LetAWaiterOfTheSameClientGoAtOnce_S28) {
  const Client client = open();
  ASSERT_TRUE(client.latch("gate").set_count(1));
  std::thread counts([&] {
    std::this_thread::sleep_for(50ms);
    EXPECT_TRUE(client.latch("gate").count_down());
  });
  EXPECT_TRUE(client.latch("gate").wait({.wait = kSoon}));
  counts.join();
}

// By a wake, which comes sooner than the next look.
TEST_F(SqliteCells, LetAWaiterOfAnotherProcessGoAtOnce_S28) {
  const Client client = open();
  std::vector<std::chrono::milliseconds> times;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.latch("gate").set_count(1));
    ChildProcess waiter(kWaitsAtTheGate, {url()});
    ASSERT_EQ(waiter.hear(), "waits");
    RawDatabase raw(database());
    ASSERT_TRUE(eventually([&] { return raw.number("SELECT count(*) FROM cell_waiter") == 1; }));
    std::this_thread::sleep_for(20ms);  // it has looked since, and sleeps
    const Stopwatch watch;
    EXPECT_EQ(client.latch("gate").count_down().value(), 0);
    EXPECT_EQ(waiter.hear(), "let go");
    times.push_back(watch.elapsed());
    EXPECT_EQ(waiter.exit_code(), 0);
    EXPECT_EQ(raw.number("SELECT count(*) FROM cell_waiter"), 0) << "it cleans up";
  }
  EXPECT_LT(*std::min_element(times.begin(), times.end()), 60ms)
      << "by looking it takes 100 on average";
}

TEST_F(SqliteCells, DoNotMissAWaiterThatWasKilled) {
  const Client client = open();
  ASSERT_TRUE(client.latch("gate").set_count(2));
  ChildProcess waiter(kWaitsAtTheGate, {url()});
  ASSERT_EQ(waiter.hear(), "waits");
  ASSERT_TRUE(eventually(
      [&] { return RawDatabase(database()).number("SELECT count(*) FROM cell_waiter") == 1; }));
  waiter.kill();
  EXPECT_EQ(client.latch("gate").count_down().value(), 1);
  expect_nothing_left_behind();
  EXPECT_EQ(client.latch("gate").count_down().value(), 0);
}

// What a process has begun and what it has been told of: the truth lies between.
struct Tally {
  std::atomic<std::int64_t> begun;
  std::atomic<std::int64_t> told;
};

// Arguments: URL, the file of the tally.
const Role kCountsForEver("counts for ever", [](Parent&, const Words& arguments) {
  SharedPage<Tally> tally(arguments.at(1));
  const Client client = connect(arguments.at(0)).value();
  while (true) {
    ++tally->begun;
    if (client.latch("gate").count_down()) ++tally->told;
  }
});

TEST_F(SqliteCells, CountAtMostOnceWhenACounterIsKilledInTheMiddle) {
  constexpr std::int64_t kMany = 1'000'000;
  const Client client = open();
  ASSERT_TRUE(client.latch("gate").set_count(kMany));
  const SharedPage<Tally> tally(folder() + "/tally", SharedPage<Tally>::Make{});
  std::mt19937 random(chosen_seed());
  const int kills = kSanitized ? 5 : 15;
  for (int i = 0; i < kills; ++i) {
    ChildProcess counter(kCountsForEver, {url(), folder() + "/tally"});
    const std::int64_t before = tally->told;
    ASSERT_TRUE(eventually([&] { return tally->told > before + 2; }));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
    counter.kill();
    const std::int64_t counted = kMany - client.latch("gate").count().value();
    EXPECT_GE(counted, tally->told.load());
    EXPECT_LE(counted, tally->begun.load());
    EXPECT_LE(tally->begun - tally->told, i + 1) << "one per kill";
  }
}

// Arguments: URL, how often.
const Role kUpdates("updates", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  parent.tell("ready");
  parent.hear();
  int failed = 0;
  for (int i = 0; i < std::stoi(arguments.at(1)); ++i) {
    const auto updated = client.versioned("stock").update([](const VersionedValue& before) {
      return std::to_string(before.value.empty() ? 1 : std::stoi(before.value) + 1);
    });
    if (!updated) ++failed;
  }
  parent.tell(std::to_string(failed));
});

TEST_F(SqliteCells, AreExactAfterOptimisticUpdatesOfManyProcesses) {
  const int processes = 4, times = kSanitized ? 10 : 50;
  std::vector<ChildProcess> children;
  for (int i = 0; i < processes; ++i) {
    children.emplace_back(kUpdates, Words{url(), std::to_string(times)});
  }
  for (ChildProcess& child : children) ASSERT_EQ(child.hear(), "ready");
  for (ChildProcess& child : children) child.tell("go");
  for (ChildProcess& child : children) EXPECT_EQ(child.hear(120s), "0");
  const auto read = open().versioned("stock").read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->value, std::to_string(processes * times));
  EXPECT_EQ(read->version, static_cast<std::uint64_t>(processes * times));
}

// --- what the file keeps ---

TEST_F(SqliteCells, StayWhenNobodyHasTheFileOpen) {
  ASSERT_TRUE(open().versioned("config").write("kept", 0));
  EXPECT_EQ(open().versioned("config").read()->value, "kept");
  expect_nothing_left_behind();
  EXPECT_EQ(open().versioned("config").read()->version, 1U);
}

TEST_F(SqliteCells, AreAddedToAFileThatWasMadeBeforeThereWereAny) {
  make();
  {
    RawDatabase raw(database());
    raw.must("DROP TABLE cell");
    raw.must("DROP TABLE cell_op");
    raw.must("DROP TABLE cell_waiter");
  }
  const Client client = open();
  EXPECT_TRUE(client.versioned("config").write("one", 0));
  EXPECT_TRUE(client.mutex("lock").try_acquire());
}

TEST_F(SqliteCells, OfTheGreatestSizeFindRoom) {
  const Client client = open();
  const std::string value(64 * 1024, 'x');
  for (int i = 0; i < 20; ++i) {
    const auto written = client.versioned("big " + std::to_string(i)).write(value, 0);
    ASSERT_TRUE(written) << i << ": " << written.error().text();
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client.versioned("big " + std::to_string(i)).read()->value, value);
  }
}

TEST_F(SqliteCells, AreLeftAloneWhenFreeLocksAreSwept) {
  const Client client = open();
  ASSERT_TRUE(client.versioned("config").write("kept", 0));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(client.mutex("lock " + std::to_string(i)).try_acquire()->release());
  }
  ASSERT_TRUE(open().mutex("sweeps").try_acquire());
  EXPECT_LT(RawDatabase(database()).number("SELECT count(*) FROM lock"), 300);
  EXPECT_EQ(client.versioned("config").read()->value, "kept");
}

class SqliteCellsByHand : public SqliteTest {
 protected:
  std::unique_ptr<store::sqlite::SqliteStore> open_at(const char* boot) {
    return std::make_unique<store::sqlite::SqliteStore>(store::sqlite::SqliteStore::Parts{
        store::sqlite::find_place({"sqlite", database(), {}}),
        {.id = "machine", .boot = boot, .time_namespace = "time:[1]"},
        clock_,
        {1, ++clients_}});
  }
  store::CellReply add(store::Store& store, const store::CellOp& op) {
    Answer<store::CellReply> answer;
    store.cells()->add({key_, 1, 0, op}, answer.call());
    return answer.reply();
  }
  static store::CellState state_in(const store::CellReply& reply) {
    const auto* state = std::get_if<store::CellState>(&reply);
    return state != nullptr ? *state : store::CellState{};
  }

  ManualClock clock_;
  const store::CellKey key_{store::CellKind::latch, store::LockName::checked("gate").value()};
  std::uint64_t clients_ = 0;
};

// Leases are void after a boot; what was written is not.
TEST_F(SqliteCellsByHand, SurviveANewBootAndVersionsGoOn_F130) {
  std::uint64_t last = 0;
  for (const char* boot : {"boot 1", "boot 2", "boot 3"}) {
    const auto store = open_at(boot);
    const store::CellState now = state_in(add(*store, {{1, clients_}, 1}));
    EXPECT_EQ(now.version, last + 1) << boot;
    EXPECT_EQ(now.value, std::to_string(last + 1));
    last = now.version;
  }
  EXPECT_EQ(RawDatabase(database()).number("SELECT count(*) FROM cell_op"), 1)
      << "those who could ask again are gone";
}

TEST_F(SqliteCellsByHand, ForgetOperationsAfterAWhileAndNotBefore) {
  const auto store = open_at("boot 1");
  for (std::uint64_t client = 1; client <= 50; ++client) add(*store, {{2, client}, 1});
  clock_.advance(store::kCellOpsKept - 1s);
  EXPECT_EQ(state_in(add(*store, {{2, 1}, 1})).value, "1") << "it is remembered";
  add(*store, {{3, 1}, 1});
  RawDatabase raw(database());
  EXPECT_EQ(raw.number("SELECT count(*) FROM cell_op"), 51);
  clock_.advance(1s);
  for (std::uint64_t number = 2; number <= 15; ++number) add(*store, {{3, 1}, number});
  EXPECT_EQ(raw.number("SELECT count(*) FROM cell_op"), 1);
  EXPECT_EQ(raw.number("SELECT count(*) FROM cell"), 1);
}

// A write waits for the disk; the locks that follow on the same connection do not.
TEST_F(SqliteCellsByHand, WaitForTheDiskAloneAndLeaveTheRestAsItWas) {
  make();
  store::sqlite::Database db(database(), store::sqlite::Database::Mode::existing, clock_);
  db.execute("PRAGMA synchronous = NORMAL");
  write_cell(db, {key_, 0, "1", {{1, 1}, 1}}, clock_);
  EXPECT_EQ(db.number("PRAGMA synchronous"), 1);
  db.execute("DROP TABLE cell");
  EXPECT_THROW(write_cell(db, {key_, 1, "2", {{1, 1}, 2}}, clock_), store::sqlite::Failure);
  EXPECT_EQ(db.number("PRAGMA synchronous"), 1);
}

}  // namespace
}  // namespace holdfast::test
