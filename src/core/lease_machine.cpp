#include "core/lease_machine.hpp"

#include <algorithm>

#include "core/planted.hpp"

namespace holdfast::core {

LeaseMachine::LeaseMachine(const Pace& pace, store::Random& random, Terms terms,
                           const GrantInHand& grant)
    : pace_(&pace), random_(&random), terms_(terms) {
  counted_until_ = pace.drift.valid_until(grant.sent, terms.lease, grant.lease);
  newest_success_ = grant.sent;
  renew_from_ = later(grant.sent, terms.lease / 3);
}

LostWhy LeaseMachine::why_lost(TimePoint now) const {
  return now >= terms_.hold_until ? LostWhy::max_hold : LostWhy::expired;
}

TimePoint LeaseMachine::renew_from() const {
  if (in_flight_) return kNever;
  if (urgent_) return renew_from_;
  // Nothing to gain once the lease reaches to the end of max_hold.
  if (!terms_.renew || counted_until_ >= terms_.hold_until) return kNever;
  return renew_from_;
}

TimePoint LeaseMachine::renew_by() const {
  const TimePoint from = renew_from();
  return urgent_ || from == kNever ? from : later(from, Pace::renewal_slack(terms_.lease));
}

Duration LeaseMachine::start_renewal(TimePoint now) {
  in_flight_ = true;
  urgent_ = false;
  answer_by_ = later(now, pace_->renewal_within(terms_.lease));
  if (!terms_.renew) {
    // A verification may not lengthen what was not to be renewed.
    return std::max(left_until(counted_until_, now), Duration(1));
  }
  const Duration left = left_until(terms_.hold_until, now);
  if (left >= terms_.lease) return terms_.lease;
  return std::min(terms_.lease, left + pace_->drift.allowance(terms_.lease));
}

void LeaseMachine::on_renewed(const Answer& answer, TimePoint now) {
  newest_success_ = std::max(newest_success_, answer.sent);
  if (!answer.late || !in_flight_) {  // else the one in flight decides what comes next
    in_flight_ = false;
    urgent_ = false;
    failures_ = 0;
    renew_from_ = later(newest_success_, terms_.lease / 3);
  }
  if (!valid(now)) return;
  const TimePoint sent = HOLDFAST_PLANTED(lease_from_answer) ? now : answer.sent;
  counted_until_ =
      std::max(counted_until_, pace_->drift.valid_until(sent, answer.asked, answer.given));
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
  urgent_ = true;
  renew_from_ = std::min(renew_from_, when);
}

}  // namespace holdfast::core
