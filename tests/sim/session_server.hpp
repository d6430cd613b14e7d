// The family of stores that keep a session for each client (ZooKeeper, etcd): a leader who decides,
// and followers who pass questions on to it and know a little less.
//
// A client is connected to one replica. Whatever it sends shows that replica that the client lives;
// a follower reports at every tick of which clients it heard. If the leader has heard of a client
// neither by itself nor by a report for the session's timeout, it removes all entries of that session.
// A question that a follower passes on is no such report.
//
// A follower that is cut off from its leader still answers pings and still fires watches, from what
// it knew then. Its clients do not notice; only questions for the leader stay unanswered.
//
// A leader that is cut off is deposed, and does not know it: the others have a new one at once, as after an
// election. The old one answers whatever it can without a majority, from what it knew then: pings, reads, and
// hellos of sessions that it knows. What a majority has to agree to stays unanswered.
//
// While a leader is elected nobody answers. The new one knows all that was done, and waits for a whole
// timeout before it misses anybody.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "session_tree.hpp"
#include "sim_server.hpp"

namespace holdfast::sim {

class SessionStore;

class SessionServer final : public SimServer {
 public:
  // Who speaks: a session, over one of its connections, of which only the newest counts.
  struct Speaker {
    SessionId session;
    std::uint64_t connection = 0;
    std::size_t replica = 0;
  };
  enum class Standing : std::uint8_t { alive, expired, unknown };

  SessionServer(World&, const Plan&, std::uint64_t seed);

  store::Capabilities capabilities() const override;
  std::unique_ptr<SimStore> connect(const Link&) override;
  bool revoke_one(SeededRandom&) override;
  void cut_off_replica(SeededRandom&, Time until) override;
  bool depose_leader(Time until) override;
  void elect(Time until) override;
  std::vector<check::Leftover> leftovers() const override;
  std::vector<check::Leftover> ghosts_of(std::uint32_t client) const override;

  // ---- at a replica ----
  std::size_t replicas() const { return replicas_.size(); }
  std::size_t leader() const { return leader_; }
  bool is_cut_off(std::size_t replica) const;
  // The replica led until it was cut off, and goes on with this session as if it still did.
  bool goes_on_alone(const Speaker&) const;
  void hears(const Speaker&);
  void subscribe(const store::ClaimKey&, SessionStore*, std::uint64_t watch, const Speaker&);
  void unsubscribe(const store::OwnerId& owner) { subscribers_.erase(owner); }
  const SessionTree& known_to(std::size_t replica) const;

  // Runs `task` at the leader, or at the replica, after the way between the two; or never.
  void to_leader(std::size_t replica, Task task);
  void from_leader(std::size_t replica, Task task);

  // ---- at the leader ----
  // A client comes, with a new session or over a new connection: that counts as hearing of it.
  Standing open(const Speaker&);
  Standing standing(const Speaker&);
  bool is_superseded(const Speaker&) const;
  // `unheard`: the client has not heard what became of an earlier attempt.
  store::GrantReply try_grant(const store::GrantRequest&, const SessionId&, bool unheard);
  // As far as a replica knows.
  store::RenewReply renew(const std::vector<store::Renewal>&, std::size_t replica) const;
  store::ReleaseReply release(const store::HoldKey&);
  void remove(const store::LockName&, const store::OwnerId&);

 private:
  struct Session {
    SessionId id;
    std::uint64_t connection = 0;
    Time heard = 0;
    bool alive = true;
    std::map<store::LockName, Entries> lost{};  // what went with it
  };
  struct Replica {
    SessionTree tree;                  // if it does not lead
    std::set<store::LockName> behind;  // in these locks
    bool catches_up = false;           // soon
    std::set<SessionId> heard;         // since the last report
    bool reports = false;              // at the next tick
    Time cut_until = 0;
    Time last_arrival = 0;        // at the leader
    std::set<SessionId> goes_on;  // of a deposed leader: with these
  };
  struct Subscriber {
    SessionStore* store;
    std::uint64_t watch;
    Speaker speaker;
    store::LockName name;
    std::uint64_t told = 0;  // the fence of the entry that it was told about
  };

  std::optional<store::Rejected> take_the_place(const store::GrantRequest&, const SessionId&);
  void changed(const store::LockName&);
  void cut_off(std::size_t replica, Time until);
  void catch_up(std::size_t replica);
  void tell_granted(std::size_t replica, const store::LockName&);
  void tell_if_granted(const store::OwnerId&, Subscriber&);
  void report(std::size_t replica);
  void hears_of(const SessionId&);
  void look_at(const SessionId&);
  void expire(Session&);
  void give_back(Session&);
  std::optional<std::size_t> heir() const;
  void take_over();
  Time hop();

  const Plan& plan_;
  SeededRandom random_;
  Time no_leader_until_ = 0;
  std::uint64_t last_write_ = 0;
  std::uint64_t spare_ = 0;  // of each grant: all locks of a schedule are of one kind
  SessionTree tree_;
  std::map<std::uint32_t, Session> sessions_;  // the newest of each client
  std::vector<Replica> replicas_;
  std::size_t leader_ = 0;
  std::map<store::OwnerId, Subscriber> subscribers_;
  std::vector<SessionStore*> stores_;
};

}  // namespace holdfast::sim
