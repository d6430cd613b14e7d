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
  if (!partings_.empty() || mend_at_ != kNever) return false;
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
    std::erase_if(out.actions, [&](const Action& action) {
      const auto* const ask = std::get_if<AskGrant>(&action);
      const auto* const end = std::get_if<FinishAcquire>(&action);
      return (ask != nullptr && !calls_.contains(ask->call)) || (end != nullptr && end->op == op);
    });
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
  const RoomKey key = key_of(wanted);
  const bool strict = wanted.order == Order::fifo && !HOLDFAST_PLANTED(fifo_in_room);
  const bool own_claim = strict || wanted.kind != store::Kind::mutex;
  const bool supported = can(wanted);
  const bool lost = wanted.instead_of && !holds_.contains(wanted.instead_of->id);
  notice_expiry(wanted, now, out);
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
    const Claim* const ahead = claim_of_room(waiters_.at(op).wanted);
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
  for (auto& [op, waiter] : waiters_) waiter.leaving = Errc::cancelled;
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

// The claim that serves the queue of a room. A room has one, unless there was no memory for it.
Engine::Claim* Engine::claim_of_room(const AcquireWanted& wanted) {
  const auto room = rooms_.find(wanted);
  if (room == rooms_.end()) return nullptr;
  const auto found = claims_.find(room->second.claim);
  return found == claims_.end() ? nullptr : &found->second;
}

// A process that did not run for a while learns by the next call that its hold has ended.
void Engine::notice_expiry(const AcquireWanted& wanted, TimePoint now, Outbox& out) {
  const Claim* const claim = claim_of_room(wanted);
  if (claim == nullptr || !claim->lease || claim->lease->valid(now)) return;
  lose(claim->key.owner.claim, claim->lease->why_lost(now), now, out);
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
           claim.wanted.kind == wanted.kind && claim.wanted.name == wanted.name &&
           !claim.key.shape.goes_with(wanted.shape) && claim.hold != wanted.instead_of;
  });
}

// Whether a waiter may go on with a claim or lease that was made for another.
bool Engine::fits(const Claim& claim, const AcquireWanted& wanted) const {
  return wanted.wait > Duration::zero() && wanted.lease == claim.wanted.lease && wanted.renew &&
         claim.wanted.renew;
}

// Sees to it that a queue with somebody in it has a claim, and that an empty room goes.
template <class Key>
void Engine::serve(const Key& key, TimePoint now, Outbox& out) {
  const auto found = rooms_.find(key);
  if (found == rooms_.end() || found->second.claim != 0) return;
  if (found->second.queue.empty()) {
    rooms_.erase(found);
    return;
  }
  start_claim(found->second.queue.front(), true, now, out);
}
template void Engine::serve(const AcquireWanted&, TimePoint, Outbox&);  // for engine_leases.cpp

// A waiter goes without the lock: now, or when the store has confirmed that nothing stays behind.
void Engine::leave(OpId op, Errc why, TimePoint now, Outbox& out) {
  const auto found = waiters_.find(op);
  if (found == waiters_.end()) return agenda_.remove({Due::waiter, op});
  if (found->second.astray) return;
  Waiter& waiter = found->second;
  waiter.leaving = why;
  agenda_.remove({Due::waiter, op});
  if (waiter.claim != 0) {
    const ClaimNo own = waiter.claim;
    return apply(own, moved(claims_.at(own)).give_up(why, now), now, out);
  }

  const RoomKey key = key_of(waiter.wanted);
  Room& room = room_of(waiter.wanted);
  if (room.claim == 0) {
    std::erase(room.queue, op);
    return refuse(op, why, nullptr, now, out);
  }
  Claim& claim = claims_.at(room.claim);
  const bool served_next = claim.waiter == op;
  if (served_next && claim.machine.gave_up()) return;  // it will be told with the others
  const auto next =
      std::find_if(room.queue.begin(), room.queue.end(), [&](OpId each) { return each != op; });
  const bool heir = next != room.queue.end() && claim.machine.lines_up() &&
                    fits(claim, waiters_.at(*next).wanted);
  if (served_next && heir) {
    AcquireWanted wanted = waiters_.at(*next).wanted;
    claim.wanted = std::move(wanted);
    claim.waiter = *next;
  }
  std::erase(room.queue, op);
  if (!served_next || heir) {
    return refuse(op, why, &claim, now, out);
  }
  // The claim was this waiter's alone: it leaves with it, and the others begin anew.
  const ClaimNo own = room.claim;
  waiter.claim = own;
  detach(claim);
  apply(own, moved(claim).give_up(why, now), now, out);
  serve(key, now, out);
}

