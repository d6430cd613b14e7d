#include "session_server.hpp"

#include <algorithm>
#include <utility>

#include "model_bugs.hpp"
#include "session_store.hpp"

namespace holdfast::sim {

using store::LockName;
using store::OwnerId;

namespace {

constexpr unsigned kFenceShift = 10;  // leaves room for hand-offs above each sequence number
constexpr std::uint64_t kOrphan = std::uint64_t{1} << 40;

// Only mutexes are handed on inside a process; a downgrade takes the fence above its writer's.
std::uint64_t spare_of(store::Kind kind) {
  return kind == store::Kind::mutex ? (std::uint64_t{1} << kFenceShift) - 1 : 0;
}

}  // namespace

SessionServer::SessionServer(World& world, const Plan& plan, std::uint64_t seed)
    : SimServer(world), plan_(plan), random_(seed), replicas_(plan.followers + 1) {}

store::Capabilities SessionServer::capabilities() const {
  return {.mutex_any = true,
          .mutex_fifo = true,
          .shared = true,
          .downgrade = true,
          .permits = true,
          .hand_over = true};
}

std::unique_ptr<SimStore> SessionServer::connect(const Link& link) {
  auto store = std::make_unique<SessionStore>(link, *this);
  stores_.push_back(store.get());
  return store;
}

// ---- the ways between replicas ----

// Short, or there would be no time left in a session.
Time SessionServer::hop() {
  return random_.skewed(plan_.shortest_delay,
                        std::max(plan_.shortest_delay, plan_.longest_delay / 4));
}

bool SessionServer::is_cut_off(std::size_t replica) const {
  if (world().now() < no_leader_until_) return true;
  return world().now() < replicas_[replica].cut_until;
}

bool SessionServer::goes_on_alone(const Speaker& speaker) const {
  return replicas_[speaker.replica].goes_on.contains(speaker.session);
}

void SessionServer::to_leader(std::size_t replica, Task task) {
  if (is_cut_off(replica)) return;
  if (replica == leader_) return task();
  Replica& follower = replicas_[replica];
  follower.last_arrival = std::max(world().now() + hop(), follower.last_arrival + 1);
  world().at(follower.last_arrival, [this, replica, task = std::move(task)]() mutable {
    if (!is_cut_off(replica)) task();
  });
}

void SessionServer::from_leader(std::size_t replica, Task task) {
  if (replica == leader_) return task();
  world().at(world().now() + hop(), [this, replica, task = std::move(task)]() mutable {
    if (!is_cut_off(replica)) task();
  });
}

void SessionServer::cut_off_replica(SeededRandom& random, Time until) {
  const auto from_leader = static_cast<std::size_t>(1 + random.below(replicas() - 1));
  const std::size_t replica = (leader_ + from_leader) % replicas();
  if (world().tracing())
    world().trace("store", "follower " + std::to_string(replica) + " is cut off");
  cut_off(replica, until);
}

void SessionServer::cut_off(std::size_t replica, Time until) {
  Time& cut_until = replicas_[replica].cut_until;
  cut_until = std::max(cut_until, until);
  // When it is back it knows everything again, and its clients have to come anew.
  world().at(cut_until, [this, replica] {
    if (is_cut_off(replica)) return;
    replicas_[replica].goes_on.clear();
    catch_up(replica);
    for (SessionStore* each : stores_) each->hung_up(replica);
  });
}

bool SessionServer::depose_leader(Time until) {
  const auto next = heir();
  if (!next) return false;
  Replica& deposed = replicas_[leader_];
  deposed.tree = tree_;
  deposed.behind.clear();
  for (const auto& [client, session] : sessions_) {
    if (session.alive) deposed.goes_on.insert(session.id);
  }
  if (world().tracing())
    world().trace("store", "leader " + std::to_string(leader_) + " is cut off and does not notice");
  cut_off(leader_, until);
  const std::size_t old = std::exchange(leader_, *next);
  for (std::size_t replica = 0; replica < replicas(); ++replica) {
    if (replica == old) continue;
    for (SessionStore* each : stores_) each->hung_up(replica);
  }
  take_over();
  // Trouble in the network seldom comes alone: some of its clients come back to it.
  world().at(world().now() + (until - world().now()) / 2, [this, old] {
    for (SessionStore* each : stores_) each->hung_up(old);
  });
  return true;
}

// There may be more replicas, to which no client comes: one in reach is enough here.
std::optional<std::size_t> SessionServer::heir() const {
  for (std::size_t replica = 0; replica < replicas(); ++replica) {
    if (replica != leader_ && !is_cut_off(replica)) return replica;
  }
  return std::nullopt;
}

void SessionServer::elect(Time until) {
  no_leader_until_ = std::max(no_leader_until_, until);
  world().trace("store", "has no leader");
  for (std::size_t replica = 0; replica < replicas(); ++replica) {
    for (SessionStore* each : stores_) each->hung_up(replica);
  }
  world().at(no_leader_until_, [this] {
    if (world().now() >= no_leader_until_) take_over();
  });
}

void SessionServer::take_over() {
  world().trace("store", "has a new leader");
  for (auto& [client, session] : sessions_) {
    if (!session.alive) continue;
    session.heard = world().now();
    if (HOLDFAST_MODEL_BUG(election_ends_sessions)) expire(session);
  }
  for (std::size_t replica = 0; replica < replicas(); ++replica) catch_up(replica);
}

// ---- what followers know ----

const SessionTree& SessionServer::known_to(std::size_t replica) const {
  return replica == leader_ ? tree_ : replicas_[replica].tree;
}

void SessionServer::changed(const LockName& name) {
  for (Entry& each : tree_.of(name)) {
    if (each.granted || !is_granted(tree_.of(name), each)) continue;
    each.granted = true;
    note_grant(each.owner, each.fence, spare_);
    if (world().tracing()) {
      world().trace("store",
                    "fence " + std::to_string(each.fence) + " is first, of " + number(each.owner));
    }
  }
  tell_granted(leader_, name);
  for (std::size_t i = 0; i < replicas(); ++i) {
    if (i == leader_) continue;
    Replica& follower = replicas_[i];
    follower.behind.insert(name);
    if (std::exchange(follower.catches_up, true)) continue;
    world().at(world().now() + hop(), [this, i] { catch_up(i); });
  }
}

void SessionServer::catch_up(std::size_t replica) {
  Replica& follower = replicas_[replica];
  follower.catches_up = false;
  if (is_cut_off(replica)) return;
  const std::set<LockName> behind = std::exchange(follower.behind, {});
  for (const LockName& name : behind) {
    follower.tree.copy(name, tree_);
    tell_granted(replica, name);
  }
}

// ---- watches ----

void SessionServer::subscribe(const store::ClaimKey& key, SessionStore* store, std::uint64_t watch,
                              const Speaker& speaker) {
  Subscriber& subscriber = subscribers_[key.owner];
  subscriber = {store, watch, speaker, key.name};
  tell_if_granted(key.owner, subscriber);
}

void SessionServer::tell_granted(std::size_t replica, const LockName& name) {
  for (auto& [owner, subscriber] : subscribers_) {
    if (subscriber.speaker.replica == replica && subscriber.name == name) {
      tell_if_granted(owner, subscriber);
    }
  }
}

// Once for each entry: it does not change back.
void SessionServer::tell_if_granted(const OwnerId& owner, Subscriber& subscriber) {
  const SessionTree& tree = known_to(subscriber.speaker.replica);
  const Entry* const entry = tree.find(subscriber.name, owner);
  if (entry == nullptr || entry->fence == subscriber.told) return;
  if (!is_granted(tree.locks().at(subscriber.name), *entry)) return;
  subscriber.told = entry->fence;
  subscriber.store->fired(subscriber.watch, subscriber.speaker.connection);
}

// ---- sessions ----

void SessionServer::hears(const Speaker& speaker) {
  if (speaker.replica == leader_) return hears_of(speaker.session);
  Replica& follower = replicas_[speaker.replica];
  follower.heard.insert(speaker.session);
  if (std::exchange(follower.reports, true)) return;
  const Time tick = plan_.session_timeout / 8;
  world().at((world().now() / tick + 1) * tick, [this, speaker] { report(speaker.replica); });
}

void SessionServer::report(std::size_t replica) {
  Replica& follower = replicas_[replica];
  if (is_cut_off(replica)) {
    const Time tick = plan_.session_timeout / 8;
    return world().at(world().now() + tick, [this, replica] { report(replica); });
  }
  follower.reports = false;
  to_leader(replica, [this, heard = std::exchange(follower.heard, {})] {
    for (const SessionId& each : heard) hears_of(each);
  });
}

void SessionServer::hears_of(const SessionId& id) {
  Session& session = sessions_[id.client];
  if (session.alive && session.id == id) session.heard = world().now();
}

SessionServer::Standing SessionServer::open(const Speaker& speaker) {
  Session& session = sessions_[speaker.session.client];
  if (speaker.session.number > session.id.number) {
    if (session.alive && session.id.number > 0) expire(session);
    session = {.id = speaker.session, .heard = world().now()};
    world().at(world().now() + plan_.session_timeout,
               [this, id = speaker.session] { look_at(id); });
  }
  const Standing found = standing(speaker);
  if (found == Standing::alive) hears_of(speaker.session);
  return found;
}

SessionServer::Standing SessionServer::standing(const Speaker& speaker) {
  Session& session = sessions_[speaker.session.client];
  if (speaker.session.number > session.id.number) return Standing::unknown;
  if (speaker.session.number < session.id.number) return Standing::expired;
  if (!session.alive && HOLDFAST_MODEL_BUG(session_reborn)) give_back(session);
  if (!session.alive) return Standing::expired;
  session.connection = std::max(session.connection, speaker.connection);
  // Who may have seen newer things is not let in by a replica that has not.
  for (Replica& each : replicas_) each.goes_on.erase(speaker.session);
  return Standing::alive;
}

// Words that were still on their way when their client came over another connection.
bool SessionServer::is_superseded(const Speaker& speaker) const {
  if (HOLDFAST_MODEL_BUG(old_stream_writes)) return false;
  const auto found = sessions_.find(speaker.session.client);
  return found != sessions_.end() && found->second.id == speaker.session &&
         speaker.connection < found->second.connection;
}

void SessionServer::look_at(const SessionId& id) {
  Session& session = sessions_[id.client];
  if (session.id != id || !session.alive) return;
  const Time end = std::max(session.heard + plan_.session_timeout, no_leader_until_ + 1);
  if (end <= world().now()) return expire(session);
  world().at(end, [this, id] { look_at(id); });
}

void SessionServer::expire(Session& session) {
  session.alive = false;
  if (world().tracing()) {
    world().trace("store",
                  "the session of client " + std::to_string(session.id.client) + " expires");
  }
  if (HOLDFAST_MODEL_BUG(expiry_keeps_entries)) return;
  std::vector<LockName> names;
  for (const auto& [name, entries] : tree_.locks()) names.push_back(name);
  for (const LockName& name : names) {
    session.lost[name] = tree_.erase(name, session.id);
    if (!session.lost[name].empty()) changed(name);
  }
}

void SessionServer::give_back(Session& session) {
  session.alive = true;
  session.heard = world().now();
  world().at(world().now() + plan_.session_timeout, [this, id = session.id] { look_at(id); });
  for (const auto& [name, entries] : std::exchange(session.lost, {})) {
    Entries& all = tree_.of(name);
    all.insert(all.begin(), entries.begin(), entries.end());
    changed(name);
  }
}

// ---- verbs, at the leader ----

store::GrantReply SessionServer::try_grant(const store::GrantRequest& request,
                                           const SessionId& session, bool unheard) {
  Entry* own = tree_.find(request.name, request.owner);
  note_place(request, own != nullptr && !own->revoked);
  spare_ = spare_of(request.kind);
  if (own != nullptr && unheard && HOLDFAST_MODEL_BUG(create_twice)) {
    own->owner.claim += kOrphan;
    own = nullptr;
  }
  if (own != nullptr && own->revoked) {  // to ask again is to give back what was revoked
    tree_.erase(request.name, request.owner);
    changed(request.name);
    own = nullptr;
  }
  if (own == nullptr && request.instead_of) {
    if (auto rejected = take_the_place(request, session)) return *std::move(rejected);
  } else if (own == nullptr) {
    const std::uint64_t sequence = ++last_write_;
    const std::uint64_t number =
        HOLDFAST_MODEL_BUG(fence_of_client) ? request.owner.claim : sequence;
    tree_.of(request.name)
        .push_back({.owner = request.owner,
                    .shape = request.shape,
                    .session = session,
                    .sequence = sequence,
                    .fence = number << kFenceShift});
    changed(request.name);
  }
  own = tree_.find(request.name, request.owner);
  const Entries& all = tree_.of(request.name);
  if (is_granted(all, *own)) {
    return store::Granted{own->fence, spare_, Duration(plan_.session_timeout)};
  }
  store::Refused refused;
  refused.retry_after = Duration(plan_.session_timeout);
  refused.waiting = static_cast<std::uint32_t>(
      std::count_if(all.begin(), all.end(), [](const Entry& each) { return !each.granted; }));
  refused.ahead =
      static_cast<std::uint32_t>(std::count_if(all.begin(), all.end(), [&](const Entry& each) {
        return !each.granted && each.sequence < own->sequence;
      }));
  refused.fence_counter = last_write_ << kFenceShift;
  if (!request.line_up) remove(request.name, request.owner);
  return refused;
}

// A downgrade: the writer's entry becomes the reader's, where it stands.
std::optional<store::Rejected> SessionServer::take_the_place(const store::GrantRequest& request,
                                                             const SessionId& session) {
  Entry* const old = tree_.find(request.name, request.instead_of->owner);
  if (old == nullptr || old->fence != request.instead_of->fence || old->session != session) {
    return store::Rejected{Errc::lost, "the hold to be replaced is gone"};
  }
  if (old->revoked) return store::Rejected{Errc::forced, "an operator took the lock away"};
  old->owner = request.owner;
  old->shape = request.shape;
  ++old->fence;
  old->granted = false;  // noted anew
  changed(request.name);
  return std::nullopt;
}

store::RenewReply SessionServer::renew(const std::vector<store::Renewal>& renewals,
                                       std::size_t replica) const {
  const SessionTree& tree = known_to(replica);
  std::vector<store::RenewalReply> replies;
  for (const store::Renewal& each : renewals) {
    const Entry* const entry = tree.find(each.name, each.owner);
    if (entry == nullptr || entry->fence != each.fence) {
      replies.emplace_back(store::Gone{});
    } else if (entry->revoked) {
      replies.emplace_back(store::Gone{.forced = true});
    } else {
      replies.emplace_back(store::Renewed{each.lease});
    }
    if (world().tracing()) {
      world().trace(
          "store",
          "renew of " + number(each.owner) + " fence " + std::to_string(each.fence) +
              (std::holds_alternative<store::Renewed>(replies.back()) ? ": is there" : ": gone"));
    }
  }
  return replies;
}

store::ReleaseReply SessionServer::release(const store::HoldKey& key) {
  const Entry* const entry = tree_.find(key.name, key.owner);
  if (entry == nullptr || entry->fence != key.fence) return store::Gone{};
  remove(key.name, key.owner);
  return store::Released{.others_waiting = !tree_.of(key.name).empty()};
}

void SessionServer::remove(const LockName& name, const OwnerId& owner) {
  if (!tree_.erase(name, owner)) return;
  if (world().tracing()) world().trace("store", "entry of " + number(owner) + " is deleted");
  changed(name);
}

bool SessionServer::revoke_one(SeededRandom& random) {
  std::vector<std::pair<LockName, OwnerId>> held;
  for (const auto& [name, entries] : tree_.locks()) {
    for (const Entry& each : entries) {
      if (each.granted && !each.revoked) held.emplace_back(name, each.owner);
    }
  }
  if (held.empty()) return false;
  const auto& [name, owner] = held[random.below(held.size())];
  tree_.find(name, owner)->revoked = true;
  if (world().tracing()) world().trace("store", "revoked what " + number(owner) + " has");
  changed(name);
  return true;
}

// ---- what is there ----

std::vector<check::Leftover> SessionServer::leftovers() const {
  std::vector<check::Leftover> left;
  for (const auto& [name, entries] : tree_.locks()) {
    for (const Entry& each : entries) {
      left.push_back({.name = name.bytes(),
                      .client = static_cast<std::uint32_t>(each.owner.client.low),
                      .owner = each.owner.claim,
                      .in_line = !each.granted,
                      .holds = each.granted});
    }
  }
  return left;
}

// Words of one client arrive in the order of sending, or not at all: there is no late one that could
// leave something behind.
std::vector<check::Leftover> SessionServer::ghosts_of(std::uint32_t client) const {
  std::vector<check::Leftover> ghosts = leftovers();
  std::erase_if(ghosts, [&](const check::Leftover& each) { return each.client != client; });
  return ghosts;
}

}  // namespace holdfast::sim
