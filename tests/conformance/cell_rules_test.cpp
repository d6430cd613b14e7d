#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "conformance/rule.hpp"
#include "holdfast/store/cells.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;
using test::Link;

namespace {

CellKey key_of(std::string_view name, CellKind kind = CellKind::value) {
  return {kind, lock_name(name)};
}

// A client that works on cells. Every verb waits for its answer.
class CellClient {
 public:
  explicit CellClient(Bench& on) : claimant_(on.claimant()) {}

  Cells& cells() { return *claimant_.link().cells(); }
  void set(Link link) { claimant_.link().set(link); }
  CellOp op(std::uint64_t number) const { return {claimant_.owner().client, number}; }
  CellOp next() { return op(++last_); }

  CellReply ask_read(const CellKey& key) {
    Answer<CellReply> answer;
    cells().read(key, answer.call());
    return answer.reply();
  }
  CellReply ask(const CellWrite& write) {
    Answer<CellReply> answer;
    cells().write(write, answer.call());
    return answer.reply();
  }
  CellReply ask(const CellAdd& add) {
    Answer<CellReply> answer;
    cells().add(add, answer.call());
    return answer.reply();
  }

  CellState state(const CellKey& key) { return must_be_state(ask_read(key)); }
  CellState written(const CellKey& key, std::uint64_t expected, std::string value) {
    return must_be_state(ask(CellWrite{key, expected, std::move(value), next()}));
  }
  CellState added(const CellKey& key, std::int64_t delta, std::int64_t floor = 0) {
    return must_be_state(ask(CellAdd{key, delta, floor, next()}));
  }

  static CellState must_be_state(const CellReply& reply) {
    const auto* state = std::get_if<CellState>(&reply);
    EXPECT_NE(state, nullptr) << "the store did not answer a state, but alternative "
                              << reply.index();
    return state != nullptr ? *state : CellState{};
  }

 private:
  Claimant& claimant_;
  std::uint64_t last_ = 0;
};

void expect_conflict(const CellReply& reply, const CellState& now) {
  const auto* conflict = std::get_if<Conflict>(&reply);
  ASSERT_NE(conflict, nullptr) << "alternative " << reply.index();
  EXPECT_EQ(conflict->now.version, now.version);
  EXPECT_EQ(conflict->now.value, now.value);
}

void expect_rejected(Errc why, const CellReply& reply) {
  const auto* rejected = std::get_if<Rejected>(&reply);
  ASSERT_NE(rejected, nullptr) << "alternative " << reply.index();
  EXPECT_EQ(name_of(rejected->why), name_of(why));
}

void expect_state(const CellState& state, std::string_view value, std::uint64_t version) {
  EXPECT_EQ(state.value, value);
  EXPECT_EQ(state.version, version);
}

}  // namespace

// --- read and write ---

HOLDFAST_RULE(ACellThatWasNeverWrittenIsEmptyAndHasVersionZero) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  expect_state(alice.state(key_of("cell")), "", 0);
}

HOLDFAST_RULE(AWriteAtTheExpectedVersionIsSeenByAll) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellState first = alice.written(key_of("cell"), 0, "one");
  EXPECT_EQ(first.value, "one");
  EXPECT_GT(first.version, 0U);
  EXPECT_EQ(bob.state(key_of("cell")), first);
  const CellState second = bob.written(key_of("cell"), first.version, "two");
  EXPECT_GT(second.version, first.version);
  EXPECT_EQ(alice.state(key_of("cell")), second);
}

HOLDFAST_RULE(AWriteAtAnotherVersionIsAConflict) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell");
  expect_conflict(bob.ask(CellWrite{key, 7, "seven", bob.next()}), {});
  const CellState now = alice.written(key, alice.written(key, 0, "one").version, "two");
  for (const std::uint64_t expected : {std::uint64_t{0}, now.version - 1, now.version + 1}) {
    expect_conflict(bob.ask(CellWrite{key, expected, "three", bob.next()}), now);
  }
  EXPECT_EQ(alice.state(key), now);
}

