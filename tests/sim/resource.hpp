// What the locks are for: a counter that checks fences, and its twin that does not.
#pragma once

#include <map>
#include <string>

#include "checker/history.hpp"
#include "world.hpp"

namespace holdfast::sim {

class Resource {
 public:
  struct Values {
    bool accepted = false;
    std::uint64_t fenced = 0;
    std::uint64_t twin = 0;
  };

  Resource(World& world, check::History& history) : world_(world), history_(history) {}

  Values read(std::uint32_t client, const std::string& name, std::uint64_t fence) {
    Pair& pair = pairs_[name];
    const bool accepted = admit(pair, fence);
    record(client, name, fence, false, {accepted, pair.fenced, pair.twin});
    return {accepted, pair.fenced, pair.twin};
  }

  void write(std::uint32_t client, const std::string& name, std::uint64_t fence, Values values) {
    Pair& pair = pairs_[name];
    values.accepted = admit(pair, fence);
    if (values.accepted) pair.fenced = values.fenced;
    pair.twin = values.twin;
    record(client, name, fence, true, values);
  }

  void finish() {
    for (const auto& [name, pair] : pairs_) {
      history_.final_values.push_back({name, pair.fenced, pair.twin});
    }
  }

 private:
  struct Pair {
    std::uint64_t highest = 0;
    std::uint64_t fenced = 0;
    std::uint64_t twin = 0;
  };

  static bool admit(Pair& pair, std::uint64_t fence) {
    if (fence < pair.highest) return false;
    pair.highest = fence;
    return true;
  }

  void record(std::uint32_t client, const std::string& name, std::uint64_t fence, bool write,
              const Values& values) {
    history_.resource_ops.push_back({.client = client,
                                     .name = name,
                                     .fence = fence,
                                     .at = world_.now(),
                                     .write = write,
                                     .accepted = values.accepted,
                                     .fenced_value = values.fenced,
                                     .twin_value = values.twin});
    if (world_.tracing()) {
      world_.trace("resource", std::string(values.accepted ? "accepts " : "refuses ") +
                                   (write ? "write" : "read") + " of client " +
                                   std::to_string(client) + " with fence " + std::to_string(fence));
    }
  }

  World& world_;
  check::History& history_;
  std::map<std::string, Pair> pairs_;
};

}  // namespace holdfast::sim
