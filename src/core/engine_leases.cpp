#include <algorithm>
#include <new>

#include "core/engine.hpp"
#include "core/explain.hpp"
#include "core/planted.hpp"
#include "holdfast/store/store.hpp"

// Claims that are held, and those on their way out.
namespace holdfast::core {

using store::Gone;
using store::NoAnswer;
using store::ReleaseReply;
using store::RenewalReply;
using store::Renewed;
using store::RenewReply;

// ---- from claim to hold ----

void Engine::become_hold(ClaimNo no, const GrantInHand& grant, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  stop_watch(no, claim, out);
  claim.slots = grant.slots;
  claim.lease.emplace(settings_.pace, random_,
                      LeaseMachine::Terms{.lease = claim.wanted.lease, .renew = claim.wanted.renew},
                      grant);
  claim.fence = grant.fence;
  claim.spare = grant.spare;
  claim.granted_at = now;
  if (claim.waiter == kNobody) {  // it had to be told before this was known
    part(Parting::Verb::release, {claim.key, claim.fence}, claim.wanted.lease, kNobody, now, out);
    return end_claim(no, now, out);
  }
  deliver(no, claim.waiter, now, out);
  end_replaced(claim.wanted, now, out);
}

// ---- one hold for another ----

void Engine::show_validity(Claim& claim) {
  const bool over = claim.yields || claim.missed || claim.leaving || claim.losing;
  claim.hold->set_until(over ? kEnded : claim.lease->valid_until());
}

Engine::Claim* Engine::to_be_replaced(const AcquireWanted& wanted) {
  if (!wanted.instead_of) return nullptr;
  const auto found = holds_.find(wanted.instead_of->id);
  return found == holds_.end() ? nullptr : &claims_.at(found->second);
}

// The store exchanged one hold for another, so there is nothing to give back.
void Engine::end_replaced(const AcquireWanted& wanted, TimePoint now, Outbox& out) {
  Claim* const old = to_be_replaced(wanted);
  if (old == nullptr || HOLDFAST_PLANTED(exchange_keeps_old)) return;
  const ClaimNo no = old->key.owner.claim;
  old->hold->set_until(kEnded);
  if (!old->verifiers.empty()) tell_verifiers(*old, Errc::not_owner, out);
  holds_.erase(old->hold->id);
  renewable_.erase({old->indexed_at, no});
  // But a question of the old claim may have reached the store since, and begun it anew.
  if (old->stray) {
    part(Parting::Verb::withdraw, {old->key, old->fence}, old->wanted.lease, kNobody, now, out);
  }
  end_claim(no, now, out);
}

// A hold that may have been exchanged, for one that is being given back, is nothing to rely on; nor is
// one that the store does not know. Any other is what it was.
void Engine::exchange_failed(const AcquireWanted& wanted, Errc why, TimePoint now, Outbox& out) {
  Claim* const old = to_be_replaced(wanted);
  if (old == nullptr) return;
  const ClaimNo no = old->key.owner.claim;
  if (why == Errc::lost || why == Errc::forced || old->missed) {
    return lose(no, why == Errc::forced ? LostWhy::forced : LostWhy::gone, now, out);
  }
  if (why == Errc::unknown && !HOLDFAST_PLANTED(exchange_unsure_kept)) {
    part(Parting::Verb::release, {old->key, old->fence}, old->wanted.lease, kNobody, now, out);
    return lose(no, LostWhy::gone, now, out);
  }
  old->exchanging = old->yields = false;
  show_validity(*old);
}

// First all that needs memory. From there on the waiter has the lock.
void Engine::deliver(ClaimNo no, OpId op, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  std::vector<std::uint32_t> slots = claim.slots;
  holds_.emplace(++last_hold_, no);
  out.actions.emplace_back(FinishAcquire{op, waiters_.at(op).cell, std::nullopt});

  auto waiter = waiters_.extract(op);
  agenda_.remove({Due::waiter, op});
  if (claim.of_room) std::erase(room_of(claim.wanted).queue, op);
  claim.in_step = false;
  claim.waiter = kNobody;
  claim.wanted = std::move(waiter.mapped().wanted);
  claim.lease->limit(later(now, claim.wanted.max_hold));
  const std::uint64_t step = HOLDFAST_PLANTED(handoff_same_fence) ? 0 : claim.handed;
  claim.hold = std::move(waiter.mapped().cell);
  claim.hold->fill(last_hold_, claim.key, FencingToken(claim.fence + step), std::move(slots),
                   claim.lease->valid_until());
  claim.hold_since = now;
  out.tell([&] {
    return LockEvent{
        .what = claim.handed == 0 ? LockEvent::What::acquired : LockEvent::What::handed_off,
        .at = now,
        .lock = claim.key.name.bytes(),
        .fence = claim.hold->fence,
        .took = now - waiter.mapped().since};
  });
  try {
    schedule(no, claim);
  } catch (const std::bad_alloc&) {
    mend_at_ = std::min(mend_at_, later(now, kMendAfter));
  }
}

// Passes a released lock to the next of this client's waiters, if the budget, the reserved fences
// and the lease allow it.
bool Engine::hand_off(ClaimNo no, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  if (!claim.of_room || closing_) return false;
  Room& room = room_of(claim.wanted);
  room.quick = now - claim.hold_since < Pace::kQuickHold;
  const OpId next = next_in(room, claim, now);
  if (next == kNobody) return false;
  const bool fence_left = claim.handed < claim.spare || HOLDFAST_PLANTED(handoff_past_spare);
  const bool in_budget =
      claim.handed < settings_.handoff_count && now - claim.granted_at < settings_.handoff_time;
  const bool fresh = left_until(claim.lease->valid_until(), now) >= claim.lease->given() / 3;
  if (!fence_left || !in_budget || !fresh || claim.lease->shortened()) return false;
  ++claim.handed;
  if (HOLDFAST_PLANTED(handoff_restarts_lease)) {
    claim.lease->on_renewed({now, claim.wanted.lease, claim.wanted.lease, true}, now);
  }
  deliver(no, next, now, out);
  return true;
}

// Whom to hand it to: one who is awake before one who must be woken, which takes longer than a quick
// hold. The others lose nothing for long: when the budget is used up, the next claim is for the first
// in the queue.
OpId Engine::next_in(const Room& room, const Claim& claim, TimePoint now) const {
  if (now < room.awake_until) {
    const auto awake = waiters_.find(room.awake);
    const bool in_queue = awake != waiters_.end() && awake->second.claim == 0;
    if (in_queue && fits(claim, awake->second.wanted)) return room.awake;
  }
  if (room.queue.empty() || !fits(claim, waiters_.at(room.queue.front()).wanted)) return kNobody;
  return room.queue.front();
}

// One waiter at a time: more would only keep processors from whoever holds the lock.
void Engine::keep_awake(Room& room, OpId op, TimePoint now, Outbox& out) {
  if (now < room.awake_until && waiters_.contains(room.awake)) return;
  room.awake = op;
  room.awake_until = later(now, Pace::kQuickHold);
  out.actions.emplace_back(StayAwake{op});
}

// ---- release ----

void Engine::on(const ReleaseWanted& event, TimePoint now, Outbox& out) {
  const auto found = holds_.find(event.hold->id);
  if (found == holds_.end()) {
    if (event.op != kNobody) {
      out.actions.emplace_back(
          FinishVoid{event.op, lost_error(event.hold->name, event.hold->why_lost)});
    }
    return;
  }
  const ClaimNo no = found->second;
  Claim& claim = claims_.at(no);
  if (!claim.lease->valid(now)) {
    if (event.op != kNobody) {
      out.actions.emplace_back(
          FinishVoid{event.op, lost_error(claim.key.name, claim.lease->why_lost(now))});
    }
    return lose(no, claim.lease->why_lost(now), now, out);
  }
  out.actions.reserve(out.actions.size() + 2);
  const std::size_t told = out.events.size();
  out.tell([&] {
    return LockEvent{.what = LockEvent::What::released,
                     .at = now,
                     .lock = claim.key.name.bytes(),
                     .fence = claim.hold->fence,
                     .took = now - claim.hold_since};
  });
  try {
    if (hand_off(no, now, out)) {
      if (event.op != kNobody) out.actions.emplace_back(FinishVoid{event.op, {}});
    } else {
      // The release leaves before the next claim of this room, so that whoever waits in the store's
      // line is served first.
      part(Parting::Verb::release, {claim.key, claim.fence}, claim.wanted.lease, event.op, now,
           out);
      partings_.at(last_parting_).stray = claim.stray;
      claim.leaving = true;
    }
  } catch (...) {
    out.events.erase(out.events.begin() + static_cast<std::ptrdiff_t>(told), out.events.end());
    throw;
  }
  holds_.erase(event.hold->id);
  event.hold->set_until(kEnded);
  if (claim.leaving && !HOLDFAST_PLANTED(renew_after_release)) {
    renewable_.erase({claim.indexed_at, no});
  }
  try {
    released(no, now, out);
  } catch (const std::bad_alloc&) {
    mend_soon(now);  // it is released: its caller has nothing to do about the rest
  }
}

// What is left to do after a hold was given back, or passed on.
void Engine::released(ClaimNo no, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  if (!claim.verifiers.empty()) tell_verifiers(claim, Errc::not_owner, out);
  if (!claim.leaving) return;
  if (HOLDFAST_PLANTED(renew_after_release)) {
    claim.leaving = false;
    detach(claim);
    return serve(claim.wanted, now, out);
  }
  end_claim(no, now, out);
}

void Engine::part(Parting::Verb verb, store::HoldKey key, Duration lease, OpId op, TimePoint now,
                  Outbox& out) {
  const std::uint64_t id = ++last_parting_;
  const auto [entry, _] =
      partings_.emplace(id, Parting(settings_.pace, random_, verb, std::move(key), lease, op, now));
  const std::size_t before = out.actions.size();
  try {
    apply(id, entry->second.start(now), now, out);
  } catch (...) {
    out.actions.erase(out.actions.begin() + static_cast<std::ptrdiff_t>(before), out.actions.end());
    calls_.erase(entry->second.call);
    partings_.erase(entry);
    throw;
  }
}

void Engine::apply(std::uint64_t id, const PartingStep& step, TimePoint now, Outbox& out) {
  Parting& parting = partings_.at(id);
  if (step.send) {
    parting.call = open_call({.parting = id, .sent = now});
    if (parting.verb() == Parting::Verb::release) {
      out.actions.emplace_back(AskRelease{parting.call, parting.deadline(), parting.key()});
    } else {
      out.actions.emplace_back(AskWithdraw{parting.call, parting.deadline(), parting.key()});
    }
  }
  if (parting.op() != kNobody && (step.failed || step.done_well)) {
    Result<void> result;
    if (step.failed) {
      result = explain(*step.failed, parting.key().name, {}, std::nullopt,
                       *step.failed == Errc::lost ? "it was not ours any more when it was released"
                                                  : "the release was not answered; it goes on");
    }
    out.actions.emplace_back(FinishVoid{parting.op(), std::move(result)});
    parting.forget_op();
  }
  if (step.ended) {
    agenda_.remove({Due::parting, id});
    partings_.erase(id);
  } else {
    agenda_.set({Due::parting, id}, parting.timer());
    parting.in_step = false;
  }
}

void Engine::on(const Answered<ReleaseReply>& event, TimePoint now, Outbox& out) {
  const auto node = calls_.extract(event.call);
  const OpenCall& call = node.mapped();
  const auto found = partings_.find(call.parting);
  if (found == partings_.end()) return;
  if (!std::holds_alternative<NoAnswer>(event.reply)) {
    const bool was_there = std::holds_alternative<store::Released>(event.reply);
    // A hold that was gone may have made room for what a late question asked for.
    if (!was_there && found->second.stray) {
      part(Parting::Verb::withdraw, found->second.key(), found->second.lease(), kNobody, now, out);
    }
    return apply(call.parting, moved(found->second).on_answer(was_there, now), now, out);
  }
  if (found->second.call == event.call) {
    apply(call.parting, moved(found->second).on_no_answer(now), now, out);
  }
}

// ---- leases ----

void Engine::schedule(ClaimNo no, Claim& claim) {
  const LeaseMachine& lease = *claim.lease;
  renewable_.erase({claim.indexed_at, no});
  claim.indexed_at = lease.renew_from();
  if (claim.indexed_at != kNever) renewable_.insert({claim.indexed_at, no});
  agenda_.set({Due::claim, no},
              std::min({lease.valid_until(), lease.renew_by(), lease.renewal_deadline()}));
}

void Engine::lease_timer(ClaimNo no, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  if (!claim.lease->valid(now)) return lose(no, claim.lease->why_lost(now), now, out);
  if (claim.leaving || claim.losing) return mend_claim(no, now, out);
  if (claim.hold->dropped) return on(ReleaseWanted{claim.hold, kNobody}, now, out);
  if (claim.missed) {
    agenda_.set({Due::claim, no}, claim.lease->valid_until());
  } else if (now >= claim.lease->renewal_deadline()) {
    renewal_answered({no, {claim.key, claim.fence}, {}}, claim.renewal, renewal_sent(claim),
                     NoAnswer{}, now, out);
  } else if (now < claim.lease->renew_by()) {
    schedule(no, claim);
  }  // else it is in the next batch, which schedules it
}

// When the renewal left that is in flight. One that missed its hold has been answered, but ends with it.
TimePoint Engine::renewal_sent(const Claim& claim) const {
  const auto found = calls_.find(claim.renewal);
  return found == calls_.end() ? TimePoint::min() : found->second.sent;
}

// Sends what is due, and what may be sent already since a message leaves anyway.
void Engine::send_renewals(TimePoint now, Outbox& out) {
  while (!renewable_.empty() && renewable_.begin()->first <= now) {
    AskRenew batch;
    OpenCall call{.sent = now};
    batch.deadline = kNever;
    std::vector<ClaimNo> claims;
    while (!renewable_.empty() && renewable_.begin()->first <= now &&
           batch.renewals.size() < store::Store::kMaxBatch) {
      const ClaimNo no = renewable_.begin()->second;
      Claim& claim = claims_.at(no);
      if (!claim.lease->valid(now)) {  // this process did not run for a while
        lose(no, claim.lease->why_lost(now), now, out);
        continue;
      }
      store::Renewal renewal;
      static_cast<store::HoldKey&>(renewal) = {claim.key, claim.fence};
      call.targets.push_back({no, renewal, {}});
      batch.renewals.push_back(std::move(renewal));
      claims.push_back(no);
      const Duration asked = claim.lease->start_renewal(now);
      call.targets.back().asked = batch.renewals.back().lease = asked;
      show_validity(claim);
      batch.deadline = std::min(batch.deadline, claim.lease->renewal_deadline());
      claim.renewal = 0;  // until the question is ready to leave
      schedule(no, claim);
    }
    if (batch.renewals.empty()) return;
    out.actions.reserve(out.actions.size() + 1);
    batch.call = open_call(std::move(call));
    for (const ClaimNo no : claims) claims_.at(no).renewal = batch.call;
    out.actions.emplace_back(std::move(batch));
  }
}

void Engine::on(const Answered<RenewReply>& event, TimePoint now, Outbox& out) {
  const auto node = calls_.extract(event.call);
  const OpenCall& call = node.mapped();
  const auto* each = std::get_if<std::vector<RenewalReply>>(&event.reply);
  const RenewalReply silence = each ? NoAnswer{} : std::get<NoAnswer>(event.reply);
  if (call.confirming) {
    const auto found = claims_.find(call.claim);
    if (found == claims_.end() || found->second.call != event.call || found->second.lease) return;
    const RenewalReply& reply = each && !each->empty() ? each->front() : silence;
    return apply(call.claim, moved(found->second).on_confirm_reply(reply, now), now, out);
  }
  for (std::size_t i = 0; i < call.targets.size(); ++i) {
    const std::size_t at = HOLDFAST_PLANTED(batch_one_answer) ? 0 : i;
    const RenewalReply& reply = each && at < each->size() ? (*each)[at] : silence;
    renewal_answered(call.targets[i], event.call, call.sent, reply, now, out);
  }
}

// One renewal's answer, in time or late. Late ones count too: they say what the store did when it
// saw that renewal, and the lease runs from that one's sending.
void Engine::renewal_answered(const OpenCall::Target& target, store::CallId id, TimePoint sent,
                              const RenewalReply& reply, TimePoint now, Outbox& out) {
  const auto found = claims_.find(target.claim);
  if (found == claims_.end()) {
    if (std::holds_alternative<Renewed>(reply)) late_renewal(target, now, out);
    return;
  }
  Claim& claim = found->second;
  if (claim.leaving || claim.losing) return;
  LeaseMachine& lease = *claim.lease;
  const auto* gone = std::get_if<Gone>(&reply);
  if (gone != nullptr && !gone->forced && claim.exchanging) {
    // Perhaps because the other one has its place: its answer will tell. It is not renewed any more.
    claim.missed = true;
    renewable_.erase({std::exchange(claim.indexed_at, kNever), target.claim});
    agenda_.set({Due::claim, target.claim}, lease.valid_until());
    return show_validity(claim);
  }
  if (gone != nullptr && !HOLDFAST_PLANTED(gone_ignored)) {
    return lose(target.claim, gone->forced ? LostWhy::forced : LostWhy::gone, now, out);
  }
  if (const auto* renewed = std::get_if<Renewed>(&reply)) {
    const bool late = claim.renewal != id;
    lease.on_renewed({sent, target.asked, renewed->lease, late}, now);
    if (!lease.valid(now)) return lose(target.claim, lease.why_lost(now), now, out);
    show_validity(claim);
    if (!late) tell_verifiers(claim, sent, {}, out);
    out.tell([&] {
      return LockEvent{.what = LockEvent::What::renewed,
                       .at = now,
                       .lock = claim.key.name.bytes(),
                       .fence = claim.hold->fence};
    });
  } else {
    if (claim.renewal != id) return;  // a later one is under way
    claim.renewal = 0;
    lease.on_no_answer(now);
    tell_verifiers(claim, sent,
                   explain(Errc::unknown, claim.key.name, {}, std::nullopt, "no answer"), out);
    out.tell([&] {
      return LockEvent{.what = LockEvent::What::renewal_unanswered,
                       .at = now,
                       .lock = claim.key.name.bytes(),
                       .fence = claim.hold->fence};
    });
  }
  schedule(target.claim, claim);
}

// A renewal outlived its hold: the store may have kept the lock for a lease after its release was
// given up. Usually it came before the release, and this finds nothing.
void Engine::late_renewal(const OpenCall::Target& target, TimePoint now, Outbox& out) {
  for (auto& [id, parting] : partings_) {
    if (parting.key() == target.key) return parting.repeat_for(target.asked, now);
  }
  part(Parting::Verb::release, target.key, target.asked, kNobody, now, out);
}

void Engine::tell_verifiers(Claim& claim, TimePoint sent, const Result<void>& result, Outbox& out) {
  out.actions.reserve(out.actions.size() + claim.verifiers.size());
  std::erase_if(claim.verifiers, [&](const Verifier& each) {
    if (each.asked > sent && !HOLDFAST_PLANTED(verify_by_old_answer)) return false;
    out.actions.emplace_back(FinishVoid{each.op, result});
    return true;
  });
}

void Engine::lose(ClaimNo no, LostWhy why, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  claim.losing = why;
  claim.hold->why_lost = why;
  claim.hold->set_until(kEnded);
  holds_.erase(claim.hold->id);
  renewable_.erase({claim.indexed_at, no});
  const Error error = lost_error(claim.key.name, why);
  out.actions.emplace_back(TellLost{claim.hold});
  out.tell([&] {
    return LockEvent{.what = LockEvent::What::lost,
                     .at = now,
                     .lock = claim.key.name.bytes(),
                     .fence = claim.hold->fence,
                     .error = error.errc(),
                     .took = now - claim.hold_since};
  });
  tell_verifiers(claim, error, out);
  // Whatever the store still keeps for us is only in the way; after a revocation this is the
  // acknowledgement that frees the lock.
  if ((why != LostWhy::gone || claim.stray) && !HOLDFAST_PLANTED(lost_kept)) {
    const auto verb = claim.stray ? Parting::Verb::withdraw : Parting::Verb::release;
    part(verb, {claim.key, claim.fence}, claim.wanted.lease, kNobody, now, out);
  }
  end_claim(no, now, out);
}

// ---- verification ----

void Engine::on(const VerifyWanted& event, TimePoint now, Outbox& out) {
  const auto found = holds_.find(event.hold->id);
  if (found == holds_.end()) {
    out.actions.emplace_back(
        FinishVoid{event.op, lost_error(event.hold->name, event.hold->why_lost)});
    return;
  }
  Claim& claim = claims_.at(found->second);
  if (!claim.lease->valid(now)) {
    const LostWhy why = claim.lease->why_lost(now);
    claim.verifiers.push_back({event.op, now});
    return lose(found->second, why, now, out);
  }
  claim.verifiers.push_back({event.op, now});
  if (HOLDFAST_PLANTED(verify_by_clock)) return tell_verifiers(claim, {}, out);
  // The answer to a question from before tells of a time before, too: then it is asked again after it.
  const bool under_way = claim.lease->renewal_deadline() != kNever;
  if (under_way && renewal_sent(claim) == now) return;
  claim.lease->verify_at(now);
  schedule(found->second, claim);
  send_renewals(now, out);
}

void Engine::on(const VerifyAllWanted&, TimePoint now, Outbox& out) {
  for (const auto& [hold, no] : holds_) claims_.at(no).lease->verify_at(now);
  for (const auto& [hold, no] : holds_) schedule(no, claims_.at(no));
  send_renewals(now, out);
}

}  // namespace holdfast::core
