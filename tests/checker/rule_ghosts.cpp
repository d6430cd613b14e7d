// C7: at rest the store shows only claims that are alive.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

using Claim = std::tuple<std::uint32_t, std::string_view, std::uint64_t>;  // client, lock, owner

struct Alive {
  std::set<Claim> waiting;  // may stand in line, or be granted without having heard of it yet
  std::set<Claim> holding;
};

bool contains(const std::set<Claim>& claims, const Leftover& leftover) {
  const auto begin = claims.lower_bound({leftover.client, leftover.name, 0});
  const auto same_lock = [&](auto it) {
    return it != claims.end() && std::get<0>(*it) == leftover.client &&
           std::get<1>(*it) == leftover.name;
  };
  if (!same_lock(begin)) return false;
  if (leftover.owner == 0 || std::get<2>(*begin) == 0)
    return true;  // it is not known which claim: any of this client will do
  return claims.contains({leftover.client, leftover.name, leftover.owner});
}

Alive alive_in(const std::vector<Lock>& locks) {
  Alive alive;
  for (const Lock& lock : locks) {
    for (const Acquire* a : lock.acquires) {
      if (a->outcome == Outcome::pending && !a->crashed)
        alive.waiting.insert({a->client, lock.name, a->owner});
    }
    // A hand-off is held in the name of the claim that the store granted; without that record, of a
    // claim not known.
    for (const Grant& grant : lock.grants) {
      const bool held = std::any_of(grant.holds.begin(), grant.holds.end(),
                                    [](auto* h) { return h->valid_end == kNever; });
      if (held)
        alive.holding.insert(
            {grant.first().client, lock.name, grant.from_store ? grant.from_store->owner : 0});
    }
  }
  return alive;
}

}  // namespace

void check_no_ghosts(const History& history, const std::vector<Lock>& locks, Findings& found) {
  const Alive alive = alive_in(locks);
  for (const Leftover& leftover : history.leftovers) {
    found.examined(Rule::no_ghosts);
    const bool waiting = contains(alive.waiting, leftover);
    const bool ghost_in_line = leftover.in_line && !waiting;
    const bool ghost_holder = leftover.holds && !waiting && !contains(alive.holding, leftover);
    if (!ghost_in_line && !ghost_holder) continue;
    found.violated(Rule::no_ghosts, leftover.client, 0, "lock ", encode_name(leftover.name),
                   " still shows client ", leftover.client, " claim ", leftover.owner,
                   ghost_holder ? " as holder" : " in line", ", but no such claim is alive");
  }
}

}  // namespace holdfast::check
