// Rows of the embedded store that somebody else has written, or that are damaged.
#include <chrono>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "store/sqlite/cell_rows.hpp"
#include "store/sqlite/cell_statements.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/lock_rows.hpp"
#include "store/sqlite/statements.hpp"
#include "support/manual_clock.hpp"

namespace holdfast::fuzz {
namespace {

using namespace store;
using namespace store::sqlite;

const LockName& name() {
  static const LockName kName = LockName::checked("lock").value();
  return kName;
}

// In memory: only the rows matter here.
Database& database() {
  static const test::ManualClock kClock;
  static Database database(":memory:", Database::Mode::create, kClock);
  static const bool kMade = [] {
    database.execute(kSchema);
    database.execute(kShares);
    database.execute(kCellSchema);
    database.execute("INSERT INTO meta VALUES(1, 'm', 'b', 't', 1 << 40)");
    return true;
  }();
  (void)kMade;
  return database;
}

// A client's id is one of a few, so that rows speak of the same ones; sometimes it is none.
std::string client_in(Input& input) {
  const std::uint8_t choice = input.byte();
  return choice < 250 ? std::string(16, static_cast<char>('a' + choice % 3)) : input.text();
}

std::int64_t small_or_any(Input& input, std::uint8_t bound) {
  const std::uint8_t choice = input.byte();
  return choice < 240 ? choice % bound : input.number();
}

struct Row {
  std::string client, old_client, host, program, reason, slots;
  std::int64_t place, kind, form, take, of, claim, fence, spare, until, flags, pid, since, confirm;
  bool replaces;
};

Row row_in(Input& input) {
  Row row;
  row.client = client_in(input);
  row.old_client = client_in(input);
  row.host = input.text();
  row.program = input.text();
  row.reason = input.text();
  row.slots = input.text();
  row.place = small_or_any(input, 5);
  row.kind = small_or_any(input, 3);
  row.form = small_or_any(input, 4);
  row.take = small_or_any(input, 4);
  row.of = small_or_any(input, 8);
  row.claim = small_or_any(input, 4);
  row.fence = input.number();
  row.spare = input.number();
  row.until = input.flag() ? kNever.time_since_epoch().count() : input.number();
  row.flags = input.byte();
  row.pid = input.number();
  row.since = input.number();
  row.confirm = input.number();
  row.replaces = input.flag();
  return row;
}

void bind_replaced(Statement& statement, const Row& row) {
  if (row.replaces) {
    statement.bind_blob(row.old_client).bind(row.claim).bind(row.fence);
  } else {
    statement.bind_null().bind_null().bind_null();
  }
}

void add_lock(Database& db, const Row& row) {
  db.prepare(kSaveShared)
      .bind_blob(name().bytes())
      .bind(row.kind)
      .bind(row.fence)
      .bind(row.until)
      .run();
  if (row.kind != 0 || (row.flags & 4) != 0) return;
  db.prepare(
        "UPDATE lock SET client = ?1, claim = ?2, spare = ?3, offered = ?4, host = ?5, program = "
        "?6, "
        "since = ?7, reason = ?8")
      .bind_blob(row.client)
      .bind(row.claim)
      .bind(row.spare)
      .bind(row.flags & 1)
      .bind_text(row.host)
      .bind_text(row.program)
      .bind(row.since)
      .bind_text(row.reason)
      .run();
}

void add_share(Database& db, const Row& row) {
  Statement statement = db.prepare(kSaveShare);
  statement.bind_blob(name().bytes()).bind_blob(row.client).bind(row.claim);
  statement.bind(row.fence)
      .bind(row.spare)
      .bind(row.until)
      .bind(row.flags & 1)
      .bind(row.flags >> 1);
  statement.bind_text(row.host).bind(row.pid).bind_text(row.program).bind(row.since);
  statement.bind_text(row.reason).bind(row.form).bind(row.take).bind(row.of).bind_text(row.slots);
  bind_replaced(statement, row);
  statement.run();
}

void add_waiting(Database& db, const Row& row) {
  Statement statement = db.prepare(kSaveWaiting);
  statement.bind_blob(name().bytes()).bind(row.place).bind_blob(row.client).bind(row.claim);
  statement.bind(row.spare).bind(row.confirm).bind(row.until);
  statement.bind_text(row.host).bind(row.pid).bind_text(row.program).bind(row.since);
  statement.bind_text(row.reason).bind(row.form).bind(row.take).bind(row.of);
  bind_replaced(statement, row);
  statement.run();
}

void add_size(Database& db, const std::string& value) {
  db.prepare(kSaveCell)
      .bind(static_cast<std::int64_t>(CellKind::size))
      .bind_blob(name().bytes())
      .bind(1)
      .bind_blob(value)
      .run();
}

GrantRequest request_in(Input& input) {
  GrantRequest ask;
  ask.name = name();
  ask.kind = static_cast<Kind>(input.byte() % 3);
  ask.owner = {client_from(std::string(16, static_cast<char>('a' + input.byte() % 4))),
               input.byte() % 4U};
  if (ask.kind == Kind::semaphore) ask.shape = Shape::permits(1 + input.byte() % 4U, 8);
  if (ask.kind == Kind::shared_mutex) ask.shape.form = static_cast<Shape::Form>(input.byte() % 3);
  ask.lease = std::chrono::seconds(30);
  ask.record.owner = to_string(ask.owner);
  ask.line_up = input.flag();
  ask.line_for = std::chrono::seconds(20);
  ask.confirm_within = std::chrono::seconds(10);
  return ask;
}

// Of a claim there is one row, and a mutex has no shares. Nothing is promised about what becomes of
// rows that should not be there.
bool all_belong(Database& db, const rules::LockEntry& entry) {
  if (entry.kind == Kind::mutex && db.number("SELECT count(*) FROM share") > 0) return false;
  std::set<OwnerId> owners;
  for (const auto& held : entry.holds) owners.insert(held.owner);
  for (const auto& waiting : entry.line) owners.insert(waiting.owner);
  return owners.size() == entry.holds.size() + entry.line.size();
}

void use_lock(Database& db, Input& input) {
  LockRows rows(db, name());
  const bool whole = all_belong(db, rows.entry);
  std::vector<rules::Told> told;
  const TimePoint now(std::chrono::hours(1));
  const rules::Moment at{now, rows.fences, told, size_of(db, name())};
  const GrantReply reply = rows.entry.try_grant(request_in(input), at);
  if (const auto* granted = std::get_if<Granted>(&reply)) {
    require(granted->fence >= 1 && granted->fence <= kMaxFence, "a fence is one");
  }
  for (const ClaimView& view : rows.entry.view(name(), now).holds) {
    require_safe(describe(view.record));
  }
  rows.save();
  const LockRows again(db, name());
  require(!whole || (again.entry.holds.size() == rows.entry.holds.size() &&
                     again.entry.line == rows.entry.line),
          "what was saved is loaded again");
}

const Target kSqliteRows("sqlite_rows", [](std::string_view bytes) {
  Input input(bytes);
  Database& db = database();
  const Transaction all(db);  // is rolled back
  try {
    const std::uint8_t counts = input.byte();
    if ((counts & 1) != 0) add_lock(db, row_in(input));
    for (int i = counts >> 1 & 3; i > 0; --i) add_share(db, row_in(input));
    for (int i = counts >> 3 & 3; i > 0; --i) add_waiting(db, row_in(input));
    if ((counts & 32) != 0) add_size(db, input.text());
    use_lock(db, input);
  } catch (const Failure& failure) {
    require_safe(failure.what());
    require(failure.no_answer().why == Errc::store_corrupt, "rows are damaged");
  }
});

}  // namespace
}  // namespace holdfast::fuzz
