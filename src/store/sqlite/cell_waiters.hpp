#pragma once

#include <map>
#include <string>
#include <vector>

#include "holdfast/store/cells.hpp"
#include "holdfast/time.hpp"
#include "store/sqlite/database.hpp"

namespace holdfast::store::sqlite {

// How a client that waits for cells makes itself known to other processes: by a row for each cell, so
// that whoever changes one can wake it. A hint on top of looking every now and then: a row that is
// missing costs a moment, one that is left by the dead costs a wake until it lapses.
//
// On error     Throws Failure.
// Threads      One at a time.
class CellWaiters {
 public:
  explicit CellWaiters(const std::string& client) : client_(client) {}

  // From now on these are the cells that this client waits for. To be called now and then, also with
  // the same ones, to keep their rows fresh.
  void keep(Database&, const std::vector<CellKey>&, TimePoint now);
  bool any() const { return !rows_.empty(); }

 private:
  const std::string& client_;
  std::map<CellKey, TimePoint> rows_;  // and until when each is fresh
};

// Who waits for that cell. Drops rows that have lapsed.
std::vector<ClientId> waiters_of_cell(Database&, const CellKey&, TimePoint now);

}  // namespace holdfast::store::sqlite
