// C0: a history that contradicts itself was recorded wrongly, and a judgement on it would mean
// nothing.
#include <algorithm>
#include <initializer_list>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

bool any_negative(std::initializer_list<Time> times) {
  return std::any_of(times.begin(), times.end(), [](Time time) { return time < 0; });
}

const char* fault_in(const Acquire& a) {
  if (any_negative({a.invoked, a.returned, a.wait_limit, a.lined_up, a.sent, a.store_granted,
                    a.valid_end, a.released}))
    return ": a time is negative";
  if (a.lease_ns < 0) return ": the lease is negative";
  if (a.returned < a.invoked) return ": returned before it was invoked";
  if ((a.outcome == Outcome::pending) != (a.returned == kNever))
    return ": is either pending or has returned";
  if (a.outcome != Outcome::granted) return nullptr;
  if (a.store_granted != kNever && a.store_granted > a.returned)
    return ": returned before the store granted it";
  if (a.released < a.returned) return ": released before it was returned";
  if (a.valid_end > a.released) return ": valid after its release";
  if (a.crashed && a.valid_end == kNever) return ": valid although the client crashed";
  return nullptr;
}

const char* fault_in(const Renewal& r) {
  if (any_negative({r.sent, r.answered})) return "a time is negative";
  if (r.sent == kNever || r.answered < r.sent) return "not sent, or answered before it was sent";
  if (r.outcome != Renewed::no_answer && r.answered == kNever) return "answered at no time";
  if (r.lease_ns <= 0) return "asks for no lease";
  return nullptr;
}

const char* fault_in(const Verification& v) {
  if (any_negative({v.invoked, v.returned})) return "a time is negative";
  if (v.returned < v.invoked) return "answered before it was asked";
  if (v.confirmed && v.returned == kNever) return "answered at no time";
  return nullptr;
}

const char* fault_in(const Terms& t) {
  if (any_negative({t.ended, t.last_fault, t.longest_lease, t.served_within, t.served_by, t.slack,
                    t.jitter}))
    return "a time is negative";
  if (t.drift_ppm < 0 || t.drift_ppm > 1'000'000) return "drift_ppm is not within 0 and 1000000";
  return nullptr;
}

// When the last claim that has an end came to it.
Time last_end(const History& history) {
  Time last = 0;
  for (const Acquire& a : history.acquires) {
    const Time end = a.outcome == Outcome::granted ? a.valid_end : a.returned;
    if (end != kNever) last = std::max(last, end);
  }
  return last;
}

// The store forgets a dead claim after its lease: what it shows earlier proves nothing.
bool seen_at_rest(const History& history) {
  const Time quiet_since = std::max(history.terms.last_fault, last_end(history));
  return history.terms.ended >= later(quiet_since, history.terms.longest_lease);
}

}  // namespace

void check_form(const History& history, Findings& found) {
  found.examined(Rule::form,
                 history.acquires.size() + history.renewals.size() + history.releases.size());
  if (const char* fault = fault_in(history.terms))
    found.violated(Rule::form, 0, 0, "terms: ", fault);
  else if (!history.leftovers.empty() && !seen_at_rest(history))
    found.violated(Rule::form, 0, 0, "leftovers were looked for at ", At{history.terms.ended},
                   ", before the rest");
  for (const Acquire& acquire : history.acquires) {
    if (const char* fault = fault_in(acquire)) found.violated(Rule::form, acquire, fault);
  }
  for (const Renewal& renewal : history.renewals) {
    if (const char* fault = fault_in(renewal))
      found.violated(Rule::form, renewal.client, 0, "client ", renewal.client, " renewal of lock ",
                     encode_name(renewal.name), " fence ", renewal.grant_fence, ": ", fault);
  }
  for (const Verification& each : history.verifications) {
    if (const char* fault = fault_in(each))
      found.violated(Rule::form, each.client, 0, "client ", each.client, " verification of lock ",
                     encode_name(each.name), " fence ", each.grant_fence, ": ", fault);
  }
  for (const ReleaseSent& release : history.releases) {
    if (release.sent < 0)
      found.violated(Rule::form, release.client, 0, "client ", release.client, " release of lock ",
                     encode_name(release.name), " fence ", release.grant_fence,
                     ": a time is negative");
  }
}

}  // namespace holdfast::check
