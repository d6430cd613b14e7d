#include "store/memory/lock_table.hpp"

#include <utility>

#include "holdfast/fence.hpp"
#include "store/memory/glob.hpp"

namespace holdfast::store {
namespace {

Rejected not_a_mutex() {
  return {Errc::unsupported, "the memory store keeps exclusive mutexes only"};
}

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

GrantReply LockTable::try_grant(const GrantRequest& ask, TimePoint now, std::vector<Told>& told) {
  if (auto no = objection(ask)) return *std::move(no);
  const auto at = find_or_add(ask.name, now);
  at->second.drop_lapsed(now);
  GrantReply reply = answer(at->second, ask, now, told);
  if (at->second.idle()) locks_.erase(at);
  return reply;
}

GrantReply LockTable::answer(LockEntry& lock, const GrantRequest& ask, TimePoint now,
                             std::vector<Told>& told) {
  // The same owner again: its first answer was lost, or it confirms an offer.
  if (lock.held_by(ask.owner) && !lock.held->revoked) {
    HeldClaim& held = *lock.held;
    held.record = ask.record;
    held.until = later(now, ask.lease);
    held.offered = false;
    return Granted{held.fence, held.spare, ask.lease};
  }
  if (!lock.held) {
    if (lock.line.empty() || lock.line.front().owner == ask.owner) return grant(lock, ask, now);
    if (!hand_over(lock, now, told)) return fences_ran_out();
  }
  if (ask.line_up && !lock.held_by(ask.owner)) {  // a revoked holder that lines up leaves a ghost
    lock.line_up(ask, now);
  } else {
    lock.leave_line(ask.owner);
  }
  return refusal(lock, ask.owner, now);
}

GrantReply LockTable::grant(LockEntry& lock, const GrantRequest& ask, TimePoint now) {
  const auto fence = next_fence(ask.spare);
  if (!fence) return fences_ran_out();
  lock.leave_line(ask.owner);
  HeldClaim& held = lock.held.emplace();
  held.owner = ask.owner;
  held.record = ask.record;
  held.fence = *fence;
  held.spare = ask.spare;
  held.until = later(now, ask.lease);
  return Granted{held.fence, held.spare, ask.lease};
}

Refused LockTable::refusal(const LockEntry& lock, const OwnerId& owner, TimePoint now) const {
  Refused no;
  no.holder = lock.held->record;
  no.lease_left = left_until(lock.held->until, now);
  // Without a wake: the holder may lapse, then each claim ahead may let its offer lapse.
  const std::size_t ahead = lock.ahead_of(owner);
  TimePoint turn = lock.held->until;
  for (std::size_t i = 0; i < ahead; ++i) turn = later(turn, lock.line[i].confirm_within);
  no.retry_after = left_until(turn, now);
  no.ahead = static_cast<std::uint32_t>(ahead);
  no.waiting = static_cast<std::uint32_t>(lock.line.size());
  no.fence_counter = fence_counter_;
  return no;
}

RenewalReply LockTable::renew(const Renewal& renewal, TimePoint now, std::vector<Told>& told) {
  const auto at = find(renewal.kind, renewal.name);
  if (at == locks_.end()) return Gone{};
  at->second.drop_lapsed(now);
  if (!at->second.held_by(renewal)) {
    settle(at, now, told);
    return Gone{};
  }
  HeldClaim& held = *at->second.held;
  if (held.revoked) return Gone{.forced = true};
  held.until = later(now, renewal.lease);
  held.offered = false;
  return Renewed{renewal.lease};
}

ReleaseReply LockTable::release(const HoldKey& key, TimePoint now, std::vector<Told>& told) {
  const auto at = find(key.kind, key.name);
  if (at == locks_.end()) return Gone{};
  LockEntry& lock = at->second;
  lock.drop_lapsed(now);
  ReleaseReply reply = Gone{};
  if (lock.held_by(key)) {
    reply = Released{.others_waiting = !lock.line.empty()};
    lock.held.reset();
  }
  settle(at, now, told);
  return reply;
}

WithdrawReply LockTable::withdraw(const ClaimKey& key, TimePoint now, std::vector<Told>& told) {
  const auto at = find(key.kind, key.name);
  if (at == locks_.end()) return Withdrawn{};
  LockEntry& lock = at->second;
  lock.leave_line(key.owner);
  if (lock.held_by(key.owner)) lock.held.reset();
  settle(at, now, told);
  return Withdrawn{};
}

ForceReply LockTable::force_release(const ForceRequest& ask, TimePoint now,
                                    std::vector<Told>& told) {
  if (ask.kind != Kind::mutex) return not_a_mutex();
  const auto at = find(ask.kind, ask.name);
  if (at == locks_.end()) return ChangedHands{};
  LockEntry& lock = at->second;
  lock.drop_lapsed(now);
  const bool meant = lock.held && lock.held->fence == ask.fence;
  if (meant && ask.now) {
    lock.held.reset();
  } else if (meant) {
    lock.held->revoked = true;
  }
  settle(at, now, told);
  return meant ? ForceReply(Forced{}) : ForceReply(ChangedHands{});
}

InspectReply LockTable::inspect(std::string_view pattern, TimePoint now) const {
  std::vector<LockView> found;
  for (const auto& [name, lock] : locks_) {
    if (!glob_matches(pattern, name.bytes())) continue;
    LockView seen;
    seen.name = name;
    if (lock.held && !lapsed(lock.held->until, now)) {
      ClaimView& hold = seen.holds.emplace_back();
      hold.owner = lock.held->owner;
      hold.record = lock.held->record;
      hold.fence = lock.held->fence;
      hold.lease_left = left_until(lock.held->until, now);
      hold.offered = lock.held->offered;
      hold.revoked = lock.held->revoked;
    }
    for (const WaitingClaim& waiting : lock.line) {
      if (lapsed(waiting.until, now)) continue;
      ClaimView& claim = seen.line.emplace_back();
      claim.owner = waiting.owner;
      claim.record = waiting.record;
      claim.lease_left = left_until(waiting.until, now);
    }
    if (!seen.holds.empty() || !seen.line.empty()) found.push_back(std::move(seen));
  }
  return found;
}

LockTable::Locks::iterator LockTable::find(Kind kind, const LockName& name) {
  return kind == Kind::mutex ? locks_.find(name) : locks_.end();
}

LockTable::Locks::iterator LockTable::find_or_add(const LockName& name, TimePoint now) {
  const auto found = locks_.find(name);
  if (found != locks_.end()) return found;
  // Two looks for each new name, so that names which were left to lapse and never asked for again
  // go faster than they come.
  forget_one_idle(now);
  forget_one_idle(now);
  return locks_.try_emplace(name).first;
}

void LockTable::forget_one_idle(TimePoint now) {
  auto at = locks_.upper_bound(looked_at_);
  if (at == locks_.end()) at = locks_.begin();
  if (at == locks_.end()) return;
  looked_at_ = at->first;
  at->second.drop_lapsed(now);
  if (at->second.idle()) locks_.erase(at);
}

std::optional<std::uint64_t> LockTable::next_fence(std::uint64_t spare) {
  if (fence_counter_ >= kMaxFence || spare >= kMaxFence - fence_counter_) return std::nullopt;
  const std::uint64_t fence = fence_counter_ + 1;
  fence_counter_ = fence + spare;
  return fence;
}

bool LockTable::hand_over(LockEntry& lock, TimePoint now, std::vector<Told>& told) {
  const auto fence = next_fence(lock.line.front().spare);
  if (!fence) return false;
  WaitingClaim head = std::move(lock.line.front());
  lock.line.pop_front();
  HeldClaim& held = lock.held.emplace();
  held.owner = head.owner;
  held.record = std::move(head.record);
  held.fence = *fence;
  held.spare = head.spare;
  held.until = later(now, head.confirm_within);
  held.offered = true;

  Wake offer;
  offer.offer = Wake::Offer{held.fence, held.spare};
  told.push_back({head.owner, offer});
  if (!lock.line.empty()) {
    Wake look;
    look.look_after = head.confirm_within;
    told.push_back({lock.line.front().owner, look});
  }
  return true;
}

void LockTable::settle(Locks::iterator at, TimePoint now, std::vector<Told>& told) {
  LockEntry& lock = at->second;
  lock.drop_lapsed(now);
  // Without fences left the lock stays free; whoever asks for it is told why.
  if (!lock.held && !lock.line.empty()) hand_over(lock, now, told);
  if (lock.idle()) locks_.erase(at);
}

}  // namespace holdfast::store
