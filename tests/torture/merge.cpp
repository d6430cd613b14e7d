#include "torture/merge.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "checker/history_text.hpp"
#include "core/drift.hpp"

namespace holdfast::torture {
namespace {

using check::Acquire;
using check::History;
using check::kNever;
using check::Outcome;

// client, owner, grant fence
using GrantKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;

Time end_of_lease(Time sent, std::int64_t lease) {
  return core::Drift()
      .valid_until(TimePoint(Duration(sent)), Duration(lease), Duration(lease))
      .time_since_epoch()
      .count();
}

// How long the holds of each grant can have been valid, from what was sent and answered.
class Reach {
 public:
  explicit Reach(const History& history) {
    for (const check::Renewal& each : history.renewals) {
      renewals_[{each.client, each.owner, each.grant_fence}].push_back(&each);
    }
    for (auto& [key, renewals] : renewals_) {
      std::stable_sort(renewals.begin(), renewals.end(),
                       [](auto* a, auto* b) { return a->answered < b->answered; });
    }
    for (const check::ReleaseSent& each : history.releases) {
      const GrantKey key{each.client, each.owner, each.grant_fence};
      const auto [at, added] = released_.try_emplace(key, each.sent);
      if (!added) at->second = std::min(at->second, each.sent);
    }
  }

  // `until`: as it was when the hold came back.
  Time of(const Acquire& hold, Time until) const {
    const GrantKey key{hold.client, hold.owner, hold.grant_fence};
    Time end = until;
    if (const auto found = renewals_.find(key); found != renewals_.end()) {
      for (const check::Renewal* each : found->second) {
        if (each->outcome == check::Renewed::gone) {
          end = std::min(end, each->sent);
          break;
        }
        const bool in_time = each->answered < end;  // later it brings nothing back
        if (each->outcome == check::Renewed::renewed && in_time) {
          end = std::max(end, end_of_lease(each->sent, each->lease_ns));
        }
      }
    }
    const auto release = released_.find(key);
    return release == released_.end() ? end : std::min(end, release->second);
  }

 private:
  std::map<GrantKey, std::vector<const check::Renewal*>> renewals_;
  std::map<GrantKey, Time> released_;
};

// An operation by all of its lines.
struct Operation {
  Acquire last;
  Time first_until = kNever;  // of its hold, as it was when it came back
};

std::vector<Operation> operations_in(const std::vector<Acquire>& lines) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> place;
  std::vector<Operation> operations;
  for (const Acquire& line : lines) {
    const auto [at, added] = place.try_emplace({line.client, line.op}, operations.size());
    if (added) operations.push_back({line, kNever});
    Operation& operation = operations[at->second];
    operation.last = line;
    const bool came_back = line.outcome == Outcome::granted && line.released == kNever;
    if (came_back) operation.first_until = line.valid_end;
  }
  return operations;
}

Acquire complete(const Operation& operation, const WorkerHistory& worker, const Reach& reach) {
  Acquire a = operation.last;
  const bool dead = worker.killed != kNever;
  if (a.outcome == Outcome::pending) a.crashed = dead;
  if (a.outcome == Outcome::granted) {
    const bool open = a.released == kNever;
    const bool lost = !open && a.valid_end == kNever;
    if (dead && open) a.crashed = true;
    if ((dead && open) || lost) {
      const Time known = std::min(dead && open ? worker.killed : a.released, a.released);
      a.valid_end = std::max(a.returned, std::min(known, reach.of(a, operation.first_until)));
    }
  }
  for (const Pause& pause : worker.pauses) {
    const bool inside = a.wait_limit >= pause.from && a.wait_limit < pause.to;
    if (a.wait_limit != kNever && inside) a.wait_limit = pause.to;
  }
  return a;
}

bool torn(const std::string& text) { return !text.empty() && text.back() != '\n'; }

}  // namespace

std::string merge(const WorkerHistory& worker, History& into) {
  std::string text = worker.text;
  if (torn(text) && worker.killed != kNever) {
    text.erase(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  }
  History own;
  std::istringstream in(text);
  if (std::string error = check::read(in, own); !error.empty()) return error;

  const Reach reach(own);
  for (const Operation& operation : operations_in(own.acquires)) {
    into.acquires.push_back(complete(operation, worker, reach));
  }
  into.renewals.insert(into.renewals.end(), own.renewals.begin(), own.renewals.end());
  into.releases.insert(into.releases.end(), own.releases.begin(), own.releases.end());
  into.leftovers.insert(into.leftovers.end(), own.leftovers.begin(), own.leftovers.end());
  return {};
}

}  // namespace holdfast::torture