HOLDFAST_RULE(VersionsGrowAndNeverRestart) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  const CellKey key = key_of("cell");
  std::uint64_t last = 0;
  for (const char* value : {"one", "one", "", "two", "", ""}) {
    const CellState now = alice.written(key, last, value);
    EXPECT_GT(now.version, last) << "also if the value is the same, or empty";
    EXPECT_EQ(alice.state(key), now);
    last = now.version;
  }
}

HOLDFAST_RULE(AValueOutlivesTheClientThatWroteIt) {
  HOLDFAST_NEEDS(cells);
  const CellKey key = key_of("cell");
  test::OpenedClient opened = on.fixture().open_client();
  Answer<CellReply> answer;
  opened.store->cells()->write({key, 0, "kept", {opened.id, 1}}, answer.call());
  const CellState written = CellClient::must_be_state(answer.reply());
  opened.store->close();
  opened.store.reset();
  on.let_lapse(on.lease());
  EXPECT_EQ(CellClient(on).state(key), written);
}

HOLDFAST_RULE(ValuesAreAnyBytesUpToTheLimit) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell");
  std::string bytes(kMaxCellValue, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
  std::uint64_t version = 0;
  for (const std::string& value : {std::string(), std::string("\0", 1), std::string("\xff\xfe"),
                                   std::string("a\r\nb'\"\\"), bytes}) {
    version = alice.written(key, version, value).version;
    EXPECT_EQ(bob.state(key).value, value);
  }
  expect_rejected(Errc::invalid_argument,
                  alice.ask(CellWrite{key, version, bytes + "x", alice.next()}));
  EXPECT_EQ(bob.state(key).value, bytes);
}

HOLDFAST_RULE(KindsOfOneNameAreDifferentCells) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  alice.written(key_of("cell", CellKind::value), 0, "value");
  alice.written(key_of("cell", CellKind::latch), 0, "3");
  EXPECT_EQ(alice.state(key_of("cell", CellKind::value)).value, "value");
  EXPECT_EQ(alice.state(key_of("cell", CellKind::latch)).value, "3");
  EXPECT_EQ(alice.state(key_of("cell", CellKind::size)).version, 0U);
}

HOLDFAST_RULE(CellsOfAwkwardNamesAreDifferentCells_F132) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  std::vector<std::string> names{"a",     "A",        "a b",  "a/b",  "a:b",   "a{b}", "a*",
                                 "a%2Fb", "\xc3\xa4", "\xe4", "a\nb", "'; --", "0"};
  names.emplace_back("a\0b", 3);
  names.emplace_back("a\0c", 3);
  names.emplace_back(LockName::kMaxBytes, 'x');
  names.emplace_back(LockName::kMaxBytes - 1, 'x');
  for (const std::string& name : names) alice.written(key_of(name), 0, name);
  for (const std::string& name : names) {
    EXPECT_EQ(alice.state(key_of(name)).value, name) << printable(name);
  }
  expect_rejected(Errc::invalid_name, alice.ask_read({}));
}

HOLDFAST_RULE(ACellHasNothingToDoWithALockOfItsName) {
  HOLDFAST_NEEDS(cells);
  Claimant& holder = on.claimant("name");
  const Granted granted = holder.granted();
  CellClient alice(on);
  const CellState written = alice.written(key_of("name"), 0, "value");
  EXPECT_TRUE(holder.renews(granted.fence));
  EXPECT_TRUE(holder.releases(granted.fence));
  EXPECT_EQ(alice.state(key_of("name")), written);
  EXPECT_TRUE(on.look("*").empty());
}

// --- add ---

HOLDFAST_RULE(AddsOfSeveralClientsAreExact) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell", CellKind::latch);
  for (int i = 0; i < 10; ++i) {
    alice.added(key, 7);
    bob.added(key, -2);
  }
  EXPECT_EQ(alice.state(key).value, "50");
}

