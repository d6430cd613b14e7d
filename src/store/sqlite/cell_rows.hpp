#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "holdfast/store/cells.hpp"
#include "holdfast/store/clock.hpp"
#include "store/sqlite/database.hpp"

namespace holdfast::store::sqlite {

// The verbs of cells on the rows of a database: a cell and the asker's last operation are read,
// rules::CellEntry is applied, and what changed is written back, in one transaction. It is on the disk
// when the verb returns: nothing raises versions after a power loss, as a new epoch raises fences.
//
// On error     Throws Failure.
CellReply read_cell(Database&, const CellKey&);

struct CellChange {
  CellReply reply;
  std::vector<ClientId> waiters;  // who should look at it
};
CellChange write_cell(Database&, const CellWrite&, const Clock&);
CellChange add_to_cell(Database&, const CellAdd&, const Clock&);

// How many permits a semaphore has, if that was set.
std::optional<std::uint32_t> size_of(Database&, const LockName&);

std::uint64_t version_of_cell(Database&, const CellKey&);

}  // namespace holdfast::store::sqlite
