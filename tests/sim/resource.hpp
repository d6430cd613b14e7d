// What the locks are for: a counter that checks fences, and its twin that does not.
#pragma once

#include <map>
#include <string>

#include "checker/history.hpp"
#include "support/twin_counters.hpp"
#include "world.hpp"

namespace holdfast::sim {

class Resource {
 public:
  using Values = test::TwinCounters::Values;

  Resource(World& world, check::History& history) : world_(world), history_(history) {}

  Values read(std::uint32_t client, const std::string& name, std::uint64_t fence) {
    const Values values = counters_[name].read(fence);
    record(client, name, fence, false, values);
    return values;
  }

  void write(std::uint32_t client, const std::string& name, std::uint64_t fence, Values values) {
    values.accepted = counters_[name].write(fence, values);
    record(client, name, fence, true, values);
  }

  void finish() {
    for (const auto& [name, counters] : counters_) {
      history_.final_values.push_back({name, counters.fenced(), counters.twin()});
    }
  }

 private:
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
  std::map<std::string, test::TwinCounters> counters_;
};

}  // namespace holdfast::sim