HOLDFAST_RULE(AnAddStopsAtTheFloor) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  const CellKey key = key_of("cell", CellKind::latch);
  const CellState three = alice.written(key, 0, "3");
  EXPECT_EQ(alice.added(key, -2).value, "1");
  const CellState zero = alice.added(key, -2);
  EXPECT_EQ(zero.value, "0");
  EXPECT_GT(zero.version, three.version);
  EXPECT_EQ(alice.added(key, -5, -3).value, "-3");
  EXPECT_EQ(alice.added(key, std::numeric_limits<std::int64_t>::min(), -4).value, "-4");
}

HOLDFAST_RULE(AnAddThatChangesNothingMakesNoVersion) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  const CellKey key = key_of("cell", CellKind::latch);
  expect_state(alice.added(key, -1), "", 0);
  expect_state(alice.state(key), "", 0);
  const CellState one = alice.added(key, 1);
  EXPECT_EQ(one.value, "1") << "what was never written counts as 0";
  EXPECT_EQ(alice.added(key, 0), one);
  const CellState zero = alice.added(key, -1);
  EXPECT_EQ(alice.added(key, -1), zero);
  EXPECT_EQ(alice.state(key), zero);
}

HOLDFAST_RULE(AnAddToWhatIsNoNumberOrWouldBeTooGreatIsAConflict) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  const CellKey key = key_of("cell");
  std::uint64_t version = 0;
  for (const char* value : {"", "one", "1 ", " 1", "1.5", "0x1", "9223372036854775808"}) {
    const CellState now = alice.written(key, version, value);
    expect_conflict(alice.ask(CellAdd{key, 1, 0, alice.next()}), now);
    version = now.version;
  }
  const CellState greatest = alice.written(key, version, "9223372036854775807");
  expect_conflict(alice.ask(CellAdd{key, 1, 0, alice.next()}), greatest);
  EXPECT_EQ(alice.added(key, -1).value, "9223372036854775806");
}

// --- once ---

HOLDFAST_RULE(AWriteThatIsRepeatedIsDoneOnce) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell");
  const CellWrite write{key, 0, "alice", alice.next()};
  const CellState first = CellClient::must_be_state(alice.ask(write));
  EXPECT_EQ(CellClient::must_be_state(alice.ask(write)), first);
  const CellState second = bob.written(key, first.version, "bob");
  EXPECT_EQ(CellClient::must_be_state(alice.ask(write)), first) << "the answer it would have got";
  EXPECT_EQ(alice.state(key), second);
}

HOLDFAST_RULE(AConflictThatIsRepeatedStaysOne) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell");
  const CellState one = alice.written(key, 0, "one");
  const CellWrite early{key, one.version + 1, "early", bob.next()};
  expect_conflict(bob.ask(early), one);
  const CellState two = alice.written(key, one.version, "two");
  if (two.version == early.expected) expect_conflict(bob.ask(early), two);
  EXPECT_EQ(alice.state(key), two) << "somebody was told that it was not done";
}

HOLDFAST_RULE(AnAddThatIsRepeatedIsDoneOnce) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell", CellKind::latch);
  const CellAdd add{key, 5, 0, alice.next()};
  const CellState five = CellClient::must_be_state(alice.ask(add));
  EXPECT_EQ(CellClient::must_be_state(alice.ask(add)), five);
  bob.added(key, 2);
  EXPECT_EQ(CellClient::must_be_state(alice.ask(add)), five);
  EXPECT_EQ(alice.state(key).value, "7");
}

HOLDFAST_RULE(AnAddWhoseReplyWasLostIsDoneOnce) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  const CellKey key = key_of("cell", CellKind::latch);
  const CellAdd add{key, 5, 0, alice.next()};
  alice.set(Link::deaf);
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(alice.ask(add)));
  alice.set(Link::up);
  EXPECT_EQ(CellClient::must_be_state(alice.ask(add)).value, "5");
  EXPECT_EQ(alice.state(key).value, "5");
}

