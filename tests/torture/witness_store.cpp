#include "torture/witness_store.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/pace.hpp"
#include "support/relay.hpp"

namespace holdfast::torture {

using namespace store;
using check::Time;
using test::relay;

namespace {

// An answer this close to its deadline may count for the engine or not.
constexpr Time kTooClose = 10'000'000;

check::Renewal record_of(const Renewal& asked, std::uint32_t client, Time sent, bool confirming) {
  return {.client = client,
          .owner = asked.owner.claim,
          .name = asked.name.bytes(),
          .grant_fence = asked.fence,
          .sent = sent,
          .lease_ns = asked.lease.count(),
          .confirming = confirming};
}

template <class Answer>
const Answer* answer_in(const RenewReply& reply, std::size_t which) {
  const auto* answers = std::get_if<std::vector<RenewalReply>>(&reply);
  return answers == nullptr ? nullptr : std::get_if<Answer>(&answers->at(which));
}

// What the engine can have made of it.
void note_answer(check::Renewal& record, const RenewReply& reply, std::size_t which,
                 Time deadline) {
  const Time now = boot_now();
  if (now > deadline - kTooClose) return;
  if (const auto* renewed = answer_in<Renewed>(reply, which)) {
    record.outcome = check::Renewed::renewed;
    record.lease_ns = std::min<std::int64_t>(record.lease_ns, renewed->lease.count());
  } else if (answer_in<Gone>(reply, which) != nullptr) {
    record.outcome = check::Renewed::gone;
  } else {
    return;
  }
  record.answered = std::max(now, record.sent);
}

}  // namespace

// ---- sightings ----

void Sightings::fill_in(check::Acquire& acquire) const {
  const std::lock_guard lock(mutex_);
  acquire.grant_fence = acquire.fence;
  const auto found = claims_.find(acquire.owner);
  if (found == claims_.end()) return;
  const Claim& claim = found->second;
  auto grant = claim.grants.upper_bound(acquire.fence);
  if (grant == claim.grants.begin()) return;
  --grant;
  acquire.grant_fence = grant->first;
  acquire.spare = grant->second.spare;
  if (acquire.fence != acquire.grant_fence) return;
  acquire.sent = grant->second.sent;
  acquire.lease_ns = grant->second.lease_ns;
  acquire.lined_up = claim.lined_up;
  acquire.lost_place = claim.lost_place;
}

Time Sightings::sent_at(TimePoint deadline, Duration within) const {
  const Time now = boot_now();
  return deadline == holdfast::kNever
             ? now
             : std::min(now, (deadline - within).time_since_epoch().count());
}

// Of a batch, the shortest decides. It is the lease that was given last, which may be more than what is asked
// for now: the last renewal before max_hold wants only what is left.
Duration Sightings::renewal_within(std::span<const Renewal> renewals) const {
  const core::Pace pace{.answer_within = answer_within_};
  const std::lock_guard lock(mutex_);
  Duration within = answer_within_;
  for (const Renewal& each : renewals) {
    const auto claim = claims_.find(each.owner.claim);
    const bool known = claim != claims_.end() && claim->second.grants.contains(each.fence);
    within = std::min(within, pace.renewal_within(known ? claim->second.grants.at(each.fence).given
                                                        : each.lease));
  }
  return within;
}

// Whoever was silent for longer than an offer lasts may have had one and not heard of it, and was put at the
// end of the line.
void Sightings::look_at_place(Claim& claim) const {
  if (claim.lined_up != check::kNever && boot_now() > claim.sure_until) claim.lost_place = true;
}

void Sightings::refused(const GrantRequest& request, Time sent, const Refused& refused) {
  if (!request.line_up) return;
  const std::lock_guard lock(mutex_);
  Claim& claim = claims_[request.owner.claim];
  look_at_place(claim);
  const bool first = claim.lined_up == check::kNever;
  if (first) claim.lined_up = boot_now();
  // It had an offer, and is in line again; or others are before it now.
  if (!claim.grants.empty() || (!first && refused.ahead > claim.ahead)) claim.lost_place = true;
  claim.ahead = refused.ahead;
  claim.sure_until = sent + request.confirm_within.count();
}

void Sightings::granted(const GrantRequest& request, Time sent, const Granted& granted) {
  const std::lock_guard lock(mutex_);
  Claim& claim = claims_[request.owner.claim];
  look_at_place(claim);
  const Duration lease = std::min(request.lease, granted.lease);
  claim.grants[granted.fence] = {.spare = granted.spare,
                                 .sent = sent,
                                 .lease_ns = lease.count(),
                                 .given = lease,
                                 .held = true};
}

void Sightings::offered(std::uint64_t no, const Wake::Offer& offer) {
  const std::lock_guard lock(mutex_);
  Claim& claim = claims_[no];
  look_at_place(claim);
  claim.grants.try_emplace(offer.fence, Grant{.spare = offer.spare});
}

bool Sightings::confirms(const Renewal& asked) const {
  const std::lock_guard lock(mutex_);
  const auto claim = claims_.find(asked.owner.claim);
  if (claim == claims_.end()) return true;
  const auto grant = claim->second.grants.find(asked.fence);
  return grant == claim->second.grants.end() || !grant->second.held;
}

void Sightings::confirmed(const Renewal& asked, Time sent, Duration lease) {
  const std::lock_guard lock(mutex_);
  Grant& grant = claims_[asked.owner.claim].grants[asked.fence];
  grant.sent = sent;
  grant.given = std::min(asked.lease, lease);
  grant.lease_ns = grant.given.count();
  grant.held = true;
}

void Sightings::renewed(const check::Renewal& record) {
  log_.add(record);
  const std::lock_guard lock(mutex_);
  Claim& claim = claims_[record.owner];
  if (record.outcome == check::Renewed::renewed) {
    claim.grants[record.grant_fence].given = Duration(record.lease_ns);
  }
  if (record.confirming && record.outcome == check::Renewed::gone) claim.lost_place = true;
}

void Sightings::releasing(const HoldKey& key, Time sent) {
  log_.add(check::ReleaseSent{.client = client_,
                              .owner = key.owner.claim,
                              .name = key.name.bytes(),
                              .grant_fence = key.fence,
                              .sent = sent});
}

// ---- the store ----

void WitnessStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  const Time sent = seen_->sent_at(call.deadline(), seen_->answer_within());
  const TimePoint deadline = call.deadline();
  const bool may_block = call.may_block();
  inner().try_grant(
      request, relay<GrantReply>(
                   deadline,
                   [seen = seen_, request, sent, to = std::move(call)](GrantReply reply) mutable {
                     if (const auto* granted = std::get_if<Granted>(&reply)) {
                       seen->granted(request, sent, *granted);
                     } else if (const auto* refused = std::get_if<Refused>(&reply)) {
                       seen->refused(request, sent, *refused);
                     }
                     to.answer(std::move(reply));
                   },
                   may_block));
}

void WitnessStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  const TimePoint deadline = call.deadline();
  const bool may_block = call.may_block();
  const bool confirming = renewals.size() == 1 && seen_->confirms(renewals.front());
  const Time sent = seen_->sent_at(
      deadline, confirming ? seen_->answer_within() : seen_->renewal_within(renewals));
  auto take = [seen = seen_, batch = std::vector(renewals.begin(), renewals.end()), confirming,
               sent, deadline, to = std::move(call)](RenewReply reply) mutable {
    if (confirming) {
      const auto* given = answer_in<Renewed>(reply, 0);
      if (given != nullptr) seen->confirmed(batch.front(), sent, given->lease);
    }
    // Written down once the engine has heard of it: if this process is stopped in between, the engine
    // may notice the deadline first.
    to.answer(reply);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      check::Renewal record = record_of(batch[i], seen->client(), sent, confirming);
      note_answer(record, reply, i, deadline.time_since_epoch().count());
      seen->renewed(record);
    }
  };
  inner().renew(renewals, relay<RenewReply>(deadline, std::move(take), may_block));
}

void WitnessStore::release(const HoldKey& key, Call<ReleaseReply> call) {
  seen_->releasing(key, seen_->sent_at(call.deadline(), seen_->answer_within()));
  inner().release(key, std::move(call));
}

WatchPtr WitnessStore::watch(const ClaimKey& key, WakeFn wake) {
  return inner().watch(
      key, [seen = seen_, claim = key.owner.claim, wake = std::move(wake)](const Wake& told) {
        if (told.offer) seen->offered(claim, *told.offer);
        wake(told);
      });
}

}  // namespace holdfast::torture
