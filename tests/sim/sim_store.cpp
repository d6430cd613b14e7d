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
    store_->unsubscribe(owner_);
  }

 private:
  SimStore* store_;
  std::uint64_t id_;
  store::OwnerId owner_;
};

bool SimStore::due(Fault fault) {
  const std::uint32_t likelihood = plan().likelihood(fault);
  if (world().now() >= plan().faults_end || (likelihood == 0 && came_later(fault))) return false;
  return random().below(1000) < likelihood;
}

std::optional<Time> SimStore::strikes(Fault fault, Time from, Time to) {
  if (!due(fault)) return std::nullopt;
  const Time length = random().between(from, to);
  return takes_place(fault) ? std::optional(length) : std::nullopt;
}

SimStore::Way SimStore::request_way() {
  Way way{.delay = random().skewed(plan().shortest_delay, plan().longest_delay)};
  const Time lease = plan().longest_lease();
  if (const auto slow = strikes(Fault::slow_message, 0, lease * 3 / 2)) way.delay = *slow;
  way.lost = strikes(Fault::lost_request);
  const Time detour = plan().longest_delay;
  if (const auto longer = strikes(Fault::reordered, detour, detour * 4)) {
    way.delay = *longer;
    way.by_itself = true;
  }
  return way;
}

SimStore::Way SimStore::reply_way() {
  Way way{.delay = random().skewed(plan().shortest_delay, plan().longest_delay)};
  const Time lease = plan().longest_lease();
  if (const auto slow = strikes(Fault::slow_message, 0, lease * 3 / 2)) way.delay = *slow;
  if (const auto late = strikes(Fault::late_reply, 0, lease)) {
    way.delay = plan().answer_within + *late;
  }
  way.lost = strikes(Fault::lost_reply);
  return way;
}

// A connection that keeps the order of what is sent keeps that of the answers only where it is one
// stream for both.
Time SimStore::request_arrival(const Way& way) {
  const Time arrival = std::max(world().now() + way.delay, subscribed_);
  if (!plan().in_order || way.by_itself) return arrival;
  return last_arrival_ = std::max(arrival, last_arrival_ + 1);
}

Time SimStore::reply_arrival(const Way& way) {
  const Time arrival = world().now() + way.delay;
  if (plan().family != Plan::Family::session) return arrival;
  return last_reply_ = std::max(arrival, last_reply_ + 1);
}

// The road of every verb: over the network, through the server, back again; or not.
template <class Reply>
void SimStore::ask(const std::string& what, Call<Reply> call,
                   std::function<void(const Question&, Done<Reply>)> execute,
                   std::function<void(const Question&, Reply&, bool in_time)> seen) {
  if (closed_ || !node().alive()) return;  // the dropped Call answers by itself
  asking();
  const Question question{++last_id_, connection_, local_now()};
  const std::uint64_t id = question.id;
  const TimePoint deadline = call.deadline();
  auto open = std::make_shared<Call<Reply>>(std::move(call));
  if (world().tracing()) world().trace(who(), "asks " + what + " (" + std::to_string(id) + ")");
  if (strikes(Fault::refused)) {
    world().at(node(), world().now() + plan().shortest_delay, [open] {
      open->answer(Reply(NoAnswer{.executed = false, .text = "connection refused"}));
    });
    return;
  }
  open_[id].break_off = [open] { open->answer(Reply(NoAnswer{.text = "connection reset"})); };
  const Way there = request_way();
  const Time arrival = request_arrival(there);

  // Some transports notice by themselves that no answer came, others leave the Call open.
  if (random().chance(50)) {
    world().at(node(), node().true_time(deadline) + random().skewed(0, millis(50)),
               [this, id, open] {
                 if (open_.erase(id) > 0)
                   open->answer(Reply(NoAnswer{.text = "no answer in time"}));
               });
  }
  if (there.lost || cut_there()) return;
  const auto reply_leaves = [=, this](Reply reply) {
    const Way back = reply_way();
    if (back.lost || cut_back() || question.connection != connection_) return;
    ++under_way_;
    world().at(node(), reply_arrival(back), [=, this]() mutable {
      --under_way_;
      if (cut_back() || open_.erase(id) == 0) return;
      if (world().tracing()) world().trace(who(), "is answered (" + std::to_string(id) + ")");
      seen(question, reply, local_now() < deadline);
      open->answer(std::move(reply));
    });
  };
  ++under_way_;
  world().at(arrival, [=, this] {
    --under_way_;
    if (cut_there()) return;
    if (question.connection != connection_ && random().chance(50)) return;  // died in the socket
    execute(question, reply_leaves);
  });
  if (const auto late = strikes(Fault::duplicate, 0, plan().longest_lease())) {
    ++under_way_;
    world().at(arrival + *late, [=, this] {
      --under_way_;
      if (!cut_there()) execute(question, [](const Reply&) {});
    });
  }
}

