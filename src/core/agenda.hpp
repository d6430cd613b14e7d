#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <utility>

#include "holdfast/time.hpp"

namespace holdfast::core {

// What is due when: at most one time per item. Items due at the same time come in order of their
// keys, so a simulation repeats exactly.
//
// On error     Only a new item needs memory; without it set() throws std::bad_alloc and is as before.
template <class Key>
class Agenda {
 public:
  explicit Agenda(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : times_(memory), order_(memory) {}

  void set(const Key& key, TimePoint when) {
    const auto found = times_.find(key);
    if (found == times_.end()) return add(key, when);
    if (when == kNever) {
      order_.erase({found->second, key});
      times_.erase(found);
    } else {
      move(found, when);
    }
  }
  void remove(const Key& key) { set(key, kNever); }

  TimePoint next() const { return order_.empty() ? kNever : order_.begin()->first; }

  // The first item that is due. It stays, for `again`, until it is set or removed: so it comes back if
  // there is no memory for what it leads to.
  std::optional<Key> take_due(TimePoint now, TimePoint again) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const Key key = order_.begin()->second;
    move(times_.find(key), again);
    return key;
  }

 private:
  using Times = std::pmr::map<Key, TimePoint>;

  void add(const Key& key, TimePoint when) {
    if (when == kNever) return;
    const auto entry = times_.emplace(key, when).first;
    try {
      order_.insert({when, key});
    } catch (...) {
      times_.erase(entry);
      throw;
    }
  }
  void move(typename Times::iterator item, TimePoint when) {
    if (item->second == when) return;
    auto node = order_.extract({item->second, item->first});
    node.value().first = item->second = when;
    order_.insert(std::move(node));
  }

  Times times_;
  std::pmr::set<std::pair<TimePoint, Key>> order_;
};

}  // namespace holdfast::core
