#include "rules/lock_entry.hpp"

#include <algorithm>
#include <utility>

#include "holdfast/fence.hpp"
#include "rules/objections.hpp"

namespace holdfast::rules {

using namespace store;
using Form = Shape::Form;

namespace {

template <class Line>
auto place_of(Line& line, const OwnerId& owner) {
  return std::find_if(line.begin(), line.end(),
                      [&owner](const WaitingClaim& claim) { return claim.owner == owner; });
}

std::optional<Replaced> replaced_by(const GrantRequest& ask) {
  if (!ask.instead_of) return std::nullopt;
  return Replaced{ask.instead_of->owner, ask.instead_of->fence};
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
  drop_lapsed(at.now);
  if (auto no = objection(ask, at)) {
    if (no->why == Errc::size_mismatch) {  // it was made smaller meanwhile
      leave_line(ask.owner);
      serve_line(at);
    }
    return *std::move(no);
  }
  kind = ask.kind;
  // The same owner again: its first answer was lost, or it confirms an offer.
  HeldClaim* own = find(ask.owner);
  if (own != nullptr && !own->revoked) {
    const Granted granted{own->fence, own->spare, ask.lease, own->slots};
    own->record = ask.record;
    confirm(*own, later(at.now, ask.lease));
    serve_line(at);
    return granted;
  }
  // What an upgrade waits for is in its way only because of others: it does not stand in line.
  if (!ask.instead_of && !serve_line(at, &ask.owner)) return fences_ran_out();
  const bool is_next = ask.instead_of || line.empty() || line.front().owner == ask.owner;
  if (own == nullptr && is_next && has_room(ask.shape, replaced_by(ask), at)) return grant(ask, at);
  if (ask.line_up && own == nullptr) {  // a revoked holder that lines up leaves a ghost
    line_up(ask, at.now);
  } else {
    leave_line(ask.owner);
  }
  serve_line(at);
  return refusal(ask, at);
}

std::optional<Rejected> LockEntry::objection(const GrantRequest& ask, const Moment& at) {
  if (auto no = rules::objection(ask)) return no;
  if (!idle() && ask.kind != kind) return in_use_as(kind);
  // What is held stays so, whatever the size is now.
  if (ask.kind == Kind::semaphore && find(ask.owner) == nullptr) {
    const std::uint32_t there_are = permits(ask.shape, at);
    if (!at.size && there_are != ask.shape.of) return other_size(there_are, ask.shape);
    if (ask.shape.take > there_are) return never_so_many(there_are, ask.shape);
  }
  // Once it is granted, the old hold is gone because of that.
  if (!ask.instead_of || find(ask.owner) != nullptr) return std::nullopt;
  const HeldClaim* old = find(ask.instead_of->owner, ask.instead_of->fence);
  if (old == nullptr) return old_hold_is_gone();
  if (old->revoked) return old_hold_is_revoked();
  return std::nullopt;
}

GrantReply LockEntry::grant(const GrantRequest& ask, const Moment& at) {
  const auto fence = at.fences.next(ask.spare);
  if (!fence) return fences_ran_out();
  leave_line(ask.owner);
  if (const auto replaced = replaced_by(ask)) end(*replaced);
  HeldClaim hold;
  hold.owner = ask.owner;
  hold.shape = ask.shape;
  hold.record = ask.record;
  hold.fence = *fence;
  hold.spare = ask.spare;
  hold.until = later(at.now, ask.lease);
  hold.slots = free_slots(ask.shape);
  holds.push_back(std::move(hold));
  Granted granted{*fence, ask.spare, ask.lease, holds.back().slots};
  serve_line(at);  // readers behind a reader
  return granted;
}

Refused LockEntry::refusal(const GrantRequest& ask, const Moment& at) const {
  Refused no;
  const std::size_t ahead = ahead_of(ask.owner);
  TimePoint turn = at.now;
  if (!holds.empty()) {
    // Everybody who holds it is in the way of a writer; one who gives back may do for a permit.
    const bool first = kind == Kind::semaphore;
    const auto& in_the_way =
        *std::min_element(holds.begin(), holds.end(), [&](const auto& a, const auto& b) {
          return first ? a.until < b.until : b.until < a.until;
        });
    no.holder = in_the_way.record;
    no.lease_left = left_until(in_the_way.until, at.now);
    turn = in_the_way.until;
  }
  // Without a wake: the holder may lapse, then each claim ahead may let its offer lapse.
  for (std::size_t i = 0; i < ahead; ++i) turn = later(turn, line[i].confirm_within);
  no.retry_after = left_until(turn, at.now);
  no.ahead = static_cast<std::uint32_t>(ahead);
  no.waiting = static_cast<std::uint32_t>(line.size());
  no.fence_counter = at.fences.last();
  return no;
}

RenewalReply LockEntry::renew(const Renewal& renewal, const Moment& at) {
  drop_lapsed(at.now);
  HeldClaim* const hold = find(renewal);
  if (hold == nullptr) {
    settle(at);
    return Gone{};
  }
  if (hold->revoked) return Gone{.forced = true};
  confirm(*hold, later(at.now, renewal.lease));
  serve_line(at);
  return Renewed{renewal.lease};
}

ReleaseReply LockEntry::release(const HoldKey& key, const Moment& at) {
  drop_lapsed(at.now);
  ReleaseReply reply = Gone{};
  if (find(key) != nullptr) {
    reply = Released{.others_waiting = !line.empty()};
    end({key.owner, key.fence});
  }
  settle(at);
  return reply;
}

WithdrawReply LockEntry::withdraw(const ClaimKey& key, const Moment& at) {
  if (key.kind == kind) {
    leave_line(key.owner);
    std::erase_if(holds, [&](const HeldClaim& hold) { return hold.owner == key.owner; });
    settle(at);
  }
  return Withdrawn{};
}

ForceReply LockEntry::force_release(const ForceRequest& ask, const Moment& at) {
  drop_lapsed(at.now);
  const auto meant = std::find_if(holds.begin(), holds.end(),
                                  [&](const HeldClaim& hold) { return hold.fence == ask.fence; });
  const bool found = meant != holds.end();
  if (found && ask.now) {
    holds.erase(meant);
  } else if (found) {
    meant->revoked = true;
    // What was to take its place goes with it.
    const Replaced revoked{meant->owner, meant->fence};
    std::erase_if(line, [&](const WaitingClaim& claim) { return claim.replaces == revoked; });
    std::erase_if(holds, [&](const HeldClaim& hold) { return hold.replaces == revoked; });
  }
  settle(at);
  return found ? ForceReply(Forced{}) : ForceReply(ChangedHands{});
}

LockView LockEntry::view(const LockName& name, TimePoint now) const {
  LockView seen;
  seen.kind = kind;
  seen.name = name;
  for (const HeldClaim& held : holds) {
    if (lapsed(held.until, now)) continue;
    ClaimView& hold = seen.holds.emplace_back();
    hold.owner = held.owner;
    hold.shape = held.shape;
    hold.record = held.record;
    hold.fence = held.fence;
    hold.lease_left = left_until(held.until, now);
    hold.offered = held.offered;
    hold.revoked = held.revoked;
  }
  for (const WaitingClaim& waiting : line) {
    if (lapsed(waiting.until, now)) continue;
    ClaimView& claim = seen.line.emplace_back();
    claim.owner = waiting.owner;
    claim.shape = waiting.shape;
    claim.record = waiting.record;
    claim.lease_left = left_until(waiting.until, now);
  }
  return seen;
}

// --- holds ---

HeldClaim* LockEntry::find(const OwnerId& owner) {
  const auto found = std::find_if(holds.begin(), holds.end(),
                                  [&](const HeldClaim& hold) { return hold.owner == owner; });
  return found == holds.end() ? nullptr : &*found;
}

HeldClaim* LockEntry::find(const OwnerId& owner, std::uint64_t fence) {
  HeldClaim* const found = find(owner);
  return found != nullptr && found->fence == fence ? found : nullptr;
}

HeldClaim* LockEntry::find(const HoldKey& key) {
  return key.kind == kind ? find(key.owner, key.fence) : nullptr;
}

void LockEntry::end(const Replaced& gone) {
  std::erase_if(holds, [&](const HeldClaim& hold) {
    return hold.owner == gone.owner && hold.fence == gone.fence;
  });
}

void LockEntry::confirm(HeldClaim& hold, TimePoint until) {
  hold.until = until;
  hold.offered = false;
  // Last: it moves the holds.
  if (const auto replaced = std::exchange(hold.replaces, std::nullopt)) end(*replaced);
}

bool LockEntry::has_room(const Shape& wanted, const std::optional<Replaced>& replaces,
                         const Moment& at) const {
  std::uint64_t taken = 0;
  for (const HeldClaim& hold : holds) {
    if (replaces && *replaces == Replaced{hold.owner, hold.fence}) continue;
    if (!wanted.goes_with(hold.shape)) return false;
    taken += hold.shape.take;
  }
  return wanted.form != Form::permits || taken + wanted.take <= permits(wanted, at);
}

// All claims in use agree on the number, so any of them knows it.
std::uint32_t LockEntry::permits(const Shape& asked, const Moment& at) const {
  if (at.size) return *at.size;
  if (!holds.empty()) return holds.front().shape.of;
  return line.empty() ? asked.of : line.front().shape.of;
}

std::vector<std::uint32_t> LockEntry::free_slots(const Shape& shape) const {
  std::vector<std::uint32_t> slots;
  if (shape.form != Form::permits) return slots;
  std::vector<std::uint32_t> taken;
  for (const HeldClaim& hold : holds) {
    taken.insert(taken.end(), hold.slots.begin(), hold.slots.end());
  }
  std::sort(taken.begin(), taken.end());
  auto next_taken = taken.begin();
  for (std::uint32_t slot = 0; slots.size() < shape.take; ++slot) {
    if (next_taken != taken.end() && *next_taken == slot) {
      ++next_taken;
    } else {
      slots.push_back(slot);
    }
  }
  return slots;
}

// --- the line ---

// Without fences left the lock stays free; whoever asks for it is told why.
void LockEntry::settle(const Moment& at) {
  drop_lapsed(at.now);
  serve_line(at);
}

bool LockEntry::serve_line(const Moment& at, const OwnerId* up_to) {
  drop_hopeless(at);
  Duration slowest{};
  while (!line.empty() && (up_to == nullptr || line.front().owner != *up_to) &&
         has_room(line.front().shape, line.front().replaces, at)) {
    slowest = std::max(slowest, line.front().confirm_within);
    if (!hand_over(at)) return false;
  }
  if (slowest > Duration::zero() && !line.empty()) {
    Wake look;
    look.look_after = slowest;
    at.told.push_back({line.front().owner, look});
  }
  return true;
}

// Those who want more than the size that was set ask again and are told so.
void LockEntry::drop_hopeless(const Moment& at) {
  if (!at.size || kind != Kind::semaphore) return;
  std::erase_if(line, [&](const WaitingClaim& claim) {
    if (claim.shape.take <= *at.size) return false;
    at.told.push_back({claim.owner, Wake{}});
    return true;
  });
}

bool LockEntry::hand_over(const Moment& at) {
  const auto fence = at.fences.next(line.front().spare);
  if (!fence) return false;
  WaitingClaim head = std::move(line.front());
  line.pop_front();
  HeldClaim hold;
  hold.owner = head.owner;
  hold.shape = head.shape;
  hold.record = std::move(head.record);
  hold.fence = *fence;
  hold.spare = head.spare;
  hold.until = later(at.now, head.confirm_within);
  hold.offered = true;
  hold.slots = free_slots(head.shape);
  hold.replaces = head.replaces;

  Wake offer;
  offer.offer = Wake::Offer{hold.fence, hold.spare, hold.slots};
  at.told.push_back({head.owner, offer});
  holds.push_back(std::move(hold));
  return true;
}

void LockEntry::drop_lapsed(TimePoint now) {
  std::erase_if(holds, [now](const HeldClaim& hold) { return lapsed(hold.until, now); });
  std::erase_if(line, [&](const WaitingClaim& claim) {
    const auto& old = claim.replaces;
    return lapsed(claim.until, now) || (old && find(old->owner, old->fence) == nullptr);
  });
}

void LockEntry::line_up(const GrantRequest& ask, TimePoint now) {
  auto place = place_of(line, ask.owner);
  if (place == line.end()) {
    place = line.emplace(ask.instead_of ? line.begin() : line.end());
  }
  place->owner = ask.owner;
  place->shape = ask.shape;
  place->record = ask.record;
  place->spare = ask.spare;
  place->confirm_within = ask.confirm_within;
  place->until = later(now, ask.line_for);
  place->replaces = replaced_by(ask);
}

void LockEntry::leave_line(const OwnerId& owner) {
  const auto place = place_of(line, owner);
  if (place != line.end()) line.erase(place);
}

std::size_t LockEntry::ahead_of(const OwnerId& owner) const {
  return static_cast<std::size_t>(place_of(line, owner) - line.begin());
}

}  // namespace holdfast::rules
