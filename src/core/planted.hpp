#pragma once

// Bugs on purpose. A check that never fails proves nothing, so the engine can be compiled a second
// time with these mistakes built in, one chosen at run time, and the simulation has to catch each.
// In the library HOLDFAST_PLANTED(...) is the constant `false` and leaves no trace.

#include <cstdint>
#include <string_view>

namespace holdfast::core {

#define HOLDFAST_BUGS(X)                                                                     \
  X(lease_from_answer, "the lease counts from the answer instead of from the sending")       \
  X(no_drift_allowance, "the lease is used to its very end")                                 \
  X(offer_from_wake, "an offer is taken from the wake itself, without the confirming renew") \
  X(offer_from_refusal, "an offer counts the full lease from the refused attempt")           \
  X(late_grant_kept, "a grant that arrives after its claim ended is not released")           \
  X(late_grant_released_early, "a late grant is released while its claim still lives")       \
  X(withdraw_once, "an unanswered withdraw is not repeated")                                 \
  X(renew_after_release, "the renewal of a released hold goes on")                           \
  X(no_second_try, "no second attempt after the watch was set")                              \
  X(handoff_same_fence, "a hand-off keeps its predecessor's fence")                          \
  X(handoff_past_spare, "hand-offs go on after the reserved fences are used up")             \
  X(handoff_restarts_lease, "a hand-off counts the lease anew without asking the store")     \
  X(exchange_keeps_old, "a hold that was exchanged for another stays valid")                 \
  X(downgrade_late, "a writer that steps down is one until it hears of it")                  \
  X(exchange_unsure_kept, "a hold that may have been exchanged is relied upon")              \
  X(lease_as_asked, "the lease counts as asked for, whatever the store gave")                \
  X(gone_ignored, "a hold that the store does not know is renewed on")                       \
  X(batch_one_answer, "the first answer of a batch of renewals stands for all of them")      \
  X(renew_too_often, "a hold is renewed twice in each period")                               \
  X(lost_kept, "a hold that was lost is not given back")                                     \
  X(release_once, "an unanswered release is not repeated")                                   \
  X(confirm_gone_taken, "an offer that is gone is taken all the same")                       \
  X(late_refusal_kept, "a late refusal of an ended claim leaves its place in line")          \
  X(give_up_forgets, "a claim that gives up does not wait for the answer under way")         \
  X(single_lines_up, "a single attempt takes a place in line")                               \
  X(fifo_in_room, "waiters in strict order share the claim of the local queue")              \
  X(permits_take_one, "a claim for several permits takes one")                               \
  X(close_forgets, "waiters of a closed client leave their claims behind")                   \
  X(no_rate_allowance, "clocks may start apart but are taken to run at the same rate")       \
  X(verify_by_clock, "a verification looks at the clock instead of asking the store")        \
  X(verify_by_old_answer, "a verification is answered by a question from before it")

enum class Bug : std::uint8_t {
  none,
#define X(name, text) name,
  HOLDFAST_BUGS(X)
#undef X
};

#ifdef HOLDFAST_PLANTED_BUGS
inline Bug planted_bug = Bug::none;  // set before the first engine is made
#define HOLDFAST_PLANTED(bug) (::holdfast::core::planted_bug == ::holdfast::core::Bug::bug)
#else
#define HOLDFAST_PLANTED(bug) false
#endif

}  // namespace holdfast::core
