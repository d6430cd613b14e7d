// The tables and every statement of the embedded store. Times are nanoseconds of BOOTTIME.
//
//   meta     one row: whose clock counts, and the fence below which nothing is given out
//   lock     one row for each name in use. A mutex that is held says by whom; a row with no client
//            whose time is over is free. It keeps the newest fence until the row is swept, when
//            meta.floor takes over
//   share    the holds of a lock that can have several; its row in `lock` says of what kind it is, has
//            no client, and a time that is never over as long as anybody holds it or waits for it
//   line     who waits for a lock, in order of place
//   session  one row for each client that may hold something, with its session file's inode
//
// The tables of the cells: cell_statements.hpp.
#pragma once

namespace holdfast::store::sqlite {

inline constexpr int kSchemaVersion = 2;
inline constexpr int kApplicationId = 0x48464C44;  // "HFLD"

// Since version 2.
inline constexpr const char* kShares = R"sql(
CREATE TABLE share(
  name BLOB NOT NULL, client BLOB NOT NULL, claim INTEGER NOT NULL,
  form INTEGER NOT NULL, take INTEGER NOT NULL, of INTEGER NOT NULL, slots TEXT NOT NULL,
  fence INTEGER NOT NULL, spare INTEGER NOT NULL, until INTEGER NOT NULL,
  offered INTEGER NOT NULL, revoked INTEGER NOT NULL,
  old_client BLOB, old_claim INTEGER, old_fence INTEGER,
  host TEXT, pid INTEGER, program TEXT, since INTEGER, reason TEXT,
  PRIMARY KEY(name, client, claim)) WITHOUT ROWID;
)sql";

inline constexpr const char* kSchema = R"sql(
PRAGMA application_id = 0x48464C44;
PRAGMA user_version = 2;
PRAGMA journal_mode = WAL;
CREATE TABLE meta(
  only INTEGER PRIMARY KEY CHECK(only = 1),
  machine TEXT NOT NULL, boot TEXT NOT NULL, time_namespace TEXT NOT NULL,
  floor INTEGER NOT NULL);
CREATE TABLE lock(
  name BLOB PRIMARY KEY NOT NULL,
  client BLOB, claim INTEGER,
  fence INTEGER NOT NULL, spare INTEGER NOT NULL, until INTEGER NOT NULL,
  offered INTEGER NOT NULL DEFAULT 0, revoked INTEGER NOT NULL DEFAULT 0,
  host TEXT, pid INTEGER, program TEXT, since INTEGER, reason TEXT,
  kind INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE line(
  name BLOB NOT NULL, place INTEGER NOT NULL,
  client BLOB NOT NULL, claim INTEGER NOT NULL,
  spare INTEGER NOT NULL, confirm_within INTEGER NOT NULL, until INTEGER NOT NULL,
  host TEXT, pid INTEGER, program TEXT, since INTEGER, reason TEXT,
  form INTEGER NOT NULL, take INTEGER NOT NULL, of INTEGER NOT NULL,
  old_client BLOB, old_claim INTEGER, old_fence INTEGER,
  PRIMARY KEY(name, place)) WITHOUT ROWID;
CREATE TABLE session(
  client BLOB PRIMARY KEY NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL) WITHOUT ROWID;
)sql";

// A file of version 1, which knew mutexes only.
inline constexpr const char* kUpgradeFrom1 = R"sql(
ALTER TABLE lock ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE line ADD COLUMN form INTEGER NOT NULL DEFAULT 0;
ALTER TABLE line ADD COLUMN take INTEGER NOT NULL DEFAULT 1;
ALTER TABLE line ADD COLUMN of INTEGER NOT NULL DEFAULT 1;
ALTER TABLE line ADD COLUMN old_client BLOB;
ALTER TABLE line ADD COLUMN old_claim INTEGER;
ALTER TABLE line ADD COLUMN old_fence INTEGER;
PRAGMA user_version = 2)sql";

// --- the common cases, one statement each ---

