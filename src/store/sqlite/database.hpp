#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/time.hpp"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

namespace holdfast::store::sqlite {

// What went wrong, thrown inside this folder and caught where a verb is answered: a transaction is a
// dozen steps, and each of them can fail in the same ways.
class Failure : public std::exception {
 public:
  explicit Failure(NoAnswer what) : what_(std::move(what)) {}
  Failure(Errc why, std::string text) : what_{why, false, std::move(text)} {}
  const char* what() const noexcept override { return what_.text.c_str(); }
  const NoAnswer& no_answer() const { return what_; }

 private:
  NoAnswer what_;
};

// A prepared statement in use. Text and blobs are not copied: they must live until it ends.
class Statement {
 public:
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // Parameters, in order.
  Statement& bind(std::int64_t);
  Statement& bind_text(std::string_view);
  Statement& bind_blob(std::string_view);
  Statement& bind_null();

  bool step();  // true: there is a row
  void run();   // to its end

  // Columns of the row, in order from 0.
  std::int64_t integer(int column) const;
  std::string bytes(int column) const;
  bool null(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* db, sqlite3_stmt* statement) : db_(db), statement_(statement) {}
  sqlite3* db_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// A connection to an SQLite file.
//
// On error     Throws Failure.
// Blocking     A file that another process is writing is looked at again every 50 to 200 µs, later
//              every few ms, until the deadline that was set: SQLite's own time-out sleeps up to
//              100 ms at a time, and whoever asks often starves whoever sleeps.
// Threads      One at a time.
class Database {
 public:
  enum class Mode { existing, create };
  Database(const std::string& path, Mode, const Clock&);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  void give_up_at(TimePoint deadline) { deadline_ = deadline; }

  // Prepared once for each text, which must be a literal.
  Statement prepare(const char* sql);
  void execute(const char* sql);  // one or several statements without parameters
  std::int64_t number(const char* sql);
  std::string text(const char* sql);

  int changes() const;
  // What the SQL function noted(which, value) saw last, which 0 or 1; its value is the value. For a
  // statement that is to say what it wrote: RETURNING would build a table for it, each time, which
  // costs as much as the write.
  std::int64_t noted(std::size_t which) const { return noted_[which]; }
  bool read_only() const;
  bool in_transaction() const;
  // Whether the name now belongs to another file, or to none; from know_logs() on also the names of
  // its log and the log's index, without which each process would go on in a state of its own.
  bool moved();
  // As of a few milliseconds ago at most: moved() costs as much as a tenth of a grant.
  bool moved_lately(TimePoint now);
  void know_logs() { logs_ = log_inodes(); }
  // Copies the log back into the file, so that its space can be used again. False if readers prevent it.
  bool empty_log();
  // Keeps the database within the space that the file has on the disk, which is enlarged in steps: so
  // the log never holds what the file has no room for, and can always be copied back. False if the
  // disk has no room for another step.
  bool keep_room();

 private:
  using Inodes = std::array<std::uint64_t, 2>;  // 0: not there
  static int pause(void* self, int tries);
  static void note(sqlite3_context*, int count, sqlite3_value**);
  Inodes log_inodes() const;

  const std::string path_;
  const std::array<std::string, 2> log_paths_;
  Inodes logs_{};
  bool moved_ = false;
  TimePoint looked_{};  // by moved()
  const Clock& clock_;
  TimePoint deadline_ = kNever;
  std::array<std::int64_t, 2> noted_{};
  sqlite3* db_ = nullptr;
  std::map<const char*, sqlite3_stmt*> statements_;
};

// Takes the write lock, or sees the file as of one moment; rolls back unless it came to commit().
class Transaction {
 public:
  enum class Purpose { writing, reading };
  explicit Transaction(Database& db, Purpose purpose = Purpose::writing);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& db_;
  bool open_ = true;
};

}  // namespace holdfast::store::sqlite
