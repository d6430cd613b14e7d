#include "session_tree.hpp"

#include <algorithm>
#include <utility>

#include "model_bugs.hpp"

namespace holdfast::sim {

using store::LockName;
using store::OwnerId;
using store::Shape;

namespace {

bool stands_before(const Entry& a, const Entry& b) {
  if (HOLDFAST_MODEL_BUG(order_by_name)) return to_string(a.owner) < to_string(b.owner);
  return a.sequence < b.sequence;
}

bool is_in_the_way(const Entry& before, const Entry& entry) {
  if (HOLDFAST_MODEL_BUG(writer_minds_writers) && before.shape == Shape::shared()) return false;
  return !before.shape.goes_with(entry.shape);
}

}  // namespace

// Nobody overtakes those who wait, so they count as if they had what they want.
bool is_granted(const Entries& entries, const Entry& entry) {
  std::uint64_t taken = entry.shape.take;
  for (const Entry& each : entries) {
    if (HOLDFAST_MODEL_BUG(permits_overtake) && !each.granted) continue;
    if (each.sequence == entry.sequence) continue;
    if (!stands_before(each, entry)) continue;
    if (is_in_the_way(each, entry)) return false;
    taken += each.shape.take;
  }
  return entry.shape.form != Shape::Form::permits || taken <= entry.shape.of;
}

const Entry* SessionTree::find(const LockName& name, const OwnerId& owner) const {
  const auto lock = locks_.find(name);
  if (lock == locks_.end()) return nullptr;
  for (const Entry& each : lock->second) {
    if (each.owner == owner) return &each;
  }
  return nullptr;
}

Entry* SessionTree::find(const LockName& name, const OwnerId& owner) {
  return const_cast<Entry*>(std::as_const(*this).find(name, owner));
}

bool SessionTree::erase(const LockName& name, const OwnerId& owner) {
  return std::erase_if(locks_[name], [&](const Entry& each) { return each.owner == owner; }) > 0;
}

Entries SessionTree::erase(const LockName& name, const SessionId& session) {
  Entries erased;
  std::erase_if(locks_[name], [&](const Entry& each) {
    if (each.session != session) return false;
    erased.push_back(each);
    return true;
  });
  return erased;
}

void SessionTree::copy(const LockName& name, const SessionTree& from) {
  locks_[name] = from.locks_.at(name);
}

}  // namespace holdfast::sim
