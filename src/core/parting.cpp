#include "core/parting.hpp"

#include <algorithm>

#include "core/planted.hpp"

namespace holdfast::core {

Parting::Parting(const Pace& pace, store::Random& random, Verb verb, store::HoldKey key,
                 Duration lease, OpId op, TimePoint now)
    : pace_(&pace),
      random_(&random),
      verb_(verb),
      key_(std::move(key)),
      lease_(lease),
      op_(op),
      repeat_until_(later(now, lease)),
      tell_by_(op == kNobody ? kNever : later(later(now, pace.answer_within), pace.answer_within)) {
}

PartingStep Parting::start(TimePoint now) {
  sent_ = now;
  deadline_ = later(now, pace_->answer_within);
  rest_until_ = kNever;
  PartingStep step;
  step.send = true;
  return step;
}

PartingStep Parting::on_answer(bool was_there, TimePoint) {
  PartingStep step;
  step.ended = true;
  was_gone_ |= !was_there && unanswered_ == 0;
  if (!was_gone_) {
    step.done_well = true;
  } else {
    step.failed = Errc::lost;
  }
  return step;
}

PartingStep Parting::on_no_answer(TimePoint now) {
  if (deadline_ == kNever) return {};  // its deadline had passed: known
  deadline_ = kNever;
  if (sent_ >= repeat_until_ || HOLDFAST_PLANTED(release_once)) {
    PartingStep step;
    step.ended = true;
    step.failed = Errc::unknown;
    return step;
  }
  rest_until_ = later(now, backoff(unanswered_++, *random_));
  return {};
}

PartingStep Parting::on_timer(TimePoint now) {
  PartingStep step;
  if (now >= deadline_) {
    step = on_no_answer(now);
  } else if (now >= rest_until_) {
    step = start(now);
  }
  if (now >= tell_by_) {
    tell_by_ = kNever;
    if (!step.ended) step.failed = Errc::unknown;
  }
  return step;
}

void Parting::try_again(TimePoint when) noexcept {
  deadline_ = kNever;
  rest_until_ = when;
  ++unanswered_;
}

TimePoint Parting::timer() const { return std::min({deadline_, rest_until_, tell_by_}); }

}  // namespace holdfast::core
