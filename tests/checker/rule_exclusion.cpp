// C1 and C5: never two valid holds, and none still valid when the store grants to another.
#include <algorithm>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

// The time that a grant is known to have been made by. A grant of unknown time that nobody saw
// valid tells nothing.
Time made_by(const Grant& grant) {
  for (const Acquire* hold : grant.holds) {
    if (hold->store_granted != kNever) return hold->store_granted;
  }
  for (const Acquire* hold : grant.holds) {
    if (was_valid(*hold)) return hold->returned;
  }
  return kNever;
}

}  // namespace

void check_exclusion(const Lock& lock, Findings& found) {
  const Acquire* longest = nullptr;  // of those before
  for (const Acquire* hold : lock.granted) {
    if (!was_valid(*hold)) continue;
    found.examined(Rule::exclusion);
    if (longest && hold->returned < longest->valid_end) {
      found.violated(Rule::exclusion, *hold, " valid from ", At{hold->returned}, " to ",
                     At{hold->valid_end}, " overlaps ", *longest, " valid from ",
                     At{longest->returned}, " to ", At{longest->valid_end});
    }
    if (!longest || hold->valid_end > longest->valid_end) longest = hold;
  }
}

void check_invalid_in_time(const Lock& lock, Findings& found) {
  struct Made {
    const Grant* grant;
    Time by;
  };
  std::vector<Made> made;
  for (const Grant& grant : lock.grants) {
    if (const Time by = made_by(grant); by != kNever) made.push_back({&grant, by});
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Made& a, const Made& b) { return a.by < b.by; });

  const Acquire* longest = nullptr;  // of those before
  for (const auto& [grant, by] : made) {
    found.examined(Rule::invalid_in_time);
    if (longest && longest->valid_end > by) {
      found.violated(Rule::invalid_in_time, grant->first(), " was granted by ", At{by}, " while ",
                     *longest, " was valid until ", At{longest->valid_end});
    }
    const Acquire* hold = grant->longest_valid();
    if (hold && (!longest || hold->valid_end > longest->valid_end)) longest = hold;
  }
}

}  // namespace holdfast::check
