#include "lease_server.hpp"

#include <algorithm>

#include "model_bugs.hpp"

namespace holdfast::sim {

using store::ClaimView;
using store::LockView;
using store::OwnerId;
using store::Told;

store::Capabilities LeaseServer::capabilities() const {
  return {.mutex_any = true,
          .mutex_fifo = true,
          .shared = true,
          .downgrade = true,
          .upgradeable = true,
          .permits = true,
          .hand_over = true};
}

std::unique_ptr<SimStore> LeaseServer::connect(const Link& link) {
  auto store = std::make_unique<LeaseStore>(link, *this);
  stores_.push_back(store.get());
  return store;
}

bool LeaseServer::is_known(const store::LockName& name, const OwnerId& owner,
                           Revoked revoked) const {
  const auto views = std::get<std::vector<LockView>>(table_.inspect(name.bytes(), now()));
  const auto known = [&](const ClaimView& claim) {
    return claim.owner == owner && (revoked == Revoked::counts || !claim.revoked);
  };
  return std::any_of(views.begin(), views.end(), [&](const LockView& lock) {
    return std::any_of(lock.line.begin(), lock.line.end(), known) ||
           std::any_of(lock.holds.begin(), lock.holds.end(), known);
  });
}

store::GrantReply LeaseServer::try_grant(const store::GrantRequest& request) {
  note_place(request, request.line_up && is_known(request.name, request.owner, Revoked::is_gone));
  std::vector<Told> told;
  if (HOLDFAST_MODEL_BUG(repeat_counts) && is_known(request.name, request.owner, Revoked::counts)) {
    ++repeats_[request.owner];
  }
  store::GrantReply reply = table_.try_grant(request, now(), told);
  unheard_[request.owner] = ++last_attempt_;
  if (const auto* granted = std::get_if<store::Granted>(&reply)) {
    note_grant(request.owner, granted->fence, granted->spare);
  }
  if (world().tracing()) {
    const auto* granted = std::get_if<store::Granted>(&reply);
    world().trace("store", "try_grant of " + number(request.owner) +
                               (granted ? ": granted, fence " + std::to_string(granted->fence)
                                        : std::string(": refused")));
  }
  deliver(told);
  return reply;
}

store::RenewReply LeaseServer::renew(const std::vector<store::Renewal>& renewals) {
  std::vector<store::RenewalReply> replies;
  for (const store::Renewal& each : renewals) {
    std::vector<Told> told;
    replies.push_back(table_.renew(each, now(), told));
    if (world().tracing()) {
      world().trace(
          "store",
          "renew of " + number(each.owner) + " fence " + std::to_string(each.fence) +
              (std::holds_alternative<store::Renewed>(replies.back()) ? ": renewed" : ": gone"));
    }
    deliver(told);
  }
  return replies;
}

store::ReleaseReply LeaseServer::release(const store::HoldKey& key) {
  if (HOLDFAST_MODEL_BUG(repeat_counts) && repeats_[key.owner] > 0) {
    --repeats_[key.owner];
    return store::Released{};
  }
  std::vector<Told> told;
  store::ReleaseReply reply = table_.release(key, now(), told);
  if (!is_known(key.name, key.owner, Revoked::counts)) unheard_.erase(key.owner);
  if (world().tracing()) {
    world().trace("store",
                  "release of " + number(key.owner) + " fence " + std::to_string(key.fence) +
                      (std::holds_alternative<store::Released>(reply) ? ": released" : ": gone"));
  }
  deliver(told);
  return reply;
}

store::WithdrawReply LeaseServer::withdraw(const store::ClaimKey& key) {
  std::vector<Told> told;
  store::WithdrawReply reply = table_.withdraw(key, now(), told);
  unheard_.erase(key.owner);
  world().trace("store", "withdraw of " + number(key.owner));
  deliver(told);
  return reply;
}

bool LeaseServer::revoke_one(SeededRandom& random) {
  const auto views = std::get<std::vector<LockView>>(table_.inspect("*", now()));
  std::vector<const LockView*> held;
  for (const LockView& view : views) {
    if (!view.holds.empty()) held.push_back(&view);
  }
  if (held.empty()) return false;
  const LockView& chosen = *held[random.below(held.size())];
  store::ForceRequest request;
  request.name = chosen.name;
  request.fence = chosen.holds.front().fence;
  std::vector<Told> told;
  table_.force_release(request, now(), told);
  world().trace("store", "revoked fence " + std::to_string(request.fence));
  deliver(told);
  return true;
}

// Everything but the time, which its fences come from: in nanoseconds it is ahead of any counter.
void LeaseServer::forget_everything() {
  const auto time = static_cast<std::uint64_t>(now().time_since_epoch().count());
  table_ = store::LockTable(HOLDFAST_MODEL_BUG(fences_restart) ? 0 : time);
  unheard_.clear();
  subscribers_.clear();
  world().trace("store", "has forgotten everything");
  for (LeaseStore* each : stores_) each->server_restarted();
}

void LeaseServer::deliver(const std::vector<Told>& told) {
  for (const Told& each : told) {
    if (each.wake.offer) {
      note_grant(each.who, each.wake.offer->fence, each.wake.offer->spare);
      if (world().tracing()) {
        world().trace("store", "offers fence " + std::to_string(each.wake.offer->fence) + " to " +
                                   number(each.who));
      }
    }
    const auto found = subscribers_.find(each.who);
    if (found != subscribers_.end()) found->second.store->wake(found->second.watch, each.wake);
  }
}

void LeaseServer::subscribe(const OwnerId& owner, SimStore* store, std::uint64_t watch) {
  subscribers_[owner] = {store, watch};
}

std::vector<check::Leftover> LeaseServer::leftovers() const {
  std::vector<check::Leftover> left;
  const auto views = std::get<std::vector<LockView>>(table_.inspect("*", now()));
  const auto add = [&](const LockView& lock, const ClaimView& claim, bool in_line) {
    left.push_back({.name = lock.name.bytes(),
                    .client = static_cast<std::uint32_t>(claim.owner.client.low),
                    .owner = claim.owner.claim,
                    .in_line = in_line,
                    .holds = !in_line});
  };
  for (const LockView& lock : views) {
    for (const ClaimView& claim : lock.holds) add(lock, claim, false);
    for (const ClaimView& claim : lock.line) add(lock, claim, true);
  }
  return left;
}

void LeaseServer::heard_of(const OwnerId& owner, std::uint64_t attempt) {
  const auto found = unheard_.find(owner);
  if (found != unheard_.end() && found->second == attempt) unheard_.erase(found);
}

std::vector<check::Leftover> LeaseServer::ghosts_of(std::uint32_t client) const {
  std::vector<check::Leftover> ghosts = leftovers();
  std::erase_if(ghosts, [&](const check::Leftover& each) {
    if (each.client != client) return true;
    return std::any_of(unheard_.begin(), unheard_.end(), [&](const auto& entry) {
      return entry.first.client.low == client && entry.first.claim == each.owner;
    });
  });
  return ghosts;
}

// ---- a client's view ----

void LeaseStore::execute(const Question& question, const store::GrantRequest& request,
                         Done<store::GrantReply> done) {
  store::GrantReply reply = server_.try_grant(request);
  attempts_.try_emplace(question.id,
                        server_.last_attempt());  // what is done twice is answered once
  done(std::move(reply));
}

void LeaseStore::execute(const Question&, const std::vector<store::Renewal>& renewals,
                         Done<store::RenewReply> done) {
  done(server_.renew(renewals));
}

void LeaseStore::execute(const Question&, const store::HoldKey& key,
                         Done<store::ReleaseReply> done) {
  done(server_.release(key));
}

void LeaseStore::execute(const Question&, const store::ClaimKey& key,
                         Done<store::WithdrawReply> done) {
  done(server_.withdraw(key));
}

void LeaseStore::arrived(const Question& question, const OwnerId& owner, store::GrantReply&) {
  server_.heard_of(owner, attempts_[question.id]);
}

// A client that comes back to such a store watches again, and then looks.
void LeaseStore::server_restarted() {
  reset();
  const Time back = world().now() + plan().longest_delay;
  for (const auto& [id, watched] : watches()) {
    world().at(node(), back, [this, watch = id] {
      const auto found = watches().find(watch);
      if (found == watches().end()) return;
      subscribe(watch, found->second.key);
      wake(watch, {});
    });
  }
}

void LeaseStore::subscribe(std::uint64_t watch, const store::ClaimKey& key) {
  server_.subscribe(key.owner, this, watch);
}

void LeaseStore::unsubscribe(const OwnerId& owner) { server_.unsubscribe(owner); }

}  // namespace holdfast::sim