// Tells a waiter that it did not get the lock, and forgets it. Not before there was memory to tell it.
void Engine::refuse(OpId op, Errc why, const Claim* about, TimePoint now, Outbox& out) {
  const auto found = waiters_.find(op);
  const Waiter& waiter = found->second;
  // Whoever waited for a store that is away was not refused: "no" is not "no idea".
  if (why == Errc::timed_out && about != nullptr && !about->lease && about->machine.silent(now)) {
    why = about->machine.last_silence().why;
  }
  const bool uncertain = about != nullptr && about->machine.uncertain();
  exchange_failed(waiter.wanted, uncertain ? Errc::unknown : why, now, out);
  std::optional<Refused> ours;
  if (about != nullptr && about->lease) {
    ours = Refused{.holder = request_of(*about).record,
                   .lease_left = left_until(about->lease->valid_until(), now)};
  }
  const bool foreign = about != nullptr && !about->lease;
  const auto& refusal = foreign ? about->machine.last_refusal() : ours;
  const std::string_view cause = foreign ? about->machine.last_silence().text : std::string_view();
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
  agenda_.remove({Due::waiter, op});
  waiters_.erase(found);
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
    room_of(wanted).claim = no;
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
  apply(no, moved(entry->second).start(now), now, out);
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
    const auto room = rooms_.find(claim.wanted);
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
    out.actions.emplace_back(StartWatch{no, claim.key});
    claim.watched = true;
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
  claim.in_step = false;
}

// The claim will not become a hold. If the store failed, it failed for everybody in the queue.
void Engine::tell(Claim& claim, Errc why, TimePoint now, Outbox& out) {
  const OpId op = std::exchange(claim.waiter, kNobody);
  if (!claim.of_room) {
    if (op != kNobody && waiters_.contains(op)) refuse(op, why, &claim, now, out);
    return;
  }
  Room& room = room_of(claim.wanted);
  std::vector<OpId> told;
  if (!claim.machine.lines_up()) {  // a single attempt has less patience than the others
    std::erase(room.queue, op);
    told.push_back(op);
  } else {
    told.swap(room.queue);
  }
  detach(claim);
  for (const OpId each : told) refuse(each, why, &claim, now, out);
  serve(claim.wanted, now, out);
}

// The claim no longer serves its room's queue.
void Engine::detach(Claim& claim) {
  if (!claim.of_room) return;
  claim.of_room = false;
  room_of(claim.wanted).claim = 0;
}

void Engine::stop_watch(ClaimNo no, Claim& claim, Outbox& out) {
  if (!claim.watched) return;
  out.actions.emplace_back(StopWatch{no});
  claim.watched = false;
}

void Engine::end_claim(ClaimNo no, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  stop_watch(no, claim, out);
  agenda_.remove({Due::claim, no});
  detach(claim);
  const auto ended = claims_.extract(no);
  serve(ended.mapped().wanted, now, out);
}

void Engine::on(const Woken& event, TimePoint now, Outbox& out) {
  const auto found = claims_.find(event.claim);
  if (found == claims_.end() || found->second.lease) return;
  apply(event.claim, moved(found->second).on_wake(event.wake, now), now, out);
}

void Engine::on(const Tick&, TimePoint now, Outbox& out) {
  if (now >= mend_at_) mend(now, out);
  bool renewals_due = false;
  while (const auto item = agenda_.take_due(now, later(now, kMendAfter))) {
    due(item->first, item->second, renewals_due, now, out);
  }
  if (renewals_due) send_renewals(now, out);
}

void Engine::due(Due what, std::uint64_t id, bool& renewals_due, TimePoint now, Outbox& out) {
  switch (what) {
    case Due::waiter:
      return leave(id, Errc::timed_out, now, out);
    case Due::parting:
      return apply(id, moved(partings_.at(id)).on_timer(now), now, out);
    case Due::claim:
      break;
  }
  Claim& claim = claims_.at(id);
  if (!claim.lease) return apply(id, moved(claim).on_timer(now), now, out);
  renewals_due |= now >= claim.lease->renew_by();
  lease_timer(id, now, out);
}

// ---- answers to claims ----

void Engine::on(const Answered<GrantReply>& event, TimePoint now, Outbox& out) {
  const auto node = calls_.extract(event.call);
  const OpenCall& call = node.mapped();
  const auto found = claims_.find(call.claim);
  if (found == claims_.end() || found->second.call != event.call || found->second.lease) {
    return late_answer(call, event.reply, now, out);
  }
  apply(call.claim, moved(found->second).on_grant_reply(event.reply, now), now, out);
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
  const auto node = calls_.extract(event.call);
  const OpenCall& call = node.mapped();
  const bool answered = !std::holds_alternative<NoAnswer>(event.reply);
  if (call.parting != 0) {
    const auto found = partings_.find(call.parting);
    if (found == partings_.end()) return;
    if (answered) return apply(call.parting, moved(found->second).on_answer(true, now), now, out);
    if (found->second.call == event.call) {
      apply(call.parting, moved(found->second).on_no_answer(now), now, out);
    }
    return;
  }
  const auto found = claims_.find(call.claim);
  if (found == claims_.end() || found->second.call != event.call || found->second.lease) return;
  apply(call.claim, moved(found->second).on_withdraw_reply(event.reply, now), now, out);
}

