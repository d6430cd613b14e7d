#include "session_store.hpp"

#include <algorithm>
#include <utility>

#include "model_bugs.hpp"

namespace holdfast::sim {

using store::NoAnswer;
using store::OwnerId;
using Standing = SessionServer::Standing;

namespace {

NoAnswer no_answer(std::string why, bool executed) {
  return {.executed = executed, .text = std::move(why)};
}

}  // namespace

// ---- the session ----

SessionServer::Speaker SessionStore::speaker(std::uint64_t connection) const {
  return speakers_.at(connection);
}

void SessionStore::asking() {
  if (!speakers_.contains(connection())) come();
  if (std::exchange(started_, true)) return;
  beat_on();
}

// Over a new connection, to whichever replica.
void SessionStore::come() {
  const auto replica = static_cast<std::size_t>(random().below(server_.replicas()));
  speakers_[connection()] = {{node().number(), session_}, connection(), replica};
  opened_ = false;
  hello_.reset();
  contacts_.clear();
  heard_ = local_now();
  new_stream();
  if (world().tracing()) world().trace(who(), "comes to replica " + std::to_string(replica));
  send_beat();
}

void SessionStore::reset() {
  SimStore::reset();
  if (!started_) return;
  world().at(node(), world().now(), [this] {
    if (!closed() && !speakers_.contains(connection())) come();
  });
}

void SessionStore::hung_up(std::size_t replica) {
  const auto found = speakers_.find(connection());
  if (found != speakers_.end() && found->second.replica == replica) reset();
}

void SessionStore::start_anew() {
  ++session_;
  leader_heard_.reset();
  leaving_.clear();
  reset();
  // Whoever waits has lost its place, and had better ask for another.
  for (const auto& [id, watched] : watches()) {
    world().at(node(), world().now(), [this, watch = id] { fired(watch, connection()); });
  }
}

void SessionStore::beat_on() {
  if (closed()) return;
  if (local_now() - heard_ > timeout() / 3) {
    reset();
  } else if (speakers_.contains(connection())) {
    send_beat();
  }
  world().at(node(), node().true_time(local_now() + timeout() / 6), [this] { beat_on(); });
}

void SessionStore::send_beat() {
  const Beat beat{speaker(connection()), !opened_, local_now(), leaving_};
  const Way there = request_way();
  const Time arrival = request_arrival(there);
  if (there.lost || cut_there()) return;
  world().at(arrival, [this, beat] {
    if (!cut_there() && beat.speaker.connection == connection()) reaches_replica(beat);
  });
}

void SessionStore::reaches_replica(const Beat& beat) {
  const std::size_t replica = beat.speaker.replica;
  server_.hears(beat.speaker);
  const bool cut_off = server_.is_cut_off(replica);
  // It cannot take in a newcomer, but whom it knows it answers as if nothing had happened.
  if (cut_off && beat.opens && !server_.goes_on_alone(beat.speaker)) return;
  if (beat.opens) {
    for (const auto& [id, watched] : watches()) subscribe(id, watched.key);
  }
  if (cut_off) return send_back(beat, {.standing = Standing::alive, .agreed = false});
  server_.to_leader(replica, [this, beat] { reaches_leader(beat); });
}

// Nobody but the leader is asked about a session that goes on: a majority agrees to new ones only, to
// deletes, and to the beats behind the hello.
void SessionStore::reaches_leader(const Beat& beat) {
  if (server_.is_superseded(beat.speaker)) return;
  const bool is_new = server_.standing(beat.speaker) == Standing::unknown;
  const Standing standing =
      beat.opens ? server_.open(beat.speaker) : server_.standing(beat.speaker);
  if (standing == Standing::alive) {
    for (const auto& [owner, name] : beat.leaving) server_.remove(name, owner);
  }
  const Answer answer{standing, !beat.opens || is_new || !beat.leaving.empty()};
  server_.from_leader(beat.speaker.replica, [this, beat, answer] { send_back(beat, answer); });
}

void SessionStore::send_back(const Beat& beat, Answer answer) {
  const Way back = reply_way();
  if (back.lost || cut_back()) return;
  world().at(node(), reply_arrival(back), [this, beat, answer] {
    if (!cut_back() && !closed() && beat.speaker.connection == connection()) answered(beat, answer);
  });
}

void SessionStore::answered(const Beat& beat, Answer answer) {
  heard_ = local_now();
  if (answer.standing == Standing::expired) return start_anew();
  contacts_.push_back({beat.sent, local_now()});
  if (answer.standing != Standing::alive) return;
  if (beat.opens) {
    opened_ = true;
    hello_ = beat.sent;
    if (HOLDFAST_MODEL_BUG(resumed_hello_counts)) leader_heard(beat.sent);
  }
  if (answer.agreed) {
    agreed(beat.speaker.connection, beat.sent);
    for (const auto& [owner, name] : beat.leaving) leaving_.erase(owner);
  } else if (beat.opens) {
    send_beat();  // for the hello to count
  }
}

// What the header says of reports: they are at most a tick late, and a tick is half of this.
void SessionStore::agreed(std::uint64_t over, TimePoint sent) {
  if (over != connection()) return;
  if (hello_ && *hello_ <= sent) leader_heard(*hello_);
  while (!contacts_.empty() && contacts_.front().answered <= sent - timeout() / 4) {
    leader_heard(contacts_.front().sent);
    contacts_.pop_front();
  }
}

void SessionStore::leader_heard(TimePoint sent) {
  leader_heard_ = std::max(leader_heard_.value_or(sent), sent);
}

// The engine allows for clocks in what it is given, but this began earlier.
Duration SessionStore::lease_for(TimePoint sent) const {
  if (HOLDFAST_MODEL_BUG(newest_sync_counts)) return timeout() / 2;
  if (!leader_heard_) return Duration::zero();
  return *leader_heard_ + timeout() * 99 / 100 - sent;
}

// ---- watches ----

void SessionStore::subscribe(std::uint64_t watch, const store::ClaimKey& key) {
  const auto found = speakers_.find(connection());
  if (found != speakers_.end()) server_.subscribe(key, this, watch, found->second);
}

void SessionStore::fired(std::uint64_t watch, std::uint64_t over) {
  if (over == connection()) wake(watch, {});
}

// ---- verbs ----

template <class Reply, class AtLeader>
void SessionStore::pass_on(const Question& question, Reply if_expired, Done<Reply> done,
                           AtLeader at_leader) {
  const Speaker from = speaker(question.connection);
  server_.hears(from);
  server_.to_leader(from.replica, [=, this] {
    if (server_.is_superseded(from)) return;
    Reply reply = no_answer("no such session yet", false);
    const Standing standing = server_.standing(from);
    if (standing == Standing::alive) reply = at_leader(from.session);
    if (standing == Standing::expired) reply = if_expired;
    server_.from_leader(from.replica, [done, reply] { done(reply); });
  });
}

void SessionStore::execute(const Question& question, const store::GrantRequest& request,
                           Done<store::GrantReply> done) {
  const bool unheard = !unheard_.insert(request.owner).second;
  pass_on<store::GrantReply>(question, no_answer("the session has expired", false), std::move(done),
                             [this, request, unheard](const SessionId& session) {
                               return server_.try_grant(request, session, unheard);
                             });
}

void SessionStore::execute(const Question& question, const std::vector<store::Renewal>& renewals,
                           Done<store::RenewReply> done) {
  const Speaker from = speaker(question.connection);
  if (HOLDFAST_MODEL_BUG(stale_follower_renews) || server_.goes_on_alone(from)) {
    return done(server_.renew(renewals, from.replica));
  }
  pass_on<store::RenewReply>(
      question, std::vector<store::RenewalReply>(renewals.size(), store::Gone{}), std::move(done),
      [this, renewals](const SessionId&) { return server_.renew(renewals, server_.leader()); });
}

void SessionStore::execute(const Question& question, const store::HoldKey& key,
                           Done<store::ReleaseReply> done) {
  pass_on<store::ReleaseReply>(question, store::Gone{}, std::move(done),
                               [this, key](const SessionId&) { return server_.release(key); });
}

void SessionStore::execute(const Question& question, const store::ClaimKey& key,
                           Done<store::WithdrawReply> done) {
  pass_on<store::WithdrawReply>(question, store::Withdrawn{}, std::move(done),
                                [this, key](const SessionId&) -> store::WithdrawReply {
                                  server_.remove(key.name, key.owner);
                                  return store::Withdrawn{};
                                });
}

// ---- what comes back ----

void SessionStore::arrived(const Question& question, const OwnerId& owner,
                           store::GrantReply& reply) {
  if (std::holds_alternative<NoAnswer>(reply)) return;
  unheard_.erase(owner);
  agreed(question.connection, question.sent);
  auto* const granted = std::get_if<store::Granted>(&reply);
  if (granted == nullptr) return;
  granted->lease = lease_for(question.sent);
  if (granted->lease <= Duration::zero()) reply = no_answer("the session may be over", true);
}

// The leader is asked for what it knows, and a deposed one answers, too: what is there lasts as long as the
// session is known to, and that is known from elsewhere.
void SessionStore::arrived(const Question& question, store::RenewReply& reply) {
  auto* const replies = std::get_if<std::vector<store::RenewalReply>>(&reply);
  if (replies == nullptr || HOLDFAST_MODEL_BUG(stale_follower_renews)) return;
  if (HOLDFAST_MODEL_BUG(deposed_leader_counts)) agreed(question.connection, question.sent);
  const Duration lease = lease_for(question.sent);
  for (store::RenewalReply& each : *replies) {
    auto* const renewed = std::get_if<store::Renewed>(&each);
    if (renewed == nullptr) continue;
    renewed->lease = std::min(renewed->lease, lease);
    if (lease <= Duration::zero()) each = no_answer("the session may be over", true);
  }
}

// The engine gives up on a release or a withdraw after a lease, since leases end by themselves.
// Entries do not as long as the session lives, so the store itself sees to it that they go.
void SessionStore::parting(const store::ClaimKey& key) {
  if (!HOLDFAST_MODEL_BUG(delete_once)) leaving_[key.owner] = key.name;
}

void SessionStore::arrived(const store::ClaimKey& key, const store::ReleaseReply& reply) {
  if (!std::holds_alternative<NoAnswer>(reply)) leaving_.erase(key.owner);
}

void SessionStore::arrived(const store::ClaimKey& key, const store::WithdrawReply& reply) {
  if (!std::holds_alternative<NoAnswer>(reply)) leaving_.erase(key.owner);
}

bool SessionStore::messages_under_way() const {
  return !leaving_.empty() || SimStore::messages_under_way();
}

}  // namespace holdfast::sim
