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
template <class Key>
class Agenda {
 public:
  explicit Agenda(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : times_(memory), order_(memory) {}

  void set(const Key& key, TimePoint when) {
    auto found = times_.find(key);
    if (found != times_.end()) {
      if (found->second == when) return;
      order_.erase({found->second, key});
      if (when == kNever) {
        times_.erase(found);
        return;
      }
      found->second = when;
    } else {
      if (when == kNever) return;
      times_.emplace(key, when);
    }
    order_.insert({when, key});
  }
  void remove(const Key& key) { set(key, kNever); }

  TimePoint next() const { return order_.empty() ? kNever : order_.begin()->first; }

  // Takes the first item that is due.
  std::optional<Key> pop_due(TimePoint now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    Key key = order_.begin()->second;
    order_.erase(order_.begin());
    times_.erase(key);
    return key;
  }

 private:
  std::pmr::map<Key, TimePoint> times_;
  std::pmr::set<std::pair<TimePoint, Key>> order_;
};

}  // namespace holdfast::core
