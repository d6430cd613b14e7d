#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::store::zookeeper {

// Nodes that are to go, and who wants to know when they have gone.
//
// Threads      One at a time.
class Leavings {
 public:
  using Done = std::function<void()>;

  // True: ask for it now. Else that is under way.
  bool add(const std::string& path, Done done) {
    Entry& entry = entries_[path];
    if (done) entry.told.push_back(std::move(done));
    return !std::exchange(entry.asked, true);
  }
  // It could not be deleted, or nobody knows: once more, later.
  void again(const std::string& path) {
    if (const auto found = entries_.find(path); found != entries_.end())
      found->second.asked = false;
  }
  // Those to be asked for now.
  std::vector<std::string> due() {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : entries_) {
      if (!entry.asked) paths.push_back(path);
    }
    for (auto& [path, entry] : entries_) entry.asked = true;  // when there was memory for all
    return paths;
  }
  // It is gone. Who is to be told.
  std::vector<Done> gone(const std::string& path) {
    auto node = entries_.extract(path);
    return node.empty() ? std::vector<Done>() : std::move(node.mapped().told);
  }
  // So are all.
  void tell_all() const {
    for (const auto& [path, entry] : entries_) {
      for (const Done& each : entry.told) each();
    }
  }

 private:
  struct Entry {
    std::vector<Done> told;
    bool asked = false;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace holdfast::store::zookeeper
