// C10: verify() asks the store, so its yes is true whatever clocks and stores have been through.
#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

struct Made {
  Time by;
  const Grant* grant;
};

std::vector<Made> by_time(const Lock& lock) {
  std::vector<Made> made;
  for (const Grant& grant : lock.grants) {
    if (const Time by = grant.made_by(); by != kNever) made.push_back({by, &grant});
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Made& a, const Made& b) { return a.by < b.by; });
  return made;
}

const Made* find(const std::vector<Made>& made, const Verification& asked) {
  const auto found = std::find_if(made.begin(), made.end(), [&](const Made& each) {
    return each.grant->fence() == asked.grant_fence && each.grant->first().client == asked.client;
  });
  return found == made.end() ? nullptr : &*found;
}

void check_one(const Verification& asked, const std::vector<Made>& made, Findings& found) {
  const Made* const own = find(made, asked);
  if (own == nullptr || own->grant->first().mode != Mode::exclusive) return;
  found.examined(Rule::verified);
  const auto next = std::partition_point(made.begin(), made.end(),
                                         [&](const Made& each) { return each.by < asked.invoked; });
  if (next == made.begin()) return;
  const Made& latest = *std::prev(next);
  if (latest.by <= own->by || latest.grant == own->grant) return;
  found.violated(Rule::verified, own->grant->first(), " was verified from ", At{asked.invoked},
                 " to ", At{asked.returned}, " although ", latest.grant->first(),
                 " had been granted by ", At{latest.by});
}

}  // namespace

void check_verified(const History& history, const std::vector<Lock>& locks, Findings& found) {
  if (history.verifications.empty()) return;
  std::map<std::string_view, std::vector<Made>> made;
  for (const Lock& lock : locks) made[lock.name] = by_time(lock);
  for (const Verification& each : history.verifications) {
    if (each.confirmed) check_one(each, made[each.name], found);
  }
}

}  // namespace holdfast::check
