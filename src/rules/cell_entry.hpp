// The rules of one cell, wherever it is kept: what each verb of the store contract (store/cells.hpp)
// does to it, and how an operation that is asked for again is known.
//
// The asker's operation, compared with its last one on this cell:
//
//   number      answer                                        cell
//   greater     what the verb says; remembered from now on    changed if it was done
//   the same    what it said then                             stays
//   smaller     Rejected, unknown                             stays
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/store/cells.hpp"
#include "holdfast/time.hpp"

namespace holdfast::rules {

// The last operation of one client on one cell. Small on purpose: a repeated write brings its value
// along, and of an add the sum is enough.
struct DoneOp {
  std::uint64_t number = 0;  // 0: none is known
  bool done = false;         // else it was a conflict
  std::uint64_t version = 0;
  std::int64_t sum = 0;
  TimePoint at{};

  friend bool operator==(const DoneOp&, const DoneOp&) = default;
};

// From that moment on it may be forgotten.
constexpr bool may_be_forgotten(const DoneOp& op, TimePoint now) {
  return now >= later(op.at, store::kCellOpsKept);
}

// The number that a value stands for, in the one form that add() writes: no sign but '-', no leading
// zeros. An empty value is none.
std::optional<std::int64_t> number_in(std::string_view value);

// How many permits a semaphore has whose `size` cell this is; none if it was not set to anything that
// can be one.
std::optional<std::uint32_t> size_in(const store::CellState&);

// Why a question makes no sense, whatever the cell holds.
std::optional<store::Rejected> objection(const store::CellKey&);
std::optional<store::Rejected> objection(const store::CellWrite&);
std::optional<store::Rejected> objection(const store::CellAdd&);

// The answer to one that came before the last.
store::Rejected older_operation();

// One cell, and what is known of the one who asks.
//
// Guarantees   Deterministic. A Rejected question changes nothing.
// Threads      None of its own, and no lock: one caller at a time.
struct CellEntry {
  store::CellState state;
  DoneOp last;  // the asker's

  store::CellReply write(const store::CellWrite&, TimePoint now);
  store::CellReply add(const store::CellAdd&, TimePoint now);

 private:
  // The answer to one that is not new.
  std::optional<store::CellReply> known(const store::CellOp&, std::string value) const;
  store::CellReply remember(const store::CellOp&, bool done, std::int64_t sum, TimePoint now);
};

}  // namespace holdfast::rules
