#pragma once

#include <optional>
#include <vector>

#include "core/pace.hpp"
#include "holdfast/error.hpp"
#include "holdfast/store/random.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/store/requests.hpp"

namespace holdfast::core {

// What a store gave, and when the question left that it answered.
struct GrantInHand {
  std::uint64_t fence = 0;
  std::uint64_t spare = 0;
  Duration lease{};
  TimePoint sent{};
  std::vector<std::uint32_t> slots{};
};

// What to do next. At most one verb, so that a claim never has two questions open.
struct ClaimStep {
  enum class Verb { none, ask, confirm, withdraw };
  Verb verb = Verb::none;
  bool watch = false;                  // subscribe first
  std::optional<GrantInHand> granted;  // the claim became a hold; the machine is done
  std::optional<Errc> tell;            // the waiter can be told this now
  bool ended = false;                  // nothing is left to do; the machine is done
};

// One request for a lock, from the first question to the grant or to its last trace in the store.
//
//   state \ event   granted   refused            no answer        wake             give up
//   asking          done      watch and ask,     rest             keep it          wait for the answer
//                             then sleep
//   resting         –         –                  –                ask / confirm    withdraw
//   sleeping        –         –                  –                ask / confirm    withdraw
//   confirming      done      ask (offer gone)   ask              keep it          wait for the answer
//   withdrawing     –         –                  rest, again      dropped          –
//
// A claim that gave up is delivered all the same if the answer under way is a grant. Once a withdraw
// has left, it cannot be: wakes and grants are dropped, and the withdraw is repeated until it is
// answered or a whole lease has gone by. The waiter is told at the latest one answer_within after
// giving up; unanswered, it is told Errc::unknown.
class ClaimMachine {
 public:
  struct Terms {
    Duration lease{};
    bool line_up = true;  // false: one attempt (repeated once if unanswered), no place in line
  };

  ClaimMachine(const Pace& pace, store::Random& random, Terms terms)
      : pace_(&pace), random_(&random), terms_(terms) {}

  ClaimStep start(TimePoint now);
  ClaimStep on_grant_reply(const store::GrantReply&, TimePoint now);
  ClaimStep on_confirm_reply(const store::RenewalReply&, TimePoint now);
  ClaimStep on_withdraw_reply(const store::WithdrawReply&, TimePoint now);
  ClaimStep on_wake(const store::Wake&, TimePoint now);
  ClaimStep on_timer(TimePoint now);
  ClaimStep give_up(Errc why, TimePoint now);

  // There was no memory for what the last step led to: as if its question had not been answered, and at
  // this time once more. `told`: the waiter was.
  void try_again(bool told, TimePoint when) noexcept;

  // An earlier question of this claim, given up on, was answered after all and may have left
  // something in the store.
  void on_late_answer(TimePoint now);

  TimePoint timer() const;
  TimePoint verb_deadline() const { return deadline_; }
  bool lines_up() const { return terms_.line_up; }
  bool gave_up() const { return gave_up_.has_value(); }
  const store::Wake::Offer& offer() const { return offer_; }
  const std::optional<store::Refused>& last_refusal() const { return last_refusal_; }
  const store::NoAnswer& last_silence() const { return last_silence_; }
  // Nothing was heard that could be called a no, neither ever nor for a while.
  bool silent(TimePoint now) const {
    return unanswered_ > 0 && (!last_refusal_ || now - silent_since_ >= pace_->answer_within);
  }
  // A question of this claim was not answered in time: the store may have done it, or may do so yet.
  bool uncertain() const { return uncertain_; }
  // The store's newest word was a refusal.
  bool knows_busy() const { return last_refusal_ && unanswered_ == 0; }

 private:
  enum class State { asking, resting, sleeping, confirming, withdrawing, withdraw_resting, done };

  bool withdrawing() const {
    return state_ == State::withdrawing || state_ == State::withdraw_resting;
  }
  ClaimStep ask(TimePoint now);
  ClaimStep confirm(TimePoint now);
  ClaimStep withdraw(TimePoint now);
  ClaimStep granted(GrantInHand, TimePoint now);
  ClaimStep refused(const store::Refused&, TimePoint now);
  ClaimStep no_answer(const store::NoAnswer&, TimePoint now);
  ClaimStep act_on(const store::Wake&, TimePoint now);
  void keep(const store::Wake&);
  ClaimStep sleep(const store::Refused&, TimePoint now);
  ClaimStep end(Errc why);
  ClaimStep send(State, ClaimStep::Verb, TimePoint now);

  const Pace* pace_;
  store::Random* random_;
  Terms terms_;
  State state_ = State::asking;
  TimePoint sent_{};             // when the verb in flight left
  TimePoint deadline_ = kNever;  // when it is given up
  TimePoint look_at_ = kNever;   // resting or sleeping: when to go on
  TimePoint started_{};
  TimePoint last_asked_{};
  TimePoint last_executed_{};  // as far as we know: when a late answer came
  bool watched_ = false;
  bool left_more_ = false;
  bool maybe_known_ = false;  // the store may know this claim
  bool uncertain_ = false;
  std::uint32_t unanswered_ = 0;  // questions in a row
  TimePoint silent_since_ = kNever;
  std::optional<store::Wake> kept_wake_{};
  store::Wake::Offer offer_{};
  std::uint64_t lapsed_offer_ = 0;  // its fence; a wake that comes twice must not try it again
  std::optional<Errc> gave_up_{};
  bool told_ = false;
  TimePoint tell_by_ = kNever;
  std::optional<store::Refused> last_refusal_{};
  store::NoAnswer last_silence_{};
};

}  // namespace holdfast::core