void SimStore::try_grant(const store::GrantRequest& request, Call<store::GrantReply> call) {
  const Time sent = world().now();
  ask<store::GrantReply>(
      "try_grant " + std::to_string(request.owner.claim), std::move(call),
      [this, request](const Question& question, Done<store::GrantReply> done) {
        execute(question, request, std::move(done));
      },
      [this, sent, owner = request.owner](const Question& question, store::GrantReply& reply,
                                          bool in_time) {
        arrived(question, owner, reply);
        const auto* granted = std::get_if<store::Granted>(&reply);
        if (granted != nullptr && in_time) {
          grant_sent_[granted->fence] = sent;
          grant_lease_[granted->fence] = granted->lease.count();
        }
        if (std::holds_alternative<store::Refused>(reply)) {
          lined_up_.try_emplace(owner.claim, world().now());
        }
      });
}

void SimStore::renew(std::span<const store::Renewal> renewals, Call<store::RenewReply> call) {
  const std::vector<store::Renewal> batch(renewals.begin(), renewals.end());
  check::History& history = link_.history;
  const std::size_t first = history.renewals.size();
  const bool confirms = !grant_sent_.contains(batch.front().fence);  // alone, then
  for (const store::Renewal& each : batch) {
    history.renewals.push_back({.client = node().number(),
                                .owner = each.owner.claim,
                                .name = each.name.bytes(),
                                .grant_fence = each.fence,
                                .sent = world().now(),
                                .lease_ns = each.lease.count(),
                                .confirming = confirms || may_verify(each.fence)});
  }
  const Time sent = world().now();
  ask<store::RenewReply>(
      "renew " + std::to_string(batch.front().owner.claim), std::move(call),
      [this, batch](const Question& question, Done<store::RenewReply> done) {
        execute(question, batch, std::move(done));
      },
      [this, first, sent, confirms](const Question& question, store::RenewReply& reply,
                                    bool in_time) {
        arrived(question, reply);
        const auto* replies = std::get_if<std::vector<store::RenewalReply>>(&reply);
        for (std::size_t i = 0; replies != nullptr && i < replies->size(); ++i) {
          const auto* renewed = std::get_if<store::Renewed>(&(*replies)[i]);
          const bool gone = std::holds_alternative<store::Gone>((*replies)[i]);
          check::Renewal& record = link_.history.renewals[first + i];
          if (renewed != nullptr && confirms) grant_sent_[record.grant_fence] = sent;
          if (!in_time || (renewed == nullptr && !gone)) continue;  // the engine had given it up
          record.answered = world().now();
          record.outcome = gone ? check::Renewed::gone : check::Renewed::renewed;
          if (!gone) record.lease_ns = std::min(record.lease_ns, renewed->lease.count());
        }
      });
}

// After a step of the wall clock every hold is verified: by the next renewal, or by the one after it if
// that was under way already.
bool SimStore::may_verify(std::uint64_t fence) {
  if (verifications_ > 0) return true;
  Doubt& doubt = doubts_[fence];
  if (doubt.steps != wall_steps_) doubt = {wall_steps_, 2};
  return doubt.renewals_left > 0 && doubt.renewals_left-- > 0;
}