// ---- after a want of memory ----

// An event that met it may have stopped anywhere. What it left is brought into a state here from which
// everything goes on by itself, for which no memory is needed; what does need some comes with mend().
void Engine::mend_soon(TimePoint now) noexcept {
  mend_at_ = std::min(mend_at_, later(now, kMendAfter));
  find_strays();
  for (auto& [no, claim] : claims_) step_back(claim, now);
  for (auto& [id, parting] : partings_) {
    if (std::exchange(parting.in_step, false)) parting.try_again(mend_at_);
  }
}

// Cuts ties that only one side knows of. A waiter for whom nothing is under way any more will be told.
void Engine::find_strays() noexcept {
  for (auto& [no, claim] : claims_) {
    const auto room = rooms_.find(claim.wanted);
    claim.of_room = claim.of_room && room != rooms_.end() && room->second.claim == no;
  }
  for (auto& [op, waiter] : waiters_) {
    const auto own = claims_.find(waiter.claim);
    waiter.astray = own == claims_.end() || own->second.waiter != op;
  }
  for (auto& [key, room] : rooms_) {
    const auto own = claims_.find(room.claim);
    if (own == claims_.end() || !own->second.of_room) room.claim = 0;
    std::erase_if(room.queue, [&](OpId op) { return !waiters_.contains(op); });
    for (const OpId op : room.queue) waiters_.find(op)->second.astray = false;
  }
  for (auto& [no, claim] : claims_) {
    const auto waiter = waiters_.find(claim.waiter);
    if (waiter == waiters_.end() || waiter->second.astray) claim.waiter = kNobody;
  }
  std::erase_if(holds_, [&](const auto& entry) {
    const auto claim = claims_.find(entry.second);
    const bool known = claim != claims_.end() && claim->second.hold;
    return !known || claim->second.hold->id != entry.first;
  });
}

// Takes back a claim's last step, and a renewal that never left.
void Engine::step_back(Claim& claim, TimePoint now) noexcept {
  if (claim.lease && claim.hold) {
    if (claim.lease->renewal_deadline() == kNever || calls_.contains(claim.renewal)) return;
    claim.renewal = 0;
    return claim.lease->on_no_answer(now);
  }
  if (!std::exchange(claim.in_step, false)) return;
  claim.lease.reset();
  claim.call = 0;  // should it be answered nevertheless, that is late
  claim.machine.try_again(claim.waiter == kNobody, mend_at_);
}

void Engine::mend(TimePoint now, Outbox& out) {
  mend_at_ = kNever;
  for (auto& [id, parting] : partings_) agenda_.set({Due::parting, id}, parting.timer());
  for (auto each = claims_.begin(); each != claims_.end();) {
    const ClaimNo no = each->first;
    mend_claim(no, now, out);
    each = claims_.upper_bound(no);
  }
  for (auto each = rooms_.begin(); each != rooms_.end();) {
    const RoomKey key = each->first;
    serve(key, now, out);
    each = rooms_.upper_bound(key);
  }
  for (auto each = waiters_.begin(); each != waiters_.end();) {
    const OpId op = each->first;
    const Waiter& waiter = each->second;
    if (waiter.astray) {
      refuse(op, Errc::out_of_memory, nullptr, now, out);
    } else if (waiter.leaving) {
      leave(op, *waiter.leaving, now, out);  // others of its queue may go with it
    }
    each = waiters_.upper_bound(op);
  }
}

void Engine::mend_claim(ClaimNo no, TimePoint now, Outbox& out) {
  Claim& claim = claims_.at(no);
  if (claim.losing) return lose(no, *claim.losing, now, out);
  if (claim.leaving) return released(no, now, out);
  if (claim.lease && !claim.missed) return schedule(no, claim);
  if (claim.lease) return agenda_.set({Due::claim, no}, claim.lease->valid_until());
  if (claim.waiter == kNobody && !claim.machine.gave_up()) {
    return apply(no, moved(claim).give_up(Errc::out_of_memory, now), now, out);
  }
  agenda_.set({Due::claim, no}, claim.machine.timer());
}

}  // namespace holdfast::core
