#include "checker/locks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace holdfast::check {
namespace {

bool before(const Acquire* a, const Acquire* b) {
  return std::tie(a->returned, a->fence) < std::tie(b->returned, b->fence);
}

bool belongs_to(const Grant& grant, const Acquire& hold) {
  return grant.fence() == hold.grant_fence && grant.first().client == hold.client;
}

// A second store grant with the fence of the first opens a Grant of its own: the two are not one
// range.
std::vector<Grant> grants_of(std::vector<const Acquire*> granted) {
  const auto key = [](const Acquire* a) {
    return std::tuple(a->grant_fence, a->client, !is_store_grant(*a));
  };
  std::stable_sort(granted.begin(), granted.end(),
                   [&](auto* a, auto* b) { return key(a) < key(b); });

  std::vector<Grant> grants;
  for (const Acquire* hold : granted) {
    const bool from_store = is_store_grant(*hold);
    if (from_store || grants.empty() || !belongs_to(grants.back(), *hold)) grants.emplace_back();
    Grant& grant = grants.back();
    grant.holds.push_back(hold);
    if (from_store) grant.from_store = hold;
    if (from_store || !grant.from_store) grant.spare = std::max(grant.spare, hold->spare);
  }
  for (Grant& grant : grants) std::stable_sort(grant.holds.begin(), grant.holds.end(), before);
  return grants;
}

}  // namespace

std::uint64_t Grant::last_used() const {
  std::uint64_t last = 0;
  for (const Acquire* hold : holds) last = std::max(last, hold->fence);
  return last;
}

const Acquire* Grant::longest_valid() const {
  const Acquire* longest = nullptr;
  for (const Acquire* hold : holds) {
    if (was_valid(*hold) && (!longest || hold->valid_end > longest->valid_end)) longest = hold;
  }
  return longest;
}

Time Grant::made_by() const {
  for (const Acquire* hold : holds) {
    if (hold->store_granted != kNever) return hold->store_granted;
  }
  for (const Acquire* hold : holds) {
    if (was_valid(*hold)) return hold->returned;
  }
  return kNever;
}

std::vector<Lock> locks_of(const History& history) {
  std::map<std::string_view, Lock> by_name;
  for (const Acquire& acquire : history.acquires) {
    Lock& lock = by_name[acquire.name];
    lock.acquires.push_back(&acquire);
    if (acquire.outcome == Outcome::granted) lock.granted.push_back(&acquire);
  }

  std::vector<Lock> locks;
  for (auto& [name, lock] : by_name) {
    lock.name = name;
    lock.grants = grants_of(lock.granted);
    std::stable_sort(lock.granted.begin(), lock.granted.end(), before);
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace holdfast::check
