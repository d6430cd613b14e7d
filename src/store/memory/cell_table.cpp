#include "store/memory/cell_table.hpp"

namespace holdfast::store {

using rules::CellEntry;

CellReply CellTable::read(const CellKey& key) const {
  if (auto no = rules::objection(key)) return *std::move(no);
  const auto cell = cells_.find(key);
  return cell == cells_.end() ? CellState{} : cell->second;
}

std::uint64_t CellTable::version_of(const CellKey& key) const {
  const auto cell = cells_.find(key);
  return cell == cells_.end() ? 0 : cell->second.version;
}

template <class Ask, class Verb>
CellReply CellTable::run(const Ask& ask, TimePoint now, Verb verb) {
  if (auto no = rules::objection(ask)) return *std::move(no);
  const auto cell = cells_.find(ask.key);
  const auto op = ops_.find({ask.key, ask.op.client});
  CellEntry entry;
  if (cell != cells_.end()) entry.state = cell->second;
  if (op != ops_.end()) entry.last = op->second;
  CellReply reply = verb(entry);
  if (entry.state.version != 0) cells_[ask.key] = std::move(entry.state);
  if (op != ops_.end()) {
    op->second = entry.last;
  } else {
    // Two looks for each new one, so that old ones go faster than they come.
    forget_one_old(now);
    forget_one_old(now);
    ops_.emplace(OpKey{ask.key, ask.op.client}, entry.last);
  }
  return reply;
}

CellReply CellTable::write(const CellWrite& ask, TimePoint now) {
  return run(ask, now, [&](CellEntry& entry) { return entry.write(ask, now); });
}

CellReply CellTable::add(const CellAdd& ask, TimePoint now) {
  return run(ask, now, [&](CellEntry& entry) { return entry.add(ask, now); });
}

void CellTable::forget_one_old(TimePoint now) {
  auto at = ops_.upper_bound(looked_at_);
  if (at == ops_.end()) at = ops_.begin();
  if (at == ops_.end()) return;
  looked_at_ = at->first;
  if (rules::may_be_forgotten(at->second, now)) ops_.erase(at);
}

}  // namespace holdfast::store
