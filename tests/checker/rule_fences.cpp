// C2 and C3: fences order the store's grants, and none is given twice.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

// Inside one grant: hand-offs within what the store reserved, each above the ones before.
void check_hand_offs(const Grant& grant, Findings& found) {
  std::uint64_t last = 0;
  for (const Acquire* hold : grant.holds) {
    found.examined(Rule::fence_order);
    if (hold->fence < grant.fence() || hold->fence > grant.last_reserved()) {
      found.violated(Rule::fence_order, *hold, " lies outside its grant's range ", grant.fence(),
                     " to ", grant.last_reserved());
    }
    if (hold->fence <= last) {
      found.violated(Rule::fence_order, *hold, " returned at ", At{hold->returned},
                     " is not above fence ", last, " handed out before it in the grant ",
                     grant.fence());
    }
    last = std::max(last, hold->fence);
  }
}

// What the store reserved for one grant belongs to no other.
void check_disjoint(const std::vector<Grant>& grants, Findings& found) {
  const Grant* widest = nullptr;  // of those before, by grant fence
  for (const Grant& grant : grants) {
    if (widest && grant.fence() <= widest->last_reserved()) {
      found.violated(Rule::fence_order, grant.first(), ": its range ", grant.fence(), " to ",
                     grant.last_reserved(), " overlaps the range ", widest->fence(), " to ",
                     widest->last_reserved(), " of ", widest->first());
    }
    if (!widest || grant.last_reserved() > widest->last_reserved()) widest = &grant;
  }
}

// A store grant that began after another was returned lies above all that other ever gave, later
// hand-offs included.
void check_real_time(const std::vector<Grant>& grants, Findings& found) {
  struct Item {
    const Grant* grant;
    std::uint64_t last_used;
  };
  std::vector<Item> by_return;
  std::vector<const Grant*> by_invocation;
  for (const Grant& grant : grants) {
    by_return.push_back({&grant, grant.last_used()});
    if (grant.from_store) by_invocation.push_back(&grant);
  }
  std::stable_sort(by_return.begin(), by_return.end(), [](const Item& a, const Item& b) {
    return a.grant->first().returned < b.grant->first().returned;
  });
  std::stable_sort(by_invocation.begin(), by_invocation.end(), [](auto* a, auto* b) {
    return a->from_store->invoked < b->from_store->invoked;
  });

  const Item* highest = nullptr;  // of those returned before
  auto next = by_return.begin();
  for (const Grant* grant : by_invocation) {
    for (; next != by_return.end() && next->grant->first().returned < grant->from_store->invoked;
         ++next) {
      if (!highest || next->last_used > highest->last_used) highest = &*next;
    }
    if (highest && grant->fence() <= highest->last_used) {
      found.violated(Rule::fence_order, *grant->from_store, " invoked at ",
                     At{grant->from_store->invoked}, " is not above fence ", highest->last_used,
                     " of the grant to ", highest->grant->first(), " returned at ",
                     At{highest->grant->first().returned});
    }
  }
}

}  // namespace

void check_fence_order(const Lock& lock, Findings& found) {
  for (const Grant& grant : lock.grants) check_hand_offs(grant, found);
  check_disjoint(lock.grants, found);
  check_real_time(lock.grants, found);
}

void check_fence_once(const Lock& lock, Findings& found) {
  auto by_fence = lock.granted;
  std::stable_sort(by_fence.begin(), by_fence.end(),
                   [](auto* a, auto* b) { return a->fence < b->fence; });
  found.examined(Rule::fence_once, by_fence.size());
  for (std::size_t i = 1; i < by_fence.size(); ++i) {
    if (by_fence[i]->fence != by_fence[i - 1]->fence) continue;
    found.violated(Rule::fence_once, *by_fence[i], " returned at ", At{by_fence[i]->returned},
                   " was given to ", *by_fence[i - 1], " as well, returned at ",
                   At{by_fence[i - 1]->returned});
  }
}

}  // namespace holdfast::check
