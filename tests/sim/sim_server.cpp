#include <algorithm>

#include "sim_store.hpp"

namespace holdfast::sim {

using store::ClaimView;
using store::LockView;
using store::OwnerId;
using store::Told;

namespace {

std::string number(const OwnerId& owner) {
  return std::to_string(owner.client.low) + ":" + std::to_string(owner.claim);
}

}  // namespace

// Before the question is answered: does a claim that stood in line still stand there, or hold?
void SimServer::note_place(const store::GrantRequest& request) {
  if (!request.line_up) return;
  const bool first = lined_up_.insert(request.owner).second;
  if (!first && !is_known(request.name, request.owner)) lost_place_.insert(request.owner);
}

// In line, or holding what was not revoked.
bool SimServer::is_known(const store::LockName& name, const OwnerId& owner) const {
  const auto views = std::get<std::vector<LockView>>(table_.inspect(name.bytes(), now()));
  const auto known = [&](const ClaimView& claim) { return claim.owner == owner && !claim.revoked; };
  return std::any_of(views.begin(), views.end(), [&](const LockView& lock) {
    return std::any_of(lock.line.begin(), lock.line.end(), known) ||
           std::any_of(lock.holds.begin(), lock.holds.end(), known);
  });
}

void SimServer::note_grant(const OwnerId& owner, std::uint64_t fence, std::uint64_t spare) {
  const auto client = static_cast<std::uint32_t>(owner.client.low);
  grants_.try_emplace(fence, Grant{client, owner.claim, spare, world_.now()});
}

store::GrantReply SimServer::try_grant(const store::GrantRequest& request) {
  note_place(request);
  std::vector<Told> told;
  store::GrantReply reply = table_.try_grant(request, now(), told);
  unheard_[request.owner] = ++last_attempt_;
  if (const auto* granted = std::get_if<store::Granted>(&reply)) {
    note_grant(request.owner, granted->fence, granted->spare);
  }
  if (world_.tracing()) {
    const auto* granted = std::get_if<store::Granted>(&reply);
    world_.trace("store", "try_grant of " + number(request.owner) +
                              (granted ? ": granted, fence " + std::to_string(granted->fence)
                                       : std::string(": refused")));
  }
  deliver(told);
  return reply;
}

store::RenewReply SimServer::renew(const std::vector<store::Renewal>& renewals) {
  std::vector<store::RenewalReply> replies;
  for (const store::Renewal& each : renewals) {
    std::vector<Told> told;
    replies.push_back(table_.renew(each, now(), told));
    if (world_.tracing()) {
      world_.trace(
          "store",
          "renew of " + number(each.owner) + " fence " + std::to_string(each.fence) +
              (std::holds_alternative<store::Renewed>(replies.back()) ? ": renewed" : ": gone"));
    }
    deliver(told);
  }
  return replies;
}

store::ReleaseReply SimServer::release(const store::HoldKey& key) {
  std::vector<Told> told;
  store::ReleaseReply reply = table_.release(key, now(), told);
  if (!is_known(key.name, key.owner)) unheard_.erase(key.owner);
  if (world_.tracing()) {
    world_.trace("store",
                 "release of " + number(key.owner) + " fence " + std::to_string(key.fence) +
                     (std::holds_alternative<store::Released>(reply) ? ": released" : ": gone"));
  }
  deliver(told);
  return reply;
}

store::WithdrawReply SimServer::withdraw(const store::ClaimKey& key) {
  std::vector<Told> told;
  store::WithdrawReply reply = table_.withdraw(key, now(), told);
  unheard_.erase(key.owner);
  world_.trace("store", "withdraw of " + number(key.owner));
  deliver(told);
  return reply;
}

bool SimServer::revoke_one(SeededRandom& random) {
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
  world_.trace("store", "revoked fence " + std::to_string(request.fence));
  deliver(told);
  return true;
}

void SimServer::deliver(const std::vector<Told>& told) {
  for (const Told& each : told) {
    if (each.wake.offer) {
      note_grant(each.who, each.wake.offer->fence, each.wake.offer->spare);
      if (world_.tracing()) {
        world_.trace("store", "offers fence " + std::to_string(each.wake.offer->fence) + " to " +
                                  number(each.who));
      }
    }
    const auto found = subscribers_.find(each.who);
    if (found != subscribers_.end()) found->second.store->wake(found->second.watch, each.wake);
  }
}

void SimServer::subscribe(const OwnerId& owner, SimStore* store, std::uint64_t watch) {
  subscribers_[owner] = {store, watch};
}

void SimServer::unsubscribe(const OwnerId& owner) { subscribers_.erase(owner); }

std::vector<check::Leftover> SimServer::leftovers() const {
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

void SimServer::heard_of(const OwnerId& owner, std::uint64_t attempt) {
  const auto found = unheard_.find(owner);
  if (found != unheard_.end() && found->second == attempt) unheard_.erase(found);
}

std::vector<check::Leftover> SimServer::ghosts_of(std::uint32_t client) const {
  std::vector<check::Leftover> ghosts = leftovers();
  std::erase_if(ghosts, [&](const check::Leftover& each) {
    if (each.client != client) return true;
    return std::any_of(unheard_.begin(), unheard_.end(), [&](const auto& entry) {
      return entry.first.client.low == client && entry.first.claim == each.owner;
    });
  });
  return ghosts;
}

}  // namespace holdfast::sim
