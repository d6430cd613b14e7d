#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "holdfast/store/cells.hpp"
#include "holdfast/time.hpp"
#include "rules/cell_entry.hpp"

namespace holdfast::store {

// Cells and what is remembered of operations on them, as functions of a question and the time. What a
// verb does to its cell: rules/cell_entry.hpp.
//
// Time         Told with each question; it must not go back.
// Limits       A cell stays for ever. An operation is forgotten some time after kCellOpsKept.
// Threads      None of its own, and no lock: one caller at a time.
class CellTable {
 public:
  CellReply read(const CellKey&) const;
  CellReply write(const CellWrite&, TimePoint now);
  CellReply add(const CellAdd&, TimePoint now);

  std::uint64_t version_of(const CellKey&) const;
  std::size_t ops() const { return ops_.size(); }  // remembered

 private:
  using OpKey = std::pair<CellKey, ClientId>;

  template <class Ask, class Verb>
  CellReply run(const Ask&, TimePoint now, Verb verb);
  void forget_one_old(TimePoint now);

  std::map<CellKey, CellState> cells_;
  std::map<OpKey, rules::DoneOp> ops_;
  OpKey looked_at_;  // how far forget_one_old() has come
};

}  // namespace holdfast::store
