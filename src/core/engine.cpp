#include "core/engine.hpp"

#include <algorithm>

#include "core/explain.hpp"
#include "core/planted.hpp"

// Waiters, rooms and claims. What happens to a claim once it is held: engine_leases.cpp.
namespace holdfast::core {

using store::Granted;
using store::GrantReply;
using store::NoAnswer;
using store::Refused;
using store::RenewalReply;
using store::RenewReply;
using store::WithdrawReply;

Engine::Engine(EngineSettings settings, store::Random& random)
    : settings_(std::move(settings)), random_(random) {}

bool Engine::drained() const {
  if (!partings_.empty()) return false;
  return std::all_of(claims_.begin(), claims_.end(),
                     [](const auto& entry) { return entry.second.lease.has_value(); });
}

// ---- callers ----

void Engine::on(AcquireWanted wanted, TimePoint now, Outbox& out) {
  const OpId op = wanted.op;
  const HoldCellPtr old = wanted.instead_of;
  try {
    admit(std::move(wanted), now, out);
  } catch (...) {
    forget(op);
    if (const auto found = old ? holds_.find(old->id) : holds_.end(); found != holds_.end()) {
      Claim& claim = claims_.at(found->second);
      claim.exchanging = claim.yields = false;
      show_validity(claim);
    }
    throw;
  }
}

// Takes a new wish back. Whatever was made for it is known by its number; nobody else has it yet.
void Engine::forget(OpId op) noexcept {
  std::erase_if(claims_, [&](const auto& entry) {
    const auto& [no, claim] = entry;
    if (claim.waiter != op || claim.lease) return false;
    calls_.erase(claim.call);
    agenda_.remove({Due::claim, no});
    for (auto& [key, room] : rooms_) {
      if (room.claim == no) room.claim = 0;
    }
    return true;
  });
  for (auto& [key, room] : rooms_) std::erase(room.queue, op);
  std::erase_if(rooms_, [](const auto& entry) {
    return entry.second.queue.empty() && entry.second.claim == 0;
  });
  agenda_.remove({Due::waiter, op});
  waiters_.erase(op);
}

void Engine::admit(AcquireWanted wanted, TimePoint now, Outbox& out) {
  const OpId op = wanted.op;
  const RoomKey key = room_of(wanted);
  const bool strict = wanted.order == Order::fifo && !HOLDFAST_PLANTED(fifo_in_room);
  const bool own_claim = strict || wanted.kind != store::Kind::mutex;
  const bool supported = can(wanted);
  const bool lost = wanted.instead_of && !holds_.contains(wanted.instead_of->id);
  notice_expiry(key, now, out);
  const bool deadlock = same_owner_holds(wanted, now);
  // The old hold is believed until we hear of the new one, so that must not lapse earlier.
  if (const Claim* old = to_be_replaced(wanted)) {
    wanted.lease = std::max(wanted.lease, old->wanted.lease);
  }
  const Duration wait = wanted.wait;
  const bool has_thread = wanted.has_thread;
  auto cell = std::make_shared<HoldCell>(wanted.kind, wanted.name);
  waiters_.emplace(op, Waiter{std::move(wanted), now, std::move(cell)});

  if (closing_) return refuse(op, Errc::cancelled, nullptr, now, out);
  if (!supported) return refuse(op, Errc::unsupported, nullptr, now, out);
  if (deadlock) return refuse(op, Errc::would_deadlock, nullptr, now, out);
  if (lost) return refuse(op, Errc::lost, nullptr, now, out);
  if (own_claim) {
    start_claim(op, false, now, out);
  } else {
    const auto room = rooms_.find(key);
    const Claim* ahead = room == rooms_.end() ? nullptr : &claims_.at(room->second.claim);
    if (wait > Duration::zero() || ahead == nullptr) {
      Room& entered = rooms_[key];
      entered.queue.push_back(op);
      if (entered.quick && has_thread) keep_awake(entered, op, now, out);
      serve(key, now, out);
    } else if (ahead->lease || ahead->machine.knows_busy()) {
      return refuse(op, Errc::busy, ahead, now, out);
    } else {
      start_claim(op, false, now, out);  // nobody knows yet whether it is free
    }
  }
  const auto waiter = waiters_.find(op);
  if (waiter != waiters_.end() && wait > Duration::zero()) {
    agenda_.set({Due::waiter, op}, later(now, wait));
  }
}

void Engine::on(const GiveUpWanted& event, TimePoint now, Outbox& out) {
  leave(event.op, event.why, now, out);
}

void Engine::on(const CloseWanted&, TimePoint now, Outbox& out) {
  closing_ = true;
  // In each queue the last leaves first, so that nobody is made the next in one that is being emptied.
  std::vector<OpId> all;
  for (const auto& [key, room] : rooms_) {
    all.insert(all.end(), room.queue.rbegin(), room.queue.rend());
  }
  for (const auto& [op, waiter] : waiters_) {
    if (waiter.claim != 0) all.push_back(op);
  }
  for (const OpId op : all) {
    const ClaimNo own = HOLDFAST_PLANTED(close_forgets) ? waiters_.at(op).claim : 0;
    leave(op, Errc::cancelled, now, out);
    if (own != 0 && claims_.contains(own)) end_claim(own, now, out);
  }
}

// ---- the local queue ----

// A process that did not run for a while learns by the next call that its hold has ended.
void Engine::notice_expiry(const RoomKey& key, TimePoint now, Outbox& out) {
  const auto room = rooms_.find(key);
  if (room == rooms_.end()) return;
  const ClaimNo no = room->second.claim;
  const Claim& claim = claims_.at(no);
  if (claim.lease && !claim.lease->valid(now)) lose(no, claim.lease->why_lost(now), now, out);
}

bool Engine::can(const AcquireWanted& wanted) const {
  const store::Capabilities& can = settings_.can;
  switch (wanted.kind) {
    case store::Kind::mutex:
      return wanted.order == Order::fifo ? can.mutex_fifo : can.mutex_any;
    case store::Kind::semaphore:
      return can.permits;
    case store::Kind::shared_mutex:
      break;
  }
  const bool upgrade = wanted.instead_of && wanted.shape == store::Shape::exclusive();
  const bool downgrade = wanted.instead_of && !upgrade;
  if (upgrade || wanted.shape == store::Shape::upgradeable()) return can.upgradeable;
  return downgrade ? can.downgrade : can.shared;
}

// Whether this claim would wait for another one of the same task.
bool Engine::same_owner_holds(const AcquireWanted& wanted, TimePoint now) const {
  if (wanted.owner_tag == 0) return false;
  return std::any_of(holds_.begin(), holds_.end(), [&](const auto& hold) {
    const Claim& claim = claims_.at(hold.second);
    return claim.wanted.owner_tag == wanted.owner_tag && claim.lease->valid(now) &&
           room_of(claim.wanted) == room_of(wanted) && !claim.key.shape.goes_with(wanted.shape) &&
           claim.hold != wanted.instead_of;
  });
}

// Whether a waiter may go on with a claim or lease that was made for another.
bool Engine::fits(const Claim& claim, const AcquireWanted& wanted) const {
  return wanted.wait > Duration::zero() && wanted.lease == claim.wanted.lease && wanted.renew &&
         claim.wanted.renew;
}

// Sees to it that a queue with somebody in it has a claim, and that an empty room goes.
void Engine::serve(const RoomKey& key, TimePoint now, Outbox& out) {
  const auto found = rooms_.find(key);
  if (found == rooms_.end() || found->second.claim != 0) return;
  if (found->second.queue.empty()) {
    rooms_.erase(found);
    return;
  }
  start_claim(found->second.queue.front(), true, now, out);
}

// A waiter goes without the lock: now, or when the store has confirmed that nothing stays behind.
void Engine::leave(OpId op, Errc why, TimePoint now, Outbox& out) {
  const auto found = waiters_.find(op);
  if (found == waiters_.end()) return;
  Waiter& waiter = found->second;
  agenda_.remove({Due::waiter, op});
  if (waiter.claim != 0) {
    const ClaimNo own = waiter.claim;
    return apply(own, claims_.at(own).machine.give_up(why, now), now, out);
  }

  const RoomKey key = room_of(waiter.wanted);
  Room& room = rooms_.at(key);
  Claim& claim = claims_.at(room.claim);
  const bool served_next = claim.waiter == op;
  if (served_next && claim.machine.gave_up()) return;  // it will be told with the others
  std::erase(room.queue, op);
  const bool heir = !room.queue.empty() && claim.machine.lines_up() &&
                    fits(claim, waiters_.at(room.queue.front()).wanted);
  if (!served_next || heir) {
    if (served_next) {
      claim.waiter = room.queue.front();
      claim.wanted = waiters_.at(claim.waiter).wanted;
    }
    return refuse(op, why, &claim, now, out);
  }
  // The claim was this waiter's alone: it leaves with it, and the others begin anew.
  const ClaimNo own = room.claim;
  waiter.claim = own;
  detach(claim);
  apply(own, claim.machine.give_up(why, now), now, out);
  serve(key, now, out);
}

// Tells a waiter that it did not get the lock, and forgets it.
void Engine::refuse(OpId op, Errc why, const Claim* about, TimePoint now, Outbox& out) {
  const auto found = waiters_.find(op);
  const Waiter waiter = std::move(found->second);
  waiters_.erase(found);
  agenda_.remove({Due::waiter, op});
  const bool uncertain = about != nullptr && about->machine.uncertain();
  exchange_failed(waiter.wanted, uncertain ? Errc::unknown : why, now, out);
  std::optional<Refused> refusal;
  std::string cause;
  if (about != nullptr && about->lease) {  // held by ourselves
    refusal = Refused{.holder = request_of(*about).record,
                      .lease_left = left_until(about->lease->valid_until(), now)};
  } else if (about != nullptr) {
    refusal = about->machine.last_refusal();
    cause = about->machine.last_silence().text;
  }
  const Duration waited = now - waiter.since;
  const Duration limit = std::min(waited, waiter.wanted.wait);
  out.actions.emplace_back(
      FinishAcquire{op, nullptr, explain(why, waiter.wanted.name, limit, refusal, cause)});
  out.tell([&] {
    return LockEvent{.what = LockEvent::What::gave_up,
                     .at = now,
                     .lock = waiter.wanted.name.bytes(),
                     .error = why,
                     .took = waited};
  });
}

// ---- claims ----

ClaimNo Engine::start_claim(OpId op, bool of_room, TimePoint now, Outbox& out) {
  Waiter& waiter = waiters_.at(op);
  const AcquireWanted& wanted = waiter.wanted;
  const ClaimNo no = ++last_claim_;
  store::ClaimKey key{wanted.kind, wanted.name, wanted.shape, {settings_.client, no}};
  if (HOLDFAST_PLANTED(permits_take_one)) key.shape.take = 1;
  const ClaimMachine::Terms terms{.lease = wanted.lease, .line_up = wanted.wait > Duration::zero()};
  const auto [entry, _] =
      claims_.emplace(no, Claim{.key = key,
                                .machine = ClaimMachine(settings_.pace, random_, terms),
                                .wanted = wanted,
                                .waiter = op,
                                .of_room = of_room});
  if (of_room) {
    rooms_.at(room_of(wanted)).claim = no;
  } else {
    waiter.claim = no;
  }
  if (wanted.instead_of) {
    Claim& old = *to_be_replaced(wanted);
    entry->second.instead_of = store::HoldKey{old.key, old.fence};
    old.exchanging = true;
    old.yields = wanted.shape != store::Shape::exclusive() && !HOLDFAST_PLANTED(downgrade_late);
    show_validity(old);
  }
  apply(no, entry->second.machine.start(now), now, out);
  return no;
}

store::GrantRequest Engine::request_of(const Claim& claim) const {
  store::GrantRequest request;
  static_cast<store::ClaimKey&>(request) = claim.key;
  request.order = claim.wanted.order;
  request.instead_of = claim.instead_of;
  request.lease = claim.wanted.lease;
  request.line_up = claim.wanted.wait > Duration::zero() || HOLDFAST_PLANTED(single_lines_up);
  request.line_for = Pace::line_for(request.lease);
  request.confirm_within = Pace::confirm_within(request.lease);
  request.record = settings_.self;
  request.record.owner = client_text_ + std::to_string(claim.key.owner.claim);
  request.record.since = claim.wanted.since;
  request.record.reason = claim.wanted.reason;
  if (claim.of_room && settings_.handoff_count > 0) {
    // Fences are reserved only while somebody is there to use them.
    const auto room = rooms_.find(room_of(claim.wanted));
    if (room != rooms_.end() && room->second.queue.size() > 1) {
      request.spare = settings_.handoff_count;
    }
  }
  return request;
}

store::CallId Engine::open_call(OpenCall call) {
  calls_.emplace(++last_call_, std::move(call));
  return last_call_;
}

void Engine::apply(ClaimNo no, const ClaimStep& step, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  if (step.watch) {
    claim.watched = true;
    out.actions.emplace_back(StartWatch{no, claim.key});
    out.tell([&] {
      return LockEvent{.what = LockEvent::What::waiting, .at = now, .lock = claim.key.name.bytes()};
    });
  }
  const TimePoint deadline = claim.machine.verb_deadline();
  switch (step.verb) {
    case ClaimStep::Verb::none:
      break;
    case ClaimStep::Verb::ask: {
      store::GrantRequest request = request_of(claim);
      claim.call = open_call({.claim = no, .key = claim.key, .lease = request.lease, .sent = now});
      out.actions.emplace_back(AskGrant{claim.call, deadline, std::move(request)});
      break;
    }
    case ClaimStep::Verb::confirm: {
      store::Renewal renewal;
      static_cast<store::ClaimKey&>(renewal) = claim.key;
      renewal.fence = claim.machine.offer().fence;
      renewal.lease = claim.wanted.lease;
      claim.call = open_call({.claim = no, .confirming = true, .sent = now});
      out.actions.emplace_back(AskRenew{claim.call, deadline, {std::move(renewal)}});
      break;
    }
    case ClaimStep::Verb::withdraw:
      if (claim.machine.uncertain()) exchange_failed(claim.wanted, Errc::unknown, now, out);
      claim.call = open_call({.claim = no, .sent = now});
      out.actions.emplace_back(AskWithdraw{claim.call, deadline, claim.key});
      break;
  }
  if (step.tell) tell(claim, *step.tell, now, out);
  if (step.granted) return become_hold(no, *step.granted, now, out);
  if (step.ended) return end_claim(no, now, out);
  agenda_.set({Due::claim, no}, claim.machine.timer());
}

// The claim will not become a hold. If the store failed, it failed for everybody in the queue.
void Engine::tell(Claim& claim, Errc why, TimePoint now, Outbox& out) {
  const OpId op = std::exchange(claim.waiter, kNobody);
  if (!claim.of_room) {
    if (op != kNobody && waiters_.contains(op)) refuse(op, why, &claim, now, out);
    return;
  }
  Room& room = rooms_.at(room_of(claim.wanted));
  std::vector<OpId> told;
  if (!claim.machine.lines_up()) {  // a single attempt has less patience than the others
    told.push_back(op);
    std::erase(room.queue, op);
  } else {
    told.swap(room.queue);
  }
  detach(claim);
  for (const OpId each : told) refuse(each, why, &claim, now, out);
  serve(room_of(claim.wanted), now, out);
}

// The claim no longer serves its room's queue.
void Engine::detach(Claim& claim) {
  if (!claim.of_room) return;
  claim.of_room = false;
  rooms_.at(room_of(claim.wanted)).claim = 0;
}

void Engine::stop_watch(ClaimNo no, Claim& claim, Outbox& out) {
  if (!std::exchange(claim.watched, false)) return;
  out.actions.emplace_back(StopWatch{no});
}

void Engine::end_claim(ClaimNo no, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  stop_watch(no, claim, out);
  agenda_.remove({Due::claim, no});
  const RoomKey key = room_of(claim.wanted);
  detach(claim);
  claims_.erase(no);
  serve(key, now, out);
}

void Engine::on(const Woken& event, TimePoint now, Outbox& out) {
  const auto found = claims_.find(event.claim);
  if (found == claims_.end() || found->second.lease) return;
  apply(event.claim, found->second.machine.on_wake(event.wake, now), now, out);
}

void Engine::on(const Tick&, TimePoint now, Outbox& out) {
  bool renewals_due = false;
  while (const auto due = agenda_.pop_due(now)) {
    const auto [what, id] = *due;
    switch (what) {
      case Due::waiter:
        leave(id, Errc::timed_out, now, out);
        break;
      case Due::parting:
        apply(id, partings_.at(id).on_timer(now), now, out);
        break;
      case Due::claim:
        if (claims_.at(id).lease) {
          renewals_due |= now >= claims_.at(id).lease->renew_by();
          lease_timer(id, now, out);
        } else {
          apply(id, claims_.at(id).machine.on_timer(now), now, out);
        }
        break;
    }
  }
  if (renewals_due) send_renewals(now, out);
}

// ---- answers to claims ----

void Engine::on(const Answered<GrantReply>& event, TimePoint now, Outbox& out) {
  const auto call = calls_.extract(event.call).mapped();
  const auto found = claims_.find(call.claim);
  if (found == claims_.end() || found->second.call != event.call || found->second.lease) {
    return late_answer(call, event.reply, now, out);
  }
  apply(call.claim, found->second.machine.on_grant_reply(event.reply, now), now, out);
}

// The question had been given up. While its claim lives the answer is dropped: it may name the very
// grant that the claim holds or is about to get. Once the claim has ended, what the answer shows to
// be in the store is taken out again; by the claim's end, if it holds something.
void Engine::late_answer(const OpenCall& call, const GrantReply& reply, TimePoint now,
                         Outbox& out) {
  const auto* granted = std::get_if<Granted>(&reply);
  const bool lined_up = std::holds_alternative<Refused>(reply);
  if (granted == nullptr && !lined_up) return;
  const auto found = claims_.find(call.claim);
  if (found != claims_.end() && !found->second.lease) found->second.machine.on_late_answer(now);
  if (found != claims_.end() && found->second.lease) {
    found->second.stray |= lined_up || granted->fence != found->second.fence;
  }
  if (found != claims_.end() && !HOLDFAST_PLANTED(late_grant_released_early)) return;
  if (HOLDFAST_PLANTED(late_grant_kept)) return;
  if (lined_up && HOLDFAST_PLANTED(late_refusal_kept)) return;
  store::HoldKey key;
  static_cast<store::ClaimKey&>(key) = call.key;
  if (granted != nullptr) key.fence = granted->fence;
  part(granted != nullptr ? Parting::Verb::release : Parting::Verb::withdraw, std::move(key),
       call.lease, kNobody, now, out);
}

void Engine::on(const Answered<WithdrawReply>& event, TimePoint now, Outbox& out) {
  const auto call = calls_.extract(event.call).mapped();
  const bool answered = !std::holds_alternative<NoAnswer>(event.reply);
  if (call.parting != 0) {
    const auto found = partings_.find(call.parting);
    if (found == partings_.end()) return;
    if (answered) return apply(call.parting, found->second.on_answer(true, now), now, out);
    if (found->second.call == event.call) {
      apply(call.parting, found->second.on_no_answer(now), now, out);
    }
    return;
  }
  const auto found = claims_.find(call.claim);
  if (found == claims_.end() || found->second.call != event.call || found->second.lease) return;
  apply(call.claim, found->second.machine.on_withdraw_reply(event.reply, now), now, out);
}

}  // namespace holdfast::core
