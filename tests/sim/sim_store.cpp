#include "sim_store.hpp"

#include <algorithm>

namespace holdfast::sim {

using store::Call;
using store::NoAnswer;

// Ends its subscription when the client drops it.
struct SimStore::WatchHandle final : store::Watch {
  WatchHandle(SimStore* store, std::uint64_t id, store::OwnerId owner)
      : store_(store), id_(id), owner_(owner) {}
  WatchHandle(const WatchHandle&) = delete;
  WatchHandle& operator=(const WatchHandle&) = delete;
  ~WatchHandle() override {
    store_->watches_.erase(id_);
    store_->server_.unsubscribe(owner_);
  }

 private:
  SimStore* store_;
  std::uint64_t id_;
  store::OwnerId owner_;
};

SimStore::SimStore(World& world, Node& node, SimServer& server, const Plan& plan,
                   SeededRandom& random, FaultCounts& counts, check::History& history)
    : world_(world),
      node_(node),
      server_(server),
      plan_(plan),
      random_(random),
      counts_(counts),
      history_(history) {}

store::Capabilities SimStore::capabilities() const {
  return {.mutex_any = true,
          .mutex_fifo = true,
          .shared = true,
          .downgrade = true,
          .upgradeable = true,
          .permits = true,
          .hand_over = true};
}

bool SimStore::strikes(Fault fault) {
  if (!faulty() || random_.below(1000) >= plan_.likelihood(fault)) return false;
  counts_.hit(fault, has_open_calls());
  return true;
}

SimStore::Way SimStore::request_way() {
  Way way{.delay = random_.skewed(plan_.shortest_delay, plan_.longest_delay)};
  if (strikes(Fault::slow_message)) way.delay = random_.between(0, plan_.longest_lease() * 3 / 2);
  way.lost = strikes(Fault::lost_request);
  return way;
}

SimStore::Way SimStore::reply_way() {
  Way way{.delay = random_.skewed(plan_.shortest_delay, plan_.longest_delay)};
  if (strikes(Fault::slow_message)) way.delay = random_.between(0, plan_.longest_lease() * 3 / 2);
  if (strikes(Fault::late_reply)) {
    way.delay = plan_.answer_within + random_.between(0, plan_.longest_lease());
  }
  way.lost = strikes(Fault::lost_reply);
  return way;
}

// The road of every verb: over the network, through the server, back again; or not.
template <class Reply>
void SimStore::ask(const std::string& what, Call<Reply> call, std::function<Reply()> execute,
                   std::function<void(const Reply&, bool in_time)> seen) {
  if (closed_ || !node_.alive()) return;  // the dropped Call answers by itself
  const std::uint64_t id = ++last_id_;
  const TimePoint deadline = call.deadline();
  auto open = std::make_shared<Call<Reply>>(std::move(call));
  if (world_.tracing()) world_.trace(who(), "asks " + what + " (" + std::to_string(id) + ")");
  if (strikes(Fault::refused)) {
    world_.at(node_, world_.now() + plan_.shortest_delay, [open] {
      open->answer(Reply(NoAnswer{.executed = false, .text = "connection refused"}));
    });
    return;
  }
  open_[id].break_off = [open] { open->answer(Reply(NoAnswer{.text = "connection reset"})); };
  const Way there = request_way();
  const std::uint64_t connection = connection_;
  Time arrival = world_.now() + there.delay;
  if (plan_.in_order) arrival = last_arrival_ = std::max(arrival, last_arrival_ + 1);

  // Some transports notice by themselves that no answer came, others leave the Call open.
  if (random_.chance(50)) {
    world_.at(node_, node_.true_time(deadline) + random_.skewed(0, millis(50)), [this, id, open] {
      if (open_.erase(id) > 0) open->answer(Reply(NoAnswer{.text = "no answer in time"}));
    });
  }
  if (there.lost || cut()) return;
  ++under_way_;
  world_.at(arrival, [=, this] {
    --under_way_;
    if (cut()) return;
    if (connection != connection_ && random_.chance(50)) return;  // died in the socket
    Reply reply = execute();
    const Way back = reply_way();
    if (back.lost || cut() || connection != connection_) return;
    ++under_way_;
    world_.at(node_, world_.now() + back.delay, [=, this] {
      --under_way_;
      if (cut() || open_.erase(id) == 0) return;
      if (world_.tracing()) world_.trace(who(), "is answered (" + std::to_string(id) + ")");
      seen(reply, node_.local(world_.now()) < deadline);
      open->answer(reply);
    });
  });
}

void SimStore::try_grant(const store::GrantRequest& request, Call<store::GrantReply> call) {
  const Time sent = world_.now();
  auto attempt = std::make_shared<std::uint64_t>(0);
  ask<store::GrantReply>(
      "try_grant " + std::to_string(request.owner.claim), std::move(call),
      [this, request, attempt] {
        store::GrantReply reply = server_.try_grant(request);
        *attempt = server_.last_attempt();
        return reply;
      },
      [this, sent, attempt, owner = request.owner](const store::GrantReply& reply, bool in_time) {
        server_.heard_of(owner, *attempt);
        const auto* granted = std::get_if<store::Granted>(&reply);
        if (granted != nullptr && in_time) grant_sent_[granted->fence] = sent;
        if (granted == nullptr) lined_up_.try_emplace(owner.claim, world_.now());
      });
}

void SimStore::renew(std::span<const store::Renewal> renewals, Call<store::RenewReply> call) {
  const std::vector<store::Renewal> batch(renewals.begin(), renewals.end());
  const std::size_t first = history_.renewals.size();
  for (const store::Renewal& each : batch) {
    history_.renewals.push_back({.client = node_.number(),
                                 .owner = each.owner.claim,
                                 .name = each.name.bytes(),
                                 .grant_fence = each.fence,
                                 .sent = world_.now(),
                                 .lease_ns = each.lease.count(),
                                 .confirming = !grant_sent_.contains(each.fence)});
  }
  const Time sent = world_.now();
  ask<store::RenewReply>(
      "renew " + std::to_string(batch.front().owner.claim), std::move(call),
      [this, batch] { return server_.renew(batch); },
      [this, batch, first, sent](const store::RenewReply& reply, bool in_time) {
        const auto& replies = std::get<std::vector<store::RenewalReply>>(reply);
        for (std::size_t i = 0; i < replies.size(); ++i) {
          const bool renewed = std::holds_alternative<store::Renewed>(replies[i]);
          check::Renewal& record = history_.renewals[first + i];
          if (renewed && record.confirming) grant_sent_[record.grant_fence] = sent;
          if (!in_time) continue;  // the engine had given it up
          record.answered = world_.now();
          record.outcome = renewed ? check::Renewed::renewed : check::Renewed::gone;
        }
      });
}

void SimStore::release(const store::HoldKey& key, Call<store::ReleaseReply> call) {
  if (node_.alive()) {
    history_.releases.push_back({.client = node_.number(),
                                 .owner = key.owner.claim,
                                 .name = key.name.bytes(),
                                 .grant_fence = key.fence,
                                 .sent = world_.now()});
  }
  ask<store::ReleaseReply>(
      "release " + std::to_string(key.owner.claim), std::move(call),
      [this, key] { return server_.release(key); }, [](const store::ReleaseReply&, bool) {});
}

void SimStore::withdraw(const store::ClaimKey& key, Call<store::WithdrawReply> call) {
  ask<store::WithdrawReply>(
      "withdraw " + std::to_string(key.owner.claim), std::move(call),
      [this, key] { return server_.withdraw(key); }, [](const store::WithdrawReply&, bool) {});
}

store::WatchPtr SimStore::watch(const store::ClaimKey& key, store::WakeFn wake_fn) {
  const std::uint64_t id = ++last_id_;
  watches_.emplace(id, std::move(wake_fn));
  // The subscription travels like a request: in order, it is there before the next attempt.
  Time arrival = world_.now() + random_.skewed(plan_.shortest_delay, plan_.longest_delay);
  if (plan_.in_order) arrival = last_arrival_ = std::max(arrival, last_arrival_ + 1);
  if (!cut()) {
    world_.at(arrival, [this, id, owner = key.owner] {
      if (watches_.contains(id) && !cut()) server_.subscribe(owner, this, id);
    });
  }
  return std::make_unique<WatchHandle>(this, id, key.owner);
}

void SimStore::wake(std::uint64_t watch, const store::Wake& wake) {
  if (cut() || strikes(Fault::lost_wake)) return;
  // Shared, so that what is told twice is not copied.
  const auto tell = [this, watch, told = std::make_shared<const store::Wake>(wake)] {
    const auto found = watches_.find(watch);
    if (found == watches_.end() || cut()) return;
    if (world_.tracing()) {
      world_.trace(who(), told->offer
                              ? "is woken: offer of fence " + std::to_string(told->offer->fence)
                              : std::string("is woken: look"));
    }
    const store::WakeFn fn = found->second;  // it may end the watch
    fn(*told);
  };
  const Time delay = random_.skewed(plan_.shortest_delay, plan_.longest_delay);
  world_.at(node_, world_.now() + delay, tell);
  if (strikes(Fault::doubled_wake)) {
    world_.at(node_, world_.now() + delay + random_.between(0, plan_.longest_lease()), tell);
  }
}

void SimStore::reset() {
  ++connection_;
  const auto broken = std::exchange(open_, {});
  for (const auto& [id, open] : broken) world_.at(node_, world_.now(), open.break_off);
}

void SimStore::close() {
  closed_ = true;
  const auto broken = std::exchange(open_, {});
  for (const auto& [id, open] : broken) open.break_off();
}

void SimStore::inspect(std::string_view, Call<store::InspectReply>) {}
void SimStore::force_release(const store::ForceRequest&, Call<store::ForceReply>) {}

Time SimStore::lined_up(std::uint64_t claim) const {
  const auto found = lined_up_.find(claim);
  return found == lined_up_.end() ? kNever : found->second;
}

Time SimStore::grant_sent(std::uint64_t fence) const {
  const auto found = grant_sent_.find(fence);
  return found == grant_sent_.end() ? kNever : found->second;
}

}  // namespace holdfast::sim
