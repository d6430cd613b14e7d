// A cell as it is stored: its state, and the last operation of each client that changed it of late.
//
//   holdfast <version> <length of the value> <number of operations>\n<value>
//   and for each operation: <client> <number> <done> <version> <sum> <time in ms>\n
//
// Times are the server's: that of a change is known only from the node it made, so whoever changes it next writes
// it down. Until then it is 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/store/cells.hpp"
#include "rules/cell_entry.hpp"

namespace holdfast::store::zookeeper {

struct StoredCell {
  CellState state;
  std::map<ClientId, rules::DoneOp> ops;

  friend bool operator==(const StoredCell&, const StoredCell&) = default;
};

std::string text_of(const StoredCell&);
// `changed_ms`: when the server stored the text. None if it is damaged.
std::optional<StoredCell> stored_cell_in(std::string_view text, std::int64_t changed_ms);
// What is remembered longer than it needs to be.
void forget_old(StoredCell&, std::int64_t changed_ms);

}  // namespace holdfast::store::zookeeper
