#include "store/sqlite/cell_rows.hpp"

#include <string>
#include <utility>

#include "rules/cell_entry.hpp"
#include "store/sqlite/cell_statements.hpp"
#include "store/sqlite/cell_waiters.hpp"
#include "store/sqlite/lock_rows.hpp"

namespace holdfast::store::sqlite {
namespace {

using rules::CellEntry;
using rules::DoneOp;

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t unsigned_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }
std::int64_t number_of(CellKind kind) { return static_cast<std::int64_t>(kind); }

// While it lives a commit waits for the disk. Not inside a transaction.
class ToTheDisk {
 public:
  explicit ToTheDisk(Database& db) : db_(db) { db_.execute("PRAGMA synchronous = FULL"); }
  ToTheDisk(const ToTheDisk&) = delete;
  ToTheDisk& operator=(const ToTheDisk&) = delete;
  ~ToTheDisk() {
    try {
      db_.execute("PRAGMA synchronous = NORMAL");
    } catch (const Failure&) {  // slower from now on, and right
    }
  }

 private:
  Database& db_;
};

CellState load_state(Database& db, const CellKey& key) {
  Statement row = db.prepare(kLoadCell);
  row.bind(number_of(key.kind)).bind_blob(key.name.bytes());
  if (!row.step()) return {};
  return {row.bytes(1), unsigned_of(row.integer(0))};
}

void save_state(Database& db, const CellKey& key, const CellState& state) {
  db.prepare(kSaveCell)
      .bind(number_of(key.kind))
      .bind_blob(key.name.bytes())
      .bind(signed_of(state.version))
      .bind_blob(state.value)
      .run();
}

DoneOp load_op(Database& db, const CellKey& key, const std::string& client) {
  Statement row = db.prepare(kLoadCellOp);
  row.bind(number_of(key.kind)).bind_blob(key.name.bytes()).bind_blob(client);
  if (!row.step()) return {};
  return {unsigned_of(row.integer(0)), row.integer(1) != 0, unsigned_of(row.integer(2)),
          row.integer(3), from_ns(row.integer(4))};
}

void save_op(Database& db, const CellKey& key, const std::string& client, const DoneOp& op) {
  db.prepare(kSaveCellOp)
      .bind(number_of(key.kind))
      .bind_blob(key.name.bytes())
      .bind_blob(client)
      .bind(signed_of(op.number))
      .bind(op.done ? 1 : 0)
      .bind(signed_of(op.version))
      .bind(op.sum)
      .bind(ns(op.at))
      .run();
}

// verb(entry, now)
template <class Ask, class Verb>
CellChange apply(Database& db, const Ask& ask, const Clock& clock, Verb verb) {
  if (auto no = rules::objection(ask)) return {*std::move(no), {}};
  const std::string client = bytes_of(ask.op.client);
  const ToTheDisk to_the_disk(db);
  Transaction transaction(db);
  CellEntry entry{load_state(db, ask.key), load_op(db, ask.key, client)};
  const std::uint64_t version = entry.state.version;
  const DoneOp before = entry.last;
  const TimePoint now = clock.now();
  CellChange change{verb(entry, now), {}};
  if (entry.state.version != version) save_state(db, ask.key, entry.state);
  if (entry.last != before) {
    db.prepare(kForgetOldCellOps).bind(ns(now - kCellOpsKept)).run();
    save_op(db, ask.key, client, entry.last);
  }
  // Inside, so that nobody falls between: one whose row comes later looks at the cell after that.
  change.waiters = waiters_of_cell(db, ask.key, now);
  transaction.commit();
  return change;
}

}  // namespace

CellReply read_cell(Database& db, const CellKey& key) {
  if (auto no = rules::objection(key)) return *std::move(no);
  return load_state(db, key);
}

CellChange write_cell(Database& db, const CellWrite& ask, const Clock& clock) {
  return apply(db, ask, clock,
               [&](CellEntry& entry, TimePoint now) { return entry.write(ask, now); });
}

CellChange add_to_cell(Database& db, const CellAdd& ask, const Clock& clock) {
  return apply(db, ask, clock,
               [&](CellEntry& entry, TimePoint now) { return entry.add(ask, now); });
}

std::optional<std::uint32_t> size_of(Database& db, const LockName& name) {
  return rules::size_in(load_state(db, {CellKind::size, name}));
}

std::uint64_t version_of_cell(Database& db, const CellKey& key) {
  Statement row = db.prepare(kCellVersion);
  row.bind(number_of(key.kind)).bind_blob(key.name.bytes());
  return row.step() ? unsigned_of(row.integer(0)) : 0;
}

}  // namespace holdfast::store::sqlite
