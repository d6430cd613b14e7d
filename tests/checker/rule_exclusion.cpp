// C1 and C5: never two valid holds that conflict, and none still valid when the store grants one that
// conflicts with it.
#include <algorithm>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

bool go_together(Mode a, Mode b) {
  if (a == Mode::exclusive || b == Mode::exclusive) return false;
  return a != Mode::upgradeable || b != Mode::upgradeable;
}

bool replaces(const Acquire& later_one, const Acquire& old) {
  return later_one.replaces != 0 && later_one.replaces == old.op && later_one.client == old.client;
}

// The holds that are still valid, as time goes on. Locks whose holds all conflict keep one: the one
// that lasts longest, so that the sweep stays linear however wrong a history is.
class StillValid {
 public:
  explicit StillValid(const Lock& lock)
      : plain_(std::all_of(lock.granted.begin(), lock.granted.end(),
                           [](const Acquire* hold) { return hold->mode == Mode::exclusive; })) {}

  // One that is in the way of `hold` at that time, or nullptr.
  const Acquire* in_the_way(const Acquire& hold, Time now) {
    std::erase_if(valid_, [&](const Acquire* each) { return each->valid_end <= now; });
    std::uint64_t taken = hold.take;
    for (const Acquire* each : valid_) {
      if (replaces(hold, *each)) continue;
      if (!go_together(hold.mode, each->mode)) return each;
      taken += each->take;
      if (hold.mode == Mode::permits && taken > hold.of) return each;
    }
    return nullptr;
  }
  void add(const Acquire& hold) {
    if (plain_ && !valid_.empty()) {
      if (hold.valid_end > valid_.front()->valid_end) valid_.front() = &hold;
    } else {
      valid_.push_back(&hold);
    }
  }

 private:
  bool plain_;
  std::vector<const Acquire*> valid_;
};

}  // namespace

void check_exclusion(const Lock& lock, Findings& found) {
  StillValid before(lock);
  for (const Acquire* hold : lock.granted) {
    if (!was_valid(*hold)) continue;
    found.examined(Rule::exclusion);
    if (const Acquire* other = before.in_the_way(*hold, hold->returned)) {
      found.violated(Rule::exclusion, *hold, " valid from ", At{hold->returned}, " to ",
                     At{hold->valid_end}, " overlaps ", *other, " valid from ", At{other->returned},
                     " to ", At{other->valid_end});
    }
    before.add(*hold);
  }
}

void check_invalid_in_time(const Lock& lock, Findings& found) {
  struct Made {
    const Grant* grant;
    Time by;
  };
  std::vector<Made> made;
  for (const Grant& grant : lock.grants) {
    if (const Time by = grant.made_by(); by != kNever) made.push_back({&grant, by});
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Made& a, const Made& b) { return a.by < b.by; });

  StillValid before(lock);
  for (const auto& [grant, by] : made) {
    found.examined(Rule::invalid_in_time);
    if (const Acquire* other = before.in_the_way(grant->first(), by)) {
      found.violated(Rule::invalid_in_time, grant->first(), " was granted by ", At{by}, " while ",
                     *other, " was valid until ", At{other->valid_end});
    }
    if (const Acquire* hold = grant->longest_valid()) before.add(*hold);
  }
}

}  // namespace holdfast::check
