#include "rules/lock_entry.hpp"

#include <algorithm>
#include <utility>

#include "holdfast/fence.hpp"

namespace holdfast::rules {

using namespace store;

namespace {

template <class Line>
auto place_of(Line& line, const OwnerId& owner) {
  return std::find_if(line.begin(), line.end(),
                      [&owner](const WaitingClaim& claim) { return claim.owner == owner; });
}

Rejected not_a_mutex() { return {Errc::unsupported, "this store keeps exclusive mutexes only"}; }

std::optional<Rejected> objection(const GrantRequest& ask) {
  if (ask.kind != Kind::mutex || ask.shape != Shape::exclusive() || ask.instead_of) {
    return not_a_mutex();
  }
  if (ask.name.bytes().empty()) return Rejected{Errc::invalid_name, "a lock needs a name"};
  return std::nullopt;
}

Rejected fences_ran_out() {
  return {Errc::store_full, "the store has used up its fences; start a new one"};
}

}  // namespace

std::optional<std::uint64_t> FenceCounter::next(std::uint64_t spare) {
  if (last_ >= kMaxFence || spare >= kMaxFence - last_) return std::nullopt;
  const std::uint64_t fence = last_ + 1;
  last_ = fence + spare;
  return fence;
}

// --- verbs ---

GrantReply LockEntry::try_grant(const GrantRequest& ask, const Moment& at) {
  if (auto no = objection(ask)) return *std::move(no);
  drop_lapsed(at.now);
  // The same owner again: its first answer was lost, or it confirms an offer.
  if (held_by(ask.owner) && !held->revoked) {
    held->record = ask.record;
    held->until = later(at.now, ask.lease);
    held->offered = false;
    return Granted{held->fence, held->spare, ask.lease};
  }
  if (!held) {
    if (line.empty() || line.front().owner == ask.owner) return grant(ask, at);
    if (!hand_over(at)) return fences_ran_out();
  }
  if (ask.line_up && !held_by(ask.owner)) {  // a revoked holder that lines up leaves a ghost
    line_up(ask, at.now);
  } else {
    leave_line(ask.owner);
  }
  return refusal(ask.owner, at);
}

GrantReply LockEntry::grant(const GrantRequest& ask, const Moment& at) {
  const auto fence = at.fences.next(ask.spare);
  if (!fence) return fences_ran_out();
  leave_line(ask.owner);
  held.emplace();
  held->owner = ask.owner;
  held->record = ask.record;
  held->fence = *fence;
  held->spare = ask.spare;
  held->until = later(at.now, ask.lease);
  return Granted{held->fence, held->spare, ask.lease};
}

Refused LockEntry::refusal(const OwnerId& owner, const Moment& at) const {
  Refused no;
  no.holder = held->record;
  no.lease_left = left_until(held->until, at.now);
  // Without a wake: the holder may lapse, then each claim ahead may let its offer lapse.
  const std::size_t ahead = ahead_of(owner);
  TimePoint turn = held->until;
  for (std::size_t i = 0; i < ahead; ++i) turn = later(turn, line[i].confirm_within);
  no.retry_after = left_until(turn, at.now);
  no.ahead = static_cast<std::uint32_t>(ahead);
  no.waiting = static_cast<std::uint32_t>(line.size());
  no.fence_counter = at.fences.last();
  return no;
}

RenewalReply LockEntry::renew(const Renewal& renewal, const Moment& at) {
  if (renewal.kind != Kind::mutex) return Gone{};
  drop_lapsed(at.now);
  if (!held_by(renewal)) {
    settle(at);
    return Gone{};
  }
  if (held->revoked) return Gone{.forced = true};
  held->until = later(at.now, renewal.lease);
  held->offered = false;
  return Renewed{renewal.lease};
}

ReleaseReply LockEntry::release(const HoldKey& key, const Moment& at) {
  if (key.kind != Kind::mutex) return Gone{};
  drop_lapsed(at.now);
  ReleaseReply reply = Gone{};
  if (held_by(key)) {
    reply = Released{.others_waiting = !line.empty()};
    held.reset();
  }
  settle(at);
  return reply;
}

WithdrawReply LockEntry::withdraw(const ClaimKey& key, const Moment& at) {
  if (key.kind != Kind::mutex) return Withdrawn{};
  leave_line(key.owner);
  if (held_by(key.owner)) held.reset();
  settle(at);
  return Withdrawn{};
}

ForceReply LockEntry::force_release(const ForceRequest& ask, const Moment& at) {
  if (ask.kind != Kind::mutex) return not_a_mutex();
  drop_lapsed(at.now);
  const bool meant = held && held->fence == ask.fence;
  if (meant && ask.now) {
    held.reset();
  } else if (meant) {
    held->revoked = true;
  }
  settle(at);
  return meant ? ForceReply(Forced{}) : ForceReply(ChangedHands{});
}

LockView LockEntry::view(const LockName& name, TimePoint now) const {
  LockView seen;
  seen.name = name;
  if (held && !lapsed(held->until, now)) {
    ClaimView& hold = seen.holds.emplace_back();
    hold.owner = held->owner;
    hold.record = held->record;
    hold.fence = held->fence;
    hold.lease_left = left_until(held->until, now);
    hold.offered = held->offered;
    hold.revoked = held->revoked;
  }
  for (const WaitingClaim& waiting : line) {
    if (lapsed(waiting.until, now)) continue;
    ClaimView& claim = seen.line.emplace_back();
    claim.owner = waiting.owner;
    claim.record = waiting.record;
    claim.lease_left = left_until(waiting.until, now);
  }
  return seen;
}

// --- the line ---

void LockEntry::settle(const Moment& at) {
  drop_lapsed(at.now);
  // Without fences left the lock stays free; whoever asks for it is told why.
  if (!held && !line.empty()) hand_over(at);
}

bool LockEntry::hand_over(const Moment& at) {
  const auto fence = at.fences.next(line.front().spare);
  if (!fence) return false;
  WaitingClaim head = std::move(line.front());
  line.pop_front();
  held.emplace();
  held->owner = head.owner;
  held->record = std::move(head.record);
  held->fence = *fence;
  held->spare = head.spare;
  held->until = later(at.now, head.confirm_within);
  held->offered = true;

  Wake offer;
  offer.offer = Wake::Offer{held->fence, held->spare};
  at.told.push_back({head.owner, offer});
  if (!line.empty()) {
    Wake look;
    look.look_after = head.confirm_within;
    at.told.push_back({line.front().owner, look});
  }
  return true;
}

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

}  // namespace holdfast::rules
