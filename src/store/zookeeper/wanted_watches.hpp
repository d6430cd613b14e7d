#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// Which paths somebody here wants to hear of. When nobody does any more, the tree is told.
//
// Threads      From any thread.
class WantedWatches {
 public:
  explicit WantedWatches(Tree& tree) : tree_(tree) {}

  void want(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ++wanted_[path];
  }
  void unwant(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = wanted_.find(path);
    if (found == wanted_.end() || --found->second > 0) return;
    wanted_.erase(found);
    tree_.leave_watch(path);
  }
  // One was set that nobody wants any more, unless somebody else does.
  void was_set_for_nobody(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!wanted_.contains(path)) tree_.leave_watch(path);
  }

 private:
  Tree& tree_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> wanted_;
};

}  // namespace holdfast::store::zookeeper
