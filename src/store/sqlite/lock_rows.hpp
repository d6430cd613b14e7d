#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rules/lock_entry.hpp"
#include "store/sqlite/database.hpp"

namespace holdfast::store::sqlite {

// 16 bytes, as they stand in the tables.
std::string bytes_of(const ClientId&);
ClientId client_from(const std::string& bytes);

constexpr std::int64_t ns(TimePoint time) { return time.time_since_epoch().count(); }
constexpr TimePoint from_ns(std::int64_t count) { return TimePoint(Duration(count)); }

// Binds host, pid, program, since and reason.
void bind_record(Statement&, const HolderRecord&);

// One lock with its holds and its line, read and written back inside a transaction. What did not change is not
// written.
class LockRows {
 public:
  LockRows(Database&, const LockName&);

  rules::LockEntry entry;
  rules::FenceCounter fences;
  void save();

 private:
  void load_holds();
  void load_shares();
  void load_line();
  void save_mutex();
  void save_shares();
  void save_share(const rules::HeldClaim&);
  void save_line();
  void save_waiting(const rules::WaitingClaim&, std::int64_t place);
  bool was_in_line(const rules::WaitingClaim&) const;  // just like that

  Database& db_;
  const std::string& name_;
  bool stored_ = false;  // there is a row for this name
  rules::LockEntry before_;
  std::map<OwnerId, std::int64_t> places_;
};

}  // namespace holdfast::store::sqlite
