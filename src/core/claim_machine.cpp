#include "core/claim_machine.hpp"

#include <algorithm>

#include "core/planted.hpp"

namespace holdfast::core {

using store::Gone;
using store::Granted;
using store::GrantReply;
using store::NoAnswer;
using store::Refused;
using store::Rejected;
using store::RenewalReply;
using store::Renewed;
using store::Wake;
using store::Withdrawn;
using store::WithdrawReply;

namespace {

constexpr Duration kShortestSleep = std::chrono::milliseconds(1);

// Errors that another attempt would meet again.
bool is_final(Errc why) { return why != Errc::unavailable && why != Errc::unknown; }

}  // namespace

ClaimStep ClaimMachine::send(State state, ClaimStep::Verb verb, TimePoint now) {
  state_ = state;
  sent_ = now;
  deadline_ = later(now, pace_->answer_within);
  look_at_ = kNever;
  ClaimStep step;
  step.verb = verb;
  return step;
}

ClaimStep ClaimMachine::start(TimePoint now) {
  started_ = now;
  return ask(now);
}

ClaimStep ClaimMachine::ask(TimePoint now) {
  // A single attempt is to be over soon, also if it has to be repeated.
  const TimePoint over = terms_.line_up ? kNever : later(started_, pace_->answer_within);
  if (now >= over) {
    state_ = State::resting;
    return give_up(last_silence_.why, now);
  }
  last_asked_ = now;
  const ClaimStep step = send(State::asking, ClaimStep::Verb::ask, now);
  deadline_ = std::min(deadline_, over);
  return step;
}

ClaimStep ClaimMachine::confirm(TimePoint now) {
  last_asked_ = now;  // it restarts the lease as asking does
  return send(State::confirming, ClaimStep::Verb::confirm, now);
}

ClaimStep ClaimMachine::withdraw(TimePoint now) {
  if (!maybe_known_) return end(*gave_up_);
  left_more_ = false;
  return send(State::withdrawing, ClaimStep::Verb::withdraw, now);
}

ClaimStep ClaimMachine::on_grant_reply(const GrantReply& reply, TimePoint now) {
  if (state_ != State::asking) return {};
  if (const auto* yes = std::get_if<Granted>(&reply)) {
    return granted({yes->fence, yes->spare, yes->lease, sent_, yes->slots}, now);
  }
  if (const auto* no = std::get_if<Refused>(&reply)) return refused(*no, now);
  if (const auto* never = std::get_if<Rejected>(&reply)) {
    last_silence_ = {never->why, false, never->text};
    if (gave_up_) return withdraw(now);
    state_ = State::resting;
    return give_up(never->why, now);
  }
  return no_answer(std::get<NoAnswer>(reply), now);
}

ClaimStep ClaimMachine::granted(GrantInHand grant, TimePoint now) {
  if (HOLDFAST_PLANTED(lease_from_answer)) grant.sent = now;
  maybe_known_ = true;
  if (pace_->drift.valid_until(grant.sent, terms_.lease, grant.lease) > now) {
    state_ = State::done;
    ClaimStep step;
    step.granted = grant;
    return step;
  }
  // The answer took longer than the lease lasts, or we were paused: worthless. Ask again; the same
  // owner gets the same grant with a fresh lease.
  return no_answer({Errc::unavailable, true, "the answer took longer than the lease"}, now);
}

ClaimStep ClaimMachine::refused(const Refused& refusal, TimePoint now) {
  last_refusal_ = refusal;
  unanswered_ = 0;
  silent_since_ = kNever;
  if (!terms_.line_up) {
    // One attempt leaves no place in line. But an unanswered one before it may have been granted and
    // revoked since: that has to be given back.
    if (!gave_up_) {
      gave_up_ = Errc::busy;
      tell_by_ = later(now, pace_->answer_within);
    }
    return withdraw(now);
  }
  maybe_known_ = true;
  if (gave_up_) return withdraw(now);
  if (!watched_) {
    watched_ = true;
    // Ask once more: the lock may have come free between the refusal and the subscription.
    ClaimStep step = HOLDFAST_PLANTED(no_second_try) ? sleep(refusal, now) : ask(now);
    step.watch = true;
    return step;
  }
  if (kept_wake_) {
    const Wake wake = *std::exchange(kept_wake_, std::nullopt);
    sleep(refusal, now);
    return act_on(wake, now);
  }
  return sleep(refusal, now);
}

ClaimStep ClaimMachine::sleep(const Refused& refusal, TimePoint now) {
  state_ = State::sleeping;
  deadline_ = kNever;
  const Duration refresh = Pace::line_for(terms_.lease) / 3;
  look_at_ = later(
      now, std::max(kShortestSleep, std::min({refusal.retry_after, refresh, pace_->look_every})));
  return {};
}

ClaimStep ClaimMachine::no_answer(const NoAnswer& silence, TimePoint now) {
  last_silence_ = silence;
  maybe_known_ |= silence.executed;
  uncertain_ |= silence.executed;
  ++unanswered_;
  silent_since_ = std::min(silent_since_, sent_);
  if (gave_up_) return withdraw(now);
  const bool single = !terms_.line_up;
  const Duration pause = backoff(unanswered_ - 1, *random_);
  const bool out_of_patience =
      single ? unanswered_ > 1 || later(now, pause) >= later(started_, pace_->answer_within)
             : now - silent_since_ >= pace_->patience;
  state_ = State::resting;
  if (is_final(silence.why) || out_of_patience) return give_up(silence.why, now);
  deadline_ = kNever;
  look_at_ = later(now, pause);
  if (kept_wake_) return act_on(*std::exchange(kept_wake_, std::nullopt), now);
  return {};
}

ClaimStep ClaimMachine::on_confirm_reply(const RenewalReply& reply, TimePoint now) {
  if (state_ != State::confirming) return {};
  if (const auto* renewed = std::get_if<Renewed>(&reply)) {
    return granted({offer_.fence, offer_.spare, renewed->lease, sent_, offer_.slots}, now);
  }
  if (std::holds_alternative<Gone>(reply) && HOLDFAST_PLANTED(confirm_gone_taken)) {
    return granted({offer_.fence, offer_.spare, terms_.lease, sent_, offer_.slots}, now);
  }
  if (std::holds_alternative<Gone>(reply)) {
    lapsed_offer_ = offer_.fence;
    if (kept_wake_ && kept_wake_->offer && kept_wake_->offer->fence <= lapsed_offer_) {
      kept_wake_.reset();
    }
  }
  uncertain_ |= std::holds_alternative<NoAnswer>(reply);
  // The offer lapsed, or nobody knows: asking as the same owner settles both.
  return gave_up_ ? withdraw(now) : ask(now);
}

ClaimStep ClaimMachine::on_wake(const Wake& wake, TimePoint now) {
  if (gave_up_ || withdrawing() || state_ == State::done) return {};
  if (state_ == State::sleeping || state_ == State::resting) return act_on(wake, now);
  keep(wake);
  return {};
}

// Of two wakes the more urgent: an offer before a look, the newer offer, the earlier look.
void ClaimMachine::keep(const Wake& wake) {
  const std::uint64_t fence = wake.offer ? wake.offer->fence : 0;
  if (wake.offer && fence <= lapsed_offer_) return;
  if (kept_wake_) {
    const std::uint64_t kept = kept_wake_->offer ? kept_wake_->offer->fence : 0;
    if (fence < kept || (fence == kept && wake.look_after >= kept_wake_->look_after)) return;
  }
  kept_wake_ = wake;
}

ClaimStep ClaimMachine::act_on(const Wake& wake, TimePoint now) {
  if (wake.offer) {
    if (wake.offer->fence <= lapsed_offer_) return {};
    offer_ = *wake.offer;
    if (HOLDFAST_PLANTED(offer_from_wake)) {
      return granted({offer_.fence, offer_.spare, terms_.lease, now, offer_.slots}, now);
    }
    if (HOLDFAST_PLANTED(offer_from_refusal)) {
      return granted({offer_.fence, offer_.spare, terms_.lease, last_asked_, offer_.slots}, now);
    }
    return confirm(now);
  }
  if (wake.look_after <= Duration::zero()) return ask(now);
  look_at_ = std::min(look_at_, later(now, wake.look_after));
  return {};
}

ClaimStep ClaimMachine::give_up(Errc why, TimePoint now) {
  if (gave_up_ || state_ == State::done) return {};
  gave_up_ = why;
  tell_by_ = later(now, pace_->answer_within);
  if (state_ == State::resting || state_ == State::sleeping) return withdraw(now);
  if (HOLDFAST_PLANTED(give_up_forgets)) return end(why);
  // The answer under way decides. It gets half of the time in which the waiter must be told.
  deadline_ = std::min(deadline_, later(now, pace_->answer_within / 2));
  return {};
}

ClaimStep ClaimMachine::on_withdraw_reply(const WithdrawReply& reply, TimePoint now) {
  if (state_ != State::withdrawing) return {};
  if (std::holds_alternative<Withdrawn>(reply)) {
    unanswered_ = 0;  // this is as good as a no
    return left_more_ ? withdraw(now) : end(*gave_up_);
  }
  if (HOLDFAST_PLANTED(withdraw_once)) return end(*gave_up_);
  // Whatever we left lapses within one lease of our last question, even if that was slow to arrive.
  const TimePoint lapsed = std::max(later(later(last_asked_, terms_.lease), pace_->answer_within),
                                    later(last_executed_, terms_.lease));
  if (now >= lapsed) return end(Errc::unknown);
  state_ = State::withdraw_resting;
  deadline_ = kNever;
  look_at_ = later(now, backoff(unanswered_++, *random_));
  return {};
}

void ClaimMachine::try_again(bool told, TimePoint when) noexcept {
  maybe_known_ = true;
  uncertain_ |= state_ == State::asking || state_ == State::confirming;
  last_silence_.why = Errc::out_of_memory;
  state_ = gave_up_ ? State::withdraw_resting : State::resting;
  deadline_ = kNever;
  look_at_ = when;
  told_ = told;
  if (gave_up_) tell_by_ = std::max(tell_by_, later(when, pace_->answer_within));
}

void ClaimMachine::on_late_answer(TimePoint now) {
  last_executed_ = now;
  left_more_ = withdrawing();
}

ClaimStep ClaimMachine::on_timer(TimePoint now) {
  ClaimStep step;
  if (now >= deadline_) {
    const NoAnswer silence{Errc::unknown, true, "no answer in time"};
    switch (state_) {
      case State::asking:
        step = no_answer(silence, now);
        break;
      case State::confirming:
        step = on_confirm_reply(silence, now);
        break;
      case State::withdrawing:
        step = on_withdraw_reply(silence, now);
        break;
      default:
        break;
    }
  } else if (now >= look_at_) {
    step = state_ == State::withdraw_resting ? withdraw(now) : ask(now);
  }
  if (gave_up_ && !told_ && now >= tell_by_ && !step.tell) {
    told_ = true;
    step.tell = Errc::unknown;
  }
  return step;
}

ClaimStep ClaimMachine::end(Errc why) {
  state_ = State::done;
  ClaimStep step;
  step.ended = true;
  if (!told_) step.tell = why;
  told_ = true;
  return step;
}

TimePoint ClaimMachine::timer() const {
  if (state_ == State::done) return kNever;
  const TimePoint tell = gave_up_ && !told_ ? tell_by_ : kNever;
  return std::min({deadline_, look_at_, tell});
}

}  // namespace holdfast::core
