#include "store/memory/lock_entry.hpp"

#include <algorithm>

namespace holdfast::store {
namespace {

template <class Line>
auto place_of(Line& line, const OwnerId& owner) {
  return std::find_if(line.begin(), line.end(),
                      [&owner](const WaitingClaim& claim) { return claim.owner == owner; });
}

}  // namespace

bool LockEntry::held_by(const OwnerId& owner) const { return held && held->owner == owner; }

bool LockEntry::held_by(const HoldKey& key) const {
  return held_by(key.owner) && held->fence == key.fence;
}

void LockEntry::drop_lapsed(TimePoint now) {
  if (held && lapsed(held->until, now)) held.reset();
  std::erase_if(line, [now](const WaitingClaim& claim) { return lapsed(claim.until, now); });
}

void LockEntry::line_up(const GrantRequest& ask, TimePoint now) {
  auto place = place_of(line, ask.owner);
  if (place == line.end()) place = line.emplace(line.end());
  place->owner = ask.owner;
  place->record = ask.record;
  place->spare = ask.spare;
  place->confirm_within = ask.confirm_within;
  place->until = later(now, ask.line_for);
}

void LockEntry::leave_line(const OwnerId& owner) {
  const auto place = place_of(line, owner);
  if (place != line.end()) line.erase(place);
}

std::size_t LockEntry::ahead_of(const OwnerId& owner) const {
  return static_cast<std::size_t>(place_of(line, owner) - line.begin());
}

}  // namespace holdfast::store