// Takes a lock that is free, lapsed or the asker's own, if nobody waits for it, and notes 0 the fence
// and 1 the spare ones. Nothing changed: it is not so simple.
// 1 name, 2 client, 3 claim, 4 spare, 5 now, 6 until, 7…11 host, pid, program, since, reason
inline constexpr const char* kGrant = R"sql(
INSERT INTO lock(name, client, claim, spare, fence, until, host, pid, program, since, reason)
VALUES(?1, ?2, ?3, noted(1, ?4), noted(0, (SELECT floor FROM meta) + 1), ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT(name) DO UPDATE SET
  fence = noted(0, CASE WHEN until > ?5 THEN fence ELSE fence + spare + 1 END),
  spare = noted(1, CASE WHEN until > ?5 THEN spare ELSE excluded.spare END),
  client = excluded.client, claim = excluded.claim, until = excluded.until,
  offered = 0, revoked = 0, host = excluded.host, pid = excluded.pid,
  program = excluded.program, since = excluded.since, reason = excluded.reason
WHERE (until <= ?5 OR (client = excluded.client AND claim = excluded.claim AND revoked = 0))
  AND NOT EXISTS(SELECT 1 FROM line WHERE line.name = ?1))sql";

// 1 until, 2 name, 3 client, 4 claim, 5 fence, 6 now
inline constexpr const char* kRenew = R"sql(
UPDATE lock SET until = ?1, offered = 0
WHERE name = ?2 AND client = ?3 AND claim = ?4 AND fence = ?5 AND until > ?6 AND revoked = 0)sql";

// 1 name, 2 client, 3 claim, 4 fence, 5 now. Only if nobody waits.
inline constexpr const char* kRelease = R"sql(
UPDATE lock SET client = NULL, claim = NULL, until = 0, offered = 0, revoked = 0
WHERE name = ?1 AND client = ?2 AND claim = ?3 AND fence = ?4 AND until > ?5
  AND NOT EXISTS(SELECT 1 FROM line WHERE line.name = ?1))sql";

// --- a lock and its line, read and written as a whole ---

inline constexpr const char* kLoadLock = R"sql(
SELECT client, claim, fence, spare, until, offered, revoked, host, pid, program, since, reason, kind
FROM lock WHERE name = ?1)sql";
inline constexpr const char* kLoadShares = R"sql(
SELECT client, claim, fence, spare, until, offered, revoked, host, pid, program, since, reason,
       form, take, of, slots, old_client, old_claim, old_fence
FROM share WHERE name = ?1 ORDER BY fence)sql";
inline constexpr const char* kLoadLine = R"sql(
SELECT client, claim, spare, confirm_within, until, host, pid, program, since, reason, place,
       form, take, of, old_client, old_claim, old_fence
FROM line WHERE name = ?1 ORDER BY place)sql";
inline constexpr const char* kFloor = "SELECT floor FROM meta";

// 1 name, 2 client, 3 claim, 4 fence, 5 spare, 6 until, 7 offered, 8 revoked, 9…13 the record
inline constexpr const char* kSaveHeld = R"sql(
INSERT OR REPLACE INTO lock(name, client, claim, fence, spare, until, offered, revoked,
                            host, pid, program, since, reason)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13))sql";
inline constexpr const char* kSaveFree = R"sql(
UPDATE lock SET client = NULL, claim = NULL, until = 0, offered = 0, revoked = 0, kind = 0
WHERE name = ?1)sql";
// A lock with shares. 1 name, 2 kind, 3 the newest fence, 4 never
inline constexpr const char* kSaveShared = R"sql(
INSERT OR REPLACE INTO lock(name, kind, fence, spare, until) VALUES(?1, ?2, ?3, 0, ?4))sql";
// 1 name, 2 client, 3 claim, 4 fence, 5 spare, 6 until, 7 offered, 8 revoked, 9…13 the record,
// 14 form, 15 take, 16 of, 17 slots, 18…20 the hold that it replaces
inline constexpr const char* kSaveShare = R"sql(
INSERT OR REPLACE INTO share(name, client, claim, fence, spare, until, offered, revoked,
                             host, pid, program, since, reason,
                             form, take, of, slots, old_client, old_claim, old_fence)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
       ?20))sql";
