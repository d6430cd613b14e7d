#include "store/sqlite/cell_waiters.hpp"

#include <algorithm>

#include "store/sqlite/cell_statements.hpp"
#include "store/sqlite/lock_rows.hpp"

namespace holdfast::store::sqlite {
namespace {

constexpr std::chrono::seconds kFreshFor{60};

std::int64_t number_of(CellKind kind) { return static_cast<std::int64_t>(kind); }

}  // namespace

void CellWaiters::keep(Database& db, const std::vector<CellKey>& keys, TimePoint now) {
  for (const CellKey& key : keys) {
    const auto row = rows_.find(key);
    if (row != rows_.end() && left_until(row->second, now) > kFreshFor / 2) continue;
    const TimePoint until = later(now, kFreshFor);
    db.prepare(kSaveCellWaiter)
        .bind(number_of(key.kind))
        .bind_blob(key.name.bytes())
        .bind_blob(client_)
        .bind(ns(until))
        .run();
    rows_[key] = until;
  }
  for (auto row = rows_.begin(); row != rows_.end();) {
    if (std::find(keys.begin(), keys.end(), row->first) != keys.end()) {
      ++row;
      continue;
    }
    db.prepare(kDropCellWaiter)
        .bind(number_of(row->first.kind))
        .bind_blob(row->first.name.bytes())
        .bind_blob(client_)
        .run();
    row = rows_.erase(row);
  }
}

std::vector<ClientId> waiters_of_cell(Database& db, const CellKey& key, TimePoint now) {
  std::vector<ClientId> found;
  bool lapsed = false;
  {
    Statement row = db.prepare(kCellWaiters);
    row.bind(number_of(key.kind)).bind_blob(key.name.bytes());
    while (row.step()) {
      if (from_ns(row.integer(1)) > now) {
        found.push_back(client_from(row.bytes(0)));
      } else {
        lapsed = true;
      }
    }
  }
  if (lapsed) {
    db.prepare(kDropLapsedCellWaiters)
        .bind(number_of(key.kind))
        .bind_blob(key.name.bytes())
        .bind(ns(now))
        .run();
  }
  return found;
}

}  // namespace holdfast::store::sqlite
