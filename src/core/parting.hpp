#pragma once

#include <algorithm>

#include "core/ids.hpp"
#include "core/pace.hpp"
#include "holdfast/store/call.hpp"
#include "holdfast/store/random.hpp"
#include "holdfast/store/replies.hpp"

namespace holdfast::core {

// What to do next about something we are leaving.
struct PartingStep {
  bool send = false;
  std::optional<Errc> failed;  // the caller can be told this
  bool done_well = false;      // the caller can be told: released
  bool ended = false;
};

// Gives one thing back to the store: a hold that was released or lost, or what a late answer shows
// to have been left behind. Asks until it is answered, or until the lease would have ended anyway; once
// more after that, since a renewal that was long on its way may have begun the lease anew.
//
//   event       first attempt          after an unanswered attempt
//   released    done                   done
//   gone        it was lost            done: the unanswered attempt did it
//   no answer   again, after a pause   again, until one that left after the lease's end
class Parting {
 public:
  enum class Verb { release, withdraw };

  Parting(const Pace& pace, store::Random& random, Verb verb, store::HoldKey key, Duration lease,
          OpId op, TimePoint now);

  PartingStep start(TimePoint now);
  // The store was seen to keep it from now on for another lease.
  void repeat_for(Duration lease, TimePoint now) {
    repeat_until_ = std::max(repeat_until_, later(now, lease));
  }
  PartingStep on_answer(bool was_there, TimePoint now);
  PartingStep on_no_answer(TimePoint now);
  PartingStep on_timer(TimePoint now);
  // There was no memory for what the last step led to: once more at this time.
  void try_again(TimePoint when) noexcept;
  TimePoint timer() const;
  TimePoint deadline() const { return deadline_; }

  Verb verb() const { return verb_; }
  const store::HoldKey& key() const { return key_; }
  Duration lease() const { return lease_; }
  OpId op() const { return op_; }
  void forget_op() { op_ = kNobody; }

  store::CallId call = 0;  // the question in flight; the engine's
  bool stray = false;      // the store may have more of this claim than the hold; the engine's
  bool in_step = false;    // what the last step led to is not done yet; the engine's

 private:
  const Pace* pace_;
  store::Random* random_;
  Verb verb_;
  store::HoldKey key_;
  Duration lease_;
  OpId op_;
  TimePoint repeat_until_;
  TimePoint tell_by_;
  TimePoint sent_{};  // the last attempt
  TimePoint deadline_ = kNever;
  TimePoint rest_until_ = kNever;
  std::uint32_t unanswered_ = 0;
  bool was_gone_ = false;  // before any attempt of ours could have done it
};

}  // namespace holdfast::core
