#include "core/lease_machine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/planted.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

// Stores count in units of their own. What is lost by that is no part of a lease that would have to be fetched.
constexpr Duration kUnit = 1ms;

}  // namespace

LeaseMachine::LeaseMachine(const Pace& pace, store::Random& random, Terms terms,
                           const GrantInHand& grant)
    : pace_(&pace), random_(&random), terms_(terms) {
  counted_until_ = pace.drift.valid_until(grant.sent, terms.lease, grant.lease);
  given_ = std::min(terms.lease, grant.lease);
  if (!terms.renew) {
    const bool in_parts = terms.lease - given_ >= kUnit;
    const Duration whole = in_parts ? terms.lease : given_;
    lease_ends_ = pace.drift.valid_until(grant.sent, whole, whole);
  }
  newest_success_ = grant.sent;
  renew_from_ = later(grant.sent, given_ / 3);
}

LostWhy LeaseMachine::why_lost(TimePoint now) const {
  const bool held_too_long =
      now >= terms_.hold_until && terms_.hold_until < std::min(counted_until_, lease_ends_);
  return held_too_long ? LostWhy::max_hold : LostWhy::expired;
}

TimePoint LeaseMachine::renew_from() const {
  if (in_flight_) return kNever;
  if (urgent_) return renew_from_;
  // Nothing to gain once it reaches to its end.
  return counted_until_ < end() ? renew_from_ : kNever;
}

TimePoint LeaseMachine::renew_by() const {
  const TimePoint from = renew_from();
  return urgent_ || from == kNever ? from : later(from, Pace::renewal_slack(given_));
}

Duration LeaseMachine::start_renewal(TimePoint now) {
  in_flight_ = true;
  urgent_ = false;
  again_ = false;
  answer_by_ = later(now, pace_->renewal_within(given_));
  const Duration asked = lease_to_ask(now);
  shortened_ |= asked < terms_.lease;
  ceiling_ = pace_->drift.valid_until(now, asked, asked);
  counted_until_ = std::min(counted_until_, ceiling_);
  return asked;
}

Duration LeaseMachine::lease_to_ask(TimePoint now) const {
  const Duration left = left_until(end(), now);
  if (left >= terms_.lease) return terms_.lease;
  return std::min(terms_.lease, left + pace_->drift.allowance(terms_.lease));
}

void LeaseMachine::on_renewed(const Answer& answer, TimePoint now) {
  newest_success_ = std::max(newest_success_, answer.sent);
  if (!answer.late || !in_flight_) {  // else the one in flight decides what comes next
    in_flight_ = false;
    urgent_ = false;
    failures_ = 0;
    if (!answer.late) given_ = std::min(terms_.lease, answer.given);
    renew_from_ = later(newest_success_, given_ / (HOLDFAST_PLANTED(renew_too_often) ? 6 : 3));
  }
  if (!valid(now)) return;
  const TimePoint sent = HOLDFAST_PLANTED(lease_from_answer) ? now : answer.sent;
  const TimePoint until = pace_->drift.valid_until(sent, answer.asked, answer.given);
  if (answer.late) {
    counted_until_ = std::max(counted_until_, std::min(until, ceiling_));
  } else {
    counted_until_ = until;
  }
  if (!in_flight_ && std::exchange(again_, false)) verify_at(now);
}

void LeaseMachine::on_no_answer(TimePoint now) {
  in_flight_ = false;
  // At once the first time, then with a growing pause.
  const Duration pause = failures_ == 0 ? Duration::zero() : backoff(failures_, *random_);
  ++failures_;
  urgent_ = true;
  renew_from_ = later(now, std::min(pause, terms_.lease / 12));
}

void LeaseMachine::verify_at(TimePoint when) {
  again_ = in_flight_;
  if (in_flight_) return;
  urgent_ = true;
  renew_from_ = std::min(renew_from_, when);
}

}  // namespace holdfast::core
