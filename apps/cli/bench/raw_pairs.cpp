#include "cli/bench/raw_pairs.hpp"

#include <chrono>
#include <random>

#include <sqlite3.h>

#include "cli/boot_now.hpp"
#include "cli/refusal.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

const char* const kRawGrant = R"sql(
INSERT INTO lock(name, client, claim, spare, fence, until, host, pid, program, since, reason)
VALUES(?1, ?2, ?3, ?4, (SELECT floor FROM meta) + 1, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT(name) DO UPDATE SET
  fence = CASE WHEN until > ?5 THEN fence ELSE fence + spare + 1 END,
  spare = CASE WHEN until > ?5 THEN spare ELSE excluded.spare END,
  client = excluded.client, claim = excluded.claim, until = excluded.until,
  offered = 0, revoked = 0, host = excluded.host, pid = excluded.pid,
  program = excluded.program, since = excluded.since, reason = excluded.reason
WHERE (until <= ?5 OR (client = excluded.client AND claim = excluded.claim AND revoked = 0))
  AND NOT EXISTS(SELECT 1 FROM line WHERE line.name = ?1)
RETURNING fence, spare)sql";

const char* const kRawRelease = R"sql(
UPDATE lock SET client = NULL, claim = NULL, until = 0, offered = 0, revoked = 0
WHERE name = ?1 AND client = ?2 AND claim = ?3 AND fence = ?4 AND until > ?5
  AND NOT EXISTS(SELECT 1 FROM line WHERE line.name = ?1))sql";

namespace {

constexpr std::string_view kClient = "holdfast bench..";  // 16 bytes, as any client's

void bind_blob(sqlite3_stmt* statement, int at, std::string_view value) {
  sqlite3_bind_blob64(statement, at, value.data(), value.size(), SQLITE_STATIC);
}

void bind_text(sqlite3_stmt* statement, int at, std::string_view value) {
  sqlite3_bind_text64(statement, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

}  // namespace

RawPairs::RawPairs(const std::string& path) {
  std::random_device random;
  name_ = "holdfast-bench/raw-" + std::to_string(random());
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) fail();
  sqlite3_busy_timeout(db_, 5000);
  execute("PRAGMA synchronous = NORMAL");  // the file itself is in WAL mode
  if (sqlite3_prepare_v3(db_, kRawGrant, -1, SQLITE_PREPARE_PERSISTENT, &grant_, nullptr) !=
          SQLITE_OK ||
      sqlite3_prepare_v3(db_, kRawRelease, -1, SQLITE_PREPARE_PERSISTENT, &release_, nullptr) !=
          SQLITE_OK) {
    fail();
  }
}

RawPairs::~RawPairs() {
  sqlite3_finalize(grant_);
  sqlite3_finalize(release_);
  sqlite3_close(db_);
}

void RawPairs::pair() {
  ++claim_;
  const std::int64_t fence = grant(boot_now().time_since_epoch().count());
  release(fence, boot_now().time_since_epoch().count());
}

std::int64_t RawPairs::grant(std::int64_t now) {
  bind_blob(grant_, 1, name_);
  bind_blob(grant_, 2, kClient);
  sqlite3_bind_int64(grant_, 3, claim_);
  sqlite3_bind_int64(grant_, 4, 16);
  sqlite3_bind_int64(grant_, 5, now);
  sqlite3_bind_int64(grant_, 6, now + std::chrono::nanoseconds(30s).count());
  bind_text(grant_, 7, "host");
  sqlite3_bind_int64(grant_, 8, pid_);
  bind_text(grant_, 9, "holdfast");
  sqlite3_bind_int64(grant_, 10, now);
  bind_text(grant_, 11, "");
  if (sqlite3_step(grant_) != SQLITE_ROW) fail();
  const std::int64_t fence = sqlite3_column_int64(grant_, 0);
  if (sqlite3_step(grant_) != SQLITE_DONE) fail();
  sqlite3_reset(grant_);
  return fence;
}

void RawPairs::release(std::int64_t fence, std::int64_t now) {
  bind_blob(release_, 1, name_);
  bind_blob(release_, 2, kClient);
  sqlite3_bind_int64(release_, 3, claim_);
  sqlite3_bind_int64(release_, 4, fence);
  sqlite3_bind_int64(release_, 5, now);
  if (sqlite3_step(release_) != SQLITE_DONE || sqlite3_changes(db_) != 1) fail();
  sqlite3_reset(release_);
}

void RawPairs::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void RawPairs::fail() const {
  throw Refusal(
      exit_code::kUnavailable,
      "the raw loop failed: " + shown(db_ != nullptr ? sqlite3_errmsg(db_) : "no memory"));
}

}  // namespace holdfast::cli
