#include "store/sqlite/database.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "store/sqlite/os_failure.hpp"
#include "transport/futex.hpp"

namespace holdfast::store::sqlite {
namespace {

using std::chrono::microseconds;

// How much the file grows at a time: some thousand locks with short names.
constexpr int kRoomStep = 256 * 1024;
// How old moved_lately() may be. Who held a lock in the file that was moved away learns of it with the
// next renewal, so a grant may as well come a moment too late to be refused.
constexpr std::chrono::milliseconds kMovedLately{10};

// SQLite calls it a file that cannot be opened if the process has too many open files.
bool lacks_descriptors(sqlite3* db, int code) {
  if (db == nullptr || (code & 0xFF) != SQLITE_CANTOPEN) return false;
  return meaning_of_errno(sqlite3_system_errno(db)) == Errc::unavailable;
}

Errc meaning_of(sqlite3* db, int code) {
  if (lacks_descriptors(db, code)) return Errc::unavailable;
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::unavailable;
    case SQLITE_FULL:
      return Errc::store_full;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return Errc::permission;
    case SQLITE_NOMEM:
      return Errc::out_of_memory;
    default:  // CORRUPT, NOTADB, IOERR, and errors in our own statements
      return Errc::store_corrupt;
  }
}

// A statement that failed was rolled back, but a write that failed may have reached the disk.
bool may_have_happened(int code) { return (code & 0xFF) == SQLITE_IOERR; }

std::string text_of(sqlite3* db, int code) {
  if ((code & 0xFF) == SQLITE_BUSY) return "another process kept the database locked";
  const char* const says = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  std::string text = std::string("SQLite says \"") + says + "\"";
  if (lacks_descriptors(db, code)) {
    text += std::string(": ") + std::strerror(sqlite3_system_errno(db));
  }
  return text;
}

[[noreturn]] void fail(sqlite3* db, int code) {
  throw Failure(NoAnswer{meaning_of(db, code), may_have_happened(code), text_of(db, code)});
}

void check(sqlite3* db, int code) {
  if (code != SQLITE_OK) fail(db, code);
}

}  // namespace

// --- statements ---

// What was bound stays, though it may be gone: whoever uses the statement next binds everything anew.
Statement::~Statement() { sqlite3_reset(statement_); }

Statement& Statement::bind(std::int64_t value) {
  check(db_, sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind_text(std::string_view value) {
  check(db_, sqlite3_bind_text64(statement_, ++bound_, value.data() != nullptr ? value.data() : "",
                                 value.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view value) {
  check(db_, sqlite3_bind_blob64(statement_, ++bound_, value.data() != nullptr ? value.data() : "",
                                 value.size(), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_null() {
  check(db_, sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

bool Statement::step() {
  assert(bound_ == sqlite3_bind_parameter_count(statement_));
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(db_, code);
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return data != nullptr ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

bool Statement::null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

// --- the connection ---

Database::Database(const std::string& path, Mode mode, const Clock& clock)
    : path_(path), log_paths_{path + "-wal", path + "-shm"}, clock_(clock) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr);
  if (code != SQLITE_OK) {
    const Failure failure(meaning_of(db_, code), text_of(db_, code));
    sqlite3_close(db_);
    throw failure;
  }
  sqlite3_extended_result_codes(db_, 1);
  int step = kRoomStep;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_CHUNK_SIZE, &step);
  sqlite3_busy_handler(db_, &Database::pause, this);
  sqlite3_create_function_v2(db_, "noted", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, this,
                             &Database::note, nullptr, nullptr, nullptr);
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

// Short at first, since a write takes less than that. Longer when many must be waiting: a crowd that
// looks all the time leaves no processor to the one that writes.
int Database::pause(void* self, int tries) {
  const auto* const db = static_cast<const Database*>(self);
  if (db->clock_.now() >= db->deadline_) return 0;
  transport::brief_pause(microseconds(std::clamp(50 * (tries + 1), 50, 200)) +
                         microseconds(std::clamp(100 * (tries - 20), 0, 5000)));
  return 1;
}

void Database::note(sqlite3_context* context, int, sqlite3_value** values) {
  auto* const db = static_cast<Database*>(sqlite3_user_data(context));
  const std::int64_t value = sqlite3_value_int64(values[1]);
  db->noted_.at(static_cast<std::size_t>(sqlite3_value_int64(values[0]))) = value;
  sqlite3_result_int64(context, value);
}

Statement Database::prepare(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr) {
    check(db_, sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  }
  return Statement(db_, statement);
}

void Database::execute(const char* sql) {
  check(db_, sqlite3_exec(db_, sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::number(const char* sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const char* sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.bytes(0) : std::string();
}

int Database::changes() const { return sqlite3_changes(db_); }

bool Database::read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }

bool Database::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

bool Database::moved() {
  looked_ = clock_.now();
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  const Inodes now = log_inodes();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (logs_[i] != 0 && logs_[i] != now[i]) moved = 1;
  }
  moved_ = moved != 0;
  return moved_;
}

bool Database::moved_lately(TimePoint now) {
  return now - looked_ < kMovedLately ? moved_ : moved();
}

Database::Inodes Database::log_inodes() const {
  Inodes inodes{};
  for (std::size_t i = 0; i < inodes.size(); ++i) {
    struct stat status {};
    if (::stat(log_paths_[i].c_str(), &status) == 0) inodes[i] = status.st_ino;
  }
  return inodes;
}

bool Database::empty_log() {
  return sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr) ==
         SQLITE_OK;
}

bool Database::keep_room() {
  constexpr std::int64_t kFew = 32;  // more pages than one transaction adds, with a cell of 64 KiB
  const std::int64_t page = number("PRAGMA page_size");
  struct stat status {};
  if (page <= 0 || ::stat(path_.c_str(), &status) != 0) return false;
  sqlite3_int64 size = status.st_size;
  bool enough = true;
  // The log may hold pages that the file has not got yet: a step from its size alone may not do.
  const sqlite3_int64 needed = (number("PRAGMA page_count") + kFew) * page;
  if (size < needed) {
    sqlite3_int64 wanted = std::max<sqlite3_int64>(size + kRoomStep, needed);
    enough = sqlite3_file_control(db_, "main", SQLITE_FCNTL_SIZE_HINT, &wanted) == SQLITE_OK;
    if (enough && ::stat(path_.c_str(), &status) == 0) size = status.st_size;
  }
  execute(("PRAGMA max_page_count = " + std::to_string(size / page)).c_str());
  return enough;
}

// --- transactions ---

Transaction::Transaction(Database& db, Purpose purpose) : db_(db) {
  db_.execute(purpose == Purpose::writing ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_ || !db_.in_transaction()) return;  // some errors roll back by themselves
  try {
    db_.execute("ROLLBACK");
  } catch (const Failure&) {
  }
}

void Transaction::commit() {
  db_.execute("COMMIT");
  open_ = false;
}

}  // namespace holdfast::store::sqlite
