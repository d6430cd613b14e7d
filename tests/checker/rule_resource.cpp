// C4: a resource that checks the fence loses no update; what its unfenced twin loses is only
// counted.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

struct Resource {
  std::vector<const ResourceOp*> ops;
  std::optional<FinalValue> end;
};

// Goes through the accesses of one resource as they happened.
class Replay {
 public:
  Replay(std::string_view name, Findings& found) : name_(name), found_(found) {}

  void step(const ResourceOp& op) {
    found_.examined(Rule::no_lost_update);
    if (op.write) ++writes_;
    const bool fresh = op.fence >= highest_;
    if (op.accepted && !fresh) violated(op, " was accepted after fence ", highest_);
    if (!op.accepted && fresh) violated(op, " was refused, the highest fence is ", highest_);
    if (!op.accepted) {
      if (op.write) ++found_.figures().refused_stale_writes;
      return;
    }
    highest_ = std::max(highest_, op.fence);
    const std::uint64_t expected = op.write ? value_ + 1 : value_;
    if (op.fenced_value != expected)
      violated(op, " has value ", op.fenced_value, " where ", expected, " was due");
    if (!op.write) return;
    value_ = op.fenced_value;
    ++accepted_writes_;
  }

  void finish(const std::optional<FinalValue>& end) {
    if (!end)
      return found_.violated(Rule::no_lost_update, 0, 0, "lock ", encode_name(name_),
                             " has no final value");
    if (end->fenced != accepted_writes_)
      found_.violated(Rule::no_lost_update, 0, 0, "lock ", encode_name(name_), ": ",
                      accepted_writes_, " writes were accepted, the final value is ", end->fenced);
    found_.figures().unfenced_lost_updates += writes_ - std::min(writes_, end->twin);
  }

 private:
  template <class... Parts>
  void violated(const ResourceOp& op, const Parts&... parts) {
    found_.violated(Rule::no_lost_update, op.client, 0, op.write ? "write" : "read", " by client ",
                    op.client, " lock ", encode_name(name_), " fence ", op.fence, " at ", At{op.at},
                    parts...);
  }

  std::string_view name_;
  Findings& found_;
  std::uint64_t highest_ = 0, value_ = 0, writes_ = 0, accepted_writes_ = 0;
};

}  // namespace

void check_no_lost_update(const History& history, Findings& found) {
  std::map<std::string_view, Resource> resources;
  for (const ResourceOp& op : history.resource_ops) resources[op.name].ops.push_back(&op);
  for (const FinalValue& value : history.final_values) resources[value.name].end = value;

  for (auto& [name, resource] : resources) {
    std::stable_sort(resource.ops.begin(), resource.ops.end(),
                     [](auto* a, auto* b) { return a->at < b->at; });
    Replay replay(name, found);
    for (const ResourceOp* op : resource.ops) replay.step(*op);
    replay.finish(resource.end);
  }
}

}  // namespace holdfast::check