HOLDFAST_RULE(AnOperationIsRememberedWhileOthersGoOn) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell", CellKind::latch);
  const CellAdd add{key, 1, 0, alice.next()};
  const CellState one = CellClient::must_be_state(alice.ask(add));
  for (int i = 0; i < 100; ++i) bob.added(key, 1);
  on.let_lapse(on.lease());
  EXPECT_EQ(CellClient::must_be_state(alice.ask(add)), one);
  EXPECT_EQ(alice.state(key).value, "101");
}

HOLDFAST_RULE(AnOlderOperationIsRejected) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on);
  const CellKey key = key_of("cell", CellKind::latch);
  EXPECT_EQ(CellClient::must_be_state(alice.ask(CellAdd{key, 1, 0, alice.op(7)})).value, "1");
  EXPECT_EQ(CellClient::must_be_state(alice.ask(CellAdd{key, 1, 0, alice.op(9)})).value, "2");
  for (const std::uint64_t number : {7U, 8U}) {
    expect_rejected(Errc::unknown, alice.ask(CellAdd{key, 1, 0, alice.op(number)}));
    expect_rejected(Errc::unknown,
                    alice.ask(CellWrite{key, alice.state(key).version, "9", alice.op(number)}));
  }
  EXPECT_EQ(alice.state(key).value, "2");
  expect_rejected(Errc::invalid_argument, alice.ask(CellAdd{key, 1, 0, alice.op(0)}));
}

HOLDFAST_RULE(OperationsAreCountedByClientAndCell) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  for (const CellKey& key :
       {key_of("a", CellKind::latch), key_of("b", CellKind::latch), key_of("a", CellKind::value)}) {
    alice.ask(CellAdd{key, 1, 0, alice.op(5)});
    bob.ask(CellAdd{key, 1, 0, bob.op(5)});
    EXPECT_EQ(alice.state(key).value, "2");
  }
}

// --- watch ---

namespace {

// Counts what a watch is told.
class Told {
 public:
  CellChangedFn fn() {
    return [box = box_] {
      const std::lock_guard lock(box->mutex);
      ++box->count;
      box->changed.notify_all();
    };
  }
  // Whether it is told anything (more than it was by then).
  bool comes(std::chrono::milliseconds patience) {
    std::unique_lock lock(box_->mutex);
    const bool came =
        box_->changed.wait_for(lock, patience, [&] { return box_->count > box_->taken; });
    box_->taken = box_->count;
    return came;
  }
  // Once nothing comes for a while.
  void drain(std::chrono::milliseconds quiet) {
    while (comes(quiet)) {
    }
  }

 private:
  struct Box {
    std::mutex mutex;
    std::condition_variable changed;
    int count = 0;
    int taken = 0;
  };
  std::shared_ptr<Box> box_ = std::make_shared<Box>();
};

}  // namespace

HOLDFAST_RULE(AChangeIsToldToThoseWhoWatch) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell", CellKind::latch);
  const auto within = on.pace().wakes_within;
  Told alices, bobs;
  const WatchPtr first = alice.cells().watch(key, alices.fn());
  WatchPtr second = bob.cells().watch(key, bobs.fn());
  // Those who begin may be told for nothing.
  alices.drain(within / 4);
  bobs.drain(within / 4);
  alice.added(key, 1);
  EXPECT_TRUE(alices.comes(within)) << "also who changed it";
  EXPECT_TRUE(bobs.comes(within));
  second.reset();
  bobs.drain(within / 4);
  alice.written(key, alice.state(key).version, "5");
  EXPECT_TRUE(alices.comes(within));
  EXPECT_FALSE(bobs.comes(within / 4)) << "a watch that ended is told nothing";
}

HOLDFAST_RULE(AChangeBetweenWatchingAndLookingIsTold) {
  HOLDFAST_NEEDS(cells);
  CellClient alice(on), bob(on);
  const CellKey key = key_of("cell", CellKind::latch);
  Told told;
  const WatchPtr watch = alice.cells().watch(key, told.fn());
  bob.added(key, 1);
  EXPECT_TRUE(told.comes(on.pace().wakes_within));
}

}  // namespace holdfast::conformance
