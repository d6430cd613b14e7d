#pragma once

#include <cstdint>
#include <string>

#include <unistd.h>

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::cli {

// The store's own statements in plain SQL, with RETURNING where the store has its function noted(); a
// test compares them.
extern const char* const kRawGrant;
extern const char* const kRawRelease;

// What a lock costs whoever writes its two statements by hand: one row granted and released over and
// over, on a connection of our own to the store's file with the same settings. No lease that is kept, no thread, no error that is understood.
class RawPairs {
 public:
  // The file must be a store already. Throws Refusal.
  explicit RawPairs(const std::string& path);
  ~RawPairs();
  RawPairs(const RawPairs&) = delete;
  RawPairs& operator=(const RawPairs&) = delete;

  void pair();

 private:
  void execute(const char* sql);
  std::int64_t grant(std::int64_t now);
  void release(std::int64_t fence, std::int64_t now);
  [[noreturn]] void fail() const;

  sqlite3* db_ = nullptr;
  sqlite3_stmt* grant_ = nullptr;
  sqlite3_stmt* release_ = nullptr;
  std::string name_;
  std::int64_t pid_ = getpid();
  std::int64_t claim_ = 0;
};

}  // namespace holdfast::cli