inline constexpr const char* kEndShare =
    "DELETE FROM share WHERE name = ?1 AND client = ?2 AND claim = ?3";
// 1 name, 2 place, 3 client, 4 claim, 5 spare, 6 confirm_within, 7 until, 8…12 the record,
// 13 form, 14 take, 15 of, 16…18 the hold that it is to replace
inline constexpr const char* kSaveWaiting = R"sql(
INSERT OR REPLACE INTO line(name, place, client, claim, spare, confirm_within, until,
                            host, pid, program, since, reason,
                            form, take, of, old_client, old_claim, old_fence)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18))sql";
inline constexpr const char* kLeaveLine = "DELETE FROM line WHERE name = ?1 AND place = ?2";

inline constexpr const char* kNamesInUse = R"sql(
SELECT name FROM lock WHERE client IS NOT NULL UNION SELECT name FROM share
UNION SELECT name FROM line)sql";
inline constexpr const char* kNamesOfClient = R"sql(
SELECT name FROM lock WHERE client = ?1 UNION SELECT name FROM share WHERE client = ?1
UNION SELECT name FROM line WHERE client = ?1)sql";

// --- watching ---

inline constexpr const char* kLook =
    "SELECT client, claim, fence, spare, until, offered, kind FROM lock WHERE name = ?1";
inline constexpr const char* kHead =
    "SELECT client, claim FROM line WHERE name = ?1 ORDER BY place LIMIT 1";

// --- sessions ---

inline constexpr const char* kAddSession = "INSERT OR REPLACE INTO session VALUES(?1, ?2, ?3)";
inline constexpr const char* kFindSession = "SELECT device, inode FROM session WHERE client = ?1";
inline constexpr const char* kAllSessions = "SELECT client, device, inode FROM session";
inline constexpr const char* kEndSession = R"sql(
DELETE FROM session WHERE client = ?1
  AND NOT EXISTS(SELECT 1 FROM lock WHERE client = ?1)
  AND NOT EXISTS(SELECT 1 FROM share WHERE client = ?1)
  AND NOT EXISTS(SELECT 1 FROM line WHERE client = ?1))sql";

// --- sweeping: rows of locks that are free, or lapsed with nobody waiting. 1 now ---

inline constexpr const char* kCountFree =
    "SELECT count(*) FROM lock WHERE until <= ?1 OR kind <> 0";
inline constexpr const char* kDropLapsedShares = "DELETE FROM share WHERE until <= ?1";
inline constexpr const char* kFreeUnshared = R"sql(
UPDATE lock SET until = 0, kind = 0 WHERE kind <> 0
  AND name NOT IN (SELECT name FROM share) AND name NOT IN (SELECT name FROM line))sql";
inline constexpr const char* kRaiseFloor = R"sql(
UPDATE meta SET floor = max(floor, (SELECT coalesce(max(fence + spare), 0) FROM lock
  WHERE until <= ?1 AND name NOT IN (SELECT name FROM line))))sql";
inline constexpr const char* kDropFree =
    "DELETE FROM lock WHERE until <= ?1 AND name NOT IN (SELECT name FROM line)";
inline constexpr const char* kDropLapsedLine = "DELETE FROM line WHERE until <= ?1";

// --- a new boot: every holder is gone. 1 machine, 2 boot, 3 time namespace ---

inline constexpr const char* kNewBoot = R"sql(
UPDATE meta SET machine = ?1, boot = ?2, time_namespace = ?3, floor = ((max(floor,
  (SELECT coalesce(max(fence + spare), 0) FROM lock)) >> 40) + 1) << 40)sql";
inline constexpr const char* kForgetAll =
    "DELETE FROM lock; DELETE FROM share; DELETE FROM line; DELETE FROM session";

}  // namespace holdfast::store::sqlite