void SimStore::release(const store::HoldKey& key, Call<store::ReleaseReply> call) {
  if (node().alive()) {
    link_.history.releases.push_back({.client = node().number(),
                                      .owner = key.owner.claim,
                                      .name = key.name.bytes(),
                                      .grant_fence = key.fence,
                                      .sent = world().now()});
  }
  parting(key);
  ask<store::ReleaseReply>(
      "release " + std::to_string(key.owner.claim), std::move(call),
      [this, key](const Question& question, Done<store::ReleaseReply> done) {
        execute(question, key, std::move(done));
      },
      [this, key](const Question&, store::ReleaseReply& reply, bool) { arrived(key, reply); });
}

void SimStore::withdraw(const store::ClaimKey& key, Call<store::WithdrawReply> call) {
  parting(key);
  ask<store::WithdrawReply>(
      "withdraw " + std::to_string(key.owner.claim), std::move(call),
      [this, key](const Question& question, Done<store::WithdrawReply> done) {
        execute(question, key, std::move(done));
      },
      [this, key](const Question&, store::WithdrawReply& reply, bool) { arrived(key, reply); });
}

store::WatchPtr SimStore::watch(const store::ClaimKey& key, store::WakeFn wake_fn) {
  const std::uint64_t id = ++last_id_;
  watches_.emplace(id, Watched{key, std::move(wake_fn)});
  // The subscription travels like a request: in order, it is there before the next attempt.
  const Time arrival =
      request_arrival({.delay = random().skewed(plan().shortest_delay, plan().longest_delay)});
  // A wake may be missed because it was not there yet, but where nothing goes wrong none is: a store
  // sees to it that what is asked after the watch is answered after it.
  if (plan().calm()) subscribed_ = std::max(subscribed_, arrival);
  if (!cut_there()) {
    world().at(arrival, [this, id, key] {
      if (watches_.contains(id) && !cut_there()) subscribe(id, key);
    });
  }
  return std::make_unique<WatchHandle>(this, id, key.owner);
}

void SimStore::wake(std::uint64_t watch, const store::Wake& wake) {
  if (cut_back() || strikes(Fault::lost_wake)) return;
  // Shared, so that what is told twice is not copied.
  const auto tell = [this, watch, told = std::make_shared<const store::Wake>(wake)] {
    const auto found = watches_.find(watch);
    if (found == watches_.end() || cut_back()) return;
    if (world().tracing()) {
      world().trace(who(), told->offer
                               ? "is woken: offer of fence " + std::to_string(told->offer->fence)
                               : std::string("is woken: look"));
    }
    const store::WakeFn fn = found->second.wake;  // it may end the watch
    fn(*told);
  };
  const Time delay = random().skewed(plan().shortest_delay, plan().longest_delay);
  world().at(node(), world().now() + delay, tell);
  if (const auto late = strikes(Fault::doubled_wake, 0, plan().longest_lease())) {
    world().at(node(), world().now() + delay + *late, tell);
  }
}

void SimStore::cut_off(Lost what, Time until) {
  if (what != Lost::replies) cut_there_until_ = until;
  if (what != Lost::requests) cut_back_until_ = until;
}

// Whoever watches anew is known again.
void SimStore::lose_watches() {
  for (const auto& [id, watched] : watches_) unsubscribe(watched.key.owner);
}

void SimStore::reset() {
  ++connection_;
  const auto broken = std::exchange(open_, {});
  for (const auto& [id, open] : broken) world().at(node(), world().now(), open.break_off);
}

void SimStore::close() {
  closed_ = true;
  const auto broken = std::exchange(open_, {});
  for (const auto& [id, open] : broken) open.break_off();
}

Time SimStore::lined_up(std::uint64_t claim) const {
  const auto found = lined_up_.find(claim);
  return found == lined_up_.end() ? kNever : found->second;
}

Time SimStore::grant_sent(std::uint64_t fence) const {
  const auto found = grant_sent_.find(fence);
  return found == grant_sent_.end() ? kNever : found->second;
}

std::int64_t SimStore::grant_lease_ns(std::uint64_t fence) const {
  const auto found = grant_lease_.find(fence);
  return found == grant_lease_.end() ? 0 : found->second;
}

}  // namespace holdfast::sim
