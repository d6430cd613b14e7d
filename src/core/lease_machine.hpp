#pragma once

#include <cstdint>

#include "core/claim_machine.hpp"
#include "core/pace.hpp"

namespace holdfast::core {

// Why a hold ended before its holder released it.
enum class LostWhy : std::uint8_t {
  expired,   // its lease ran out by our own clock: no renewal was answered in time
  gone,      // the store says that it is not ours any more
  forced,    // an operator revoked it
  max_hold,  // AcquireOptions::max_hold
};

// Keeps one grant alive: renews at a third of its lease and knows, by our own clock alone, until
// when it may be relied upon. One that is not to be renewed ends with its lease; if the store gave only a part
// of that, as one with sessions does, the rest of it is fetched in the same way.
//
//   event               valid                                 past its deadline
//   timer               renew if due                          lost
//   renewed             deadline = that renewal's sending +    nothing: it is too late
//                       lease − allowance
//   gone                lost                                  lost
//   no answer           renew again, soon                     lost
class LeaseMachine {
 public:
  struct Terms {
    Duration lease{};
    bool renew = true;
    TimePoint hold_until = kNever;  // max_hold
  };

  LeaseMachine(const Pace& pace, store::Random& random, Terms terms, const GrantInHand& grant);

  TimePoint valid_until() const { return std::min(counted_until_, end()); }
  bool valid(TimePoint now) const { return now < valid_until(); }
  LostWhy why_lost(TimePoint now) const;

  // When a renewal may be sent, and when it has to be at the latest: between the two it waits for
  // company, so that many leases share one message.
  TimePoint renew_from() const;
  TimePoint renew_by() const;

  // A renewal leaves. Returns the lease to ask for: less than usual if max_hold ends before that.
  Duration start_renewal(TimePoint now);
  TimePoint renewal_deadline() const { return in_flight_ ? answer_by_ : kNever; }

  // Its answer: `sent` and `asked` are those of the renewal that it answers. A late one, to a renewal
  // that was given up, still lengthens the lease.
  struct Answer {
    TimePoint sent{};
    Duration asked{};
    Duration given{};
    bool late = false;
  };
  void on_renewed(const Answer&, TimePoint now);
  void on_no_answer(TimePoint now);

  // Asks the store again soon, whatever the period says; after the answer to a renewal in flight.
  void verify_at(TimePoint when);

  // The store was asked to keep it for less than a lease. It may see that question after later ones,
  // so nobody else may go on with this lease.
  bool shortened() const { return shortened_; }

  // A holder takes over what is left, for no longer than this.
  void limit(TimePoint hold_until) { terms_.hold_until = hold_until; }

  Duration lease() const { return terms_.lease; }
  Duration given() const { return given_; }  // by the store, which may be less

 private:
  // Beyond this nothing lengthens it.
  TimePoint end() const { return std::min(lease_ends_, terms_.hold_until); }
  Duration lease_to_ask(TimePoint now) const;

  const Pace* pace_;
  store::Random* random_;
  Terms terms_;
  TimePoint lease_ends_ = kNever;  // if it is not to be renewed
  TimePoint counted_until_{};
  TimePoint ceiling_ = kNever;  // what the newest renewal leaves of it, if the store sees it last
  Duration given_{};            // the lease that the store really gives
  bool shortened_ = false;
  TimePoint newest_success_{};  // when the latest renewal left that was answered well
  TimePoint renew_from_ = kNever;
  bool in_flight_ = false;
  bool urgent_ = false;  // a retry or a verification: does not wait for company
  bool again_ = false;   // verify once the renewal in flight is answered
  TimePoint answer_by_ = kNever;
  std::uint32_t failures_ = 0;
};

}  // namespace holdfast::core
