// The tables and every statement of the cells in the embedded store. Times are nanoseconds of BOOTTIME.
//
//   cell         one row for each cell that was ever written. Rows stay: a version never restarts
//   cell_op      the last operation of each client on each cell, until it may be forgotten
//   cell_waiter  who wants to be woken when a cell changes, until that lapses
#pragma once

namespace holdfast::store::sqlite {

inline constexpr const char* kCellSchema = R"sql(
CREATE TABLE IF NOT EXISTS cell(
  kind INTEGER NOT NULL, name BLOB NOT NULL,
  version INTEGER NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY(kind, name));
CREATE TABLE IF NOT EXISTS cell_op(
  kind INTEGER NOT NULL, name BLOB NOT NULL, client BLOB NOT NULL,
  number INTEGER NOT NULL, done INTEGER NOT NULL,
  version INTEGER NOT NULL, sum INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(kind, name, client)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cell_op_at ON cell_op(at);
CREATE TABLE IF NOT EXISTS cell_waiter(
  kind INTEGER NOT NULL, name BLOB NOT NULL, client BLOB NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY(kind, name, client)) WITHOUT ROWID;
)sql";

// 1 kind, 2 name
inline constexpr const char* kLoadCell =
    "SELECT version, value FROM cell WHERE kind = ?1 AND name = ?2";
inline constexpr const char* kCellVersion =
    "SELECT version FROM cell WHERE kind = ?1 AND name = ?2";
// 1 kind, 2 name, 3 client
inline constexpr const char* kLoadCellOp = R"sql(
SELECT number, done, version, sum, at FROM cell_op
WHERE kind = ?1 AND name = ?2 AND client = ?3)sql";

// 1 kind, 2 name, 3 version, 4 value
inline constexpr const char* kSaveCell = R"sql(
INSERT INTO cell(kind, name, version, value) VALUES(?1, ?2, ?3, ?4)
ON CONFLICT(kind, name) DO UPDATE SET version = excluded.version, value = excluded.value)sql";
// 1 kind, 2 name, 3 client, 4 number, 5 done, 6 version, 7 sum, 8 at
inline constexpr const char* kSaveCellOp =
    "INSERT OR REPLACE INTO cell_op VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

// A few with each operation, so that old ones go faster than they come. 1 those done until then
inline constexpr const char* kForgetOldCellOps = R"sql(
DELETE FROM cell_op WHERE (kind, name, client) IN
  (SELECT kind, name, client FROM cell_op WHERE at <= ?1 ORDER BY at LIMIT 4))sql";

// --- waiting ---

// 1 kind, 2 name
inline constexpr const char* kCellWaiters =
    "SELECT client, until FROM cell_waiter WHERE kind = ?1 AND name = ?2";
// 1 kind, 2 name, 3 client, 4 until
inline constexpr const char* kSaveCellWaiter =
    "INSERT OR REPLACE INTO cell_waiter VALUES(?1, ?2, ?3, ?4)";
// 1 kind, 2 name, 3 client
inline constexpr const char* kDropCellWaiter =
    "DELETE FROM cell_waiter WHERE kind = ?1 AND name = ?2 AND client = ?3";
// 1 kind, 2 name, 3 now
inline constexpr const char* kDropLapsedCellWaiters =
    "DELETE FROM cell_waiter WHERE kind = ?1 AND name = ?2 AND until <= ?3";

// --- a new boot: whoever could ask again or waits is gone ---

inline constexpr const char* kForgetCellClients = "DELETE FROM cell_op; DELETE FROM cell_waiter";

}  // namespace holdfast::store::sqlite
