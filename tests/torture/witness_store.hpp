// Stands between a client and its store and writes down what passes: what the store granted, when it was
// asked, who lined up, what was renewed and released. Only so can the rules of fences, of the line and of
// renewals be examined from outside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "checker/history.hpp"
#include "holdfast/store/store.hpp"
#include "support/forwarding_store.hpp"
#include "torture/log.hpp"

namespace holdfast::torture {

// What was seen of one client's claims.
//
// Threads      From any thread.
class Sightings {
 public:
  Sightings(Log& log, std::uint32_t client, Duration answer_within)
      : log_(log), client_(client), answer_within_(answer_within) {}

  // Fills in what only the store's side knows of a granted acquire: the grant it stems from, and the
  // line it stood in. `owner` and `fence` must be there.
  void fill_in(check::Acquire&) const;

  // ---- for the store ----

  // When the engine sent a question, by its deadline: exact, also if this process was stopped between
  // the decision to ask and this place.
  check::Time sent_at(TimePoint deadline, Duration within) const;
  Duration answer_within() const { return answer_within_; }
  Duration renewal_within(std::span<const store::Renewal>) const;

  void refused(const store::GrantRequest&, check::Time sent, const store::Refused&);
  void granted(const store::GrantRequest&, check::Time sent, const store::Granted&);
  void offered(std::uint64_t claim, const store::Wake::Offer&);
  bool confirms(const store::Renewal&) const;  // an offer, rather than renews a hold
  void confirmed(const store::Renewal&, check::Time sent, Duration lease);
  void renewed(const check::Renewal&);
  void releasing(const store::HoldKey&, check::Time sent);

  std::uint32_t client() const { return client_; }

 private:
  struct Grant {
    std::uint64_t spare = 0;
    check::Time sent = check::kNever;
    std::int64_t lease_ns = 0;  // the first
    Duration given{};           // the latest
    bool held = false;          // else an offer that is not confirmed
  };
  struct Claim {
    check::Time lined_up = check::kNever;
    check::Time sure_until = check::kNever;  // of its place, unless it is heard of
    std::uint32_t ahead = 0;
    bool lost_place = false;
    std::map<std::uint64_t, Grant> grants;  // by fence
  };

  void look_at_place(Claim&) const;

  Log& log_;
  const std::uint32_t client_;
  const Duration answer_within_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Claim> claims_;
};

class WitnessStore final : public test::ForwardingStore {
 public:
  WitnessStore(std::unique_ptr<store::Store> inner, std::shared_ptr<Sightings> seen)
      : ForwardingStore(std::move(inner)), seen_(std::move(seen)) {}

  void try_grant(const store::GrantRequest&, store::Call<store::GrantReply>) override;
  void renew(std::span<const store::Renewal>, store::Call<store::RenewReply>) override;
  void release(const store::HoldKey&, store::Call<store::ReleaseReply>) override;
  store::WatchPtr watch(const store::ClaimKey&, store::WakeFn) override;

 private:
  // Shared with answers, which may outlive the store.
  std::shared_ptr<Sightings> seen_;
};

}  // namespace holdfast::torture
