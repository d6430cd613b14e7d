// One client's view of a session store.
//
// What a hold's lease is here: the leader removes an entry no earlier than one timeout after it heard
// of the session, so a lease is what is left of that. What the leader has heard the client learns from
// answers to what a majority agreed to: its beats, grants and deletes, and the hello of a new session.
//   - A client that comes over a new connection is made known to the leader itself. Once something was
//     agreed to over that connection, the leader heard of the session after its hello was sent.
//   - Otherwise its replica reports. If a ping was answered, and something that left a report's time
//     later was agreed to over the same connection, then the report about that ping was before it on
//     the same way, and the leader heard of the session after the ping was sent.
// Nothing else proves anything: pings, reads and the hello of a session that goes on are answered by a
// leader that was deposed as well. Nor does the newest thing agreed to: whatever it says, the session may
// end in the next moment if the report is lost.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "session_server.hpp"
#include "sim_store.hpp"

namespace holdfast::sim {

class SessionStore final : public SimStore {
 public:
  SessionStore(const Link& link, SessionServer& server) : SimStore(link), server_(server) {}

  store::Capabilities capabilities() const override { return server_.capabilities(); }
  void reset() override;
  bool messages_under_way() const override;

  // A watch fired, or the connection was closed, at the replica's end of this connection.
  void fired(std::uint64_t watch, std::uint64_t connection);
  void hung_up(std::size_t replica);

 private:
  using Speaker = SessionServer::Speaker;
  struct Beat {
    Speaker speaker;
    bool opens = false;  // the first of its connection
    TimePoint sent{};
    std::map<store::OwnerId, store::LockName> leaving{};
  };
  struct Answer {
    SessionServer::Standing standing;
    bool agreed;  // to what was asked, by a majority
  };
  struct Contact {
    TimePoint sent{};
    TimePoint answered{};
  };

  void execute(const Question&, const store::GrantRequest&, Done<store::GrantReply>) override;
  void execute(const Question&, const std::vector<store::Renewal>&,
               Done<store::RenewReply>) override;
  void execute(const Question&, const store::HoldKey&, Done<store::ReleaseReply>) override;
  void execute(const Question&, const store::ClaimKey&, Done<store::WithdrawReply>) override;
  template <class Reply, class AtLeader>
  void pass_on(const Question&, Reply if_expired, Done<Reply>, AtLeader);
  void subscribe(std::uint64_t watch, const store::ClaimKey&) override;
  void unsubscribe(const store::OwnerId& owner) override { server_.unsubscribe(owner); }

  void asking() override;
  void parting(const store::ClaimKey&) override;
  void arrived(const Question&, const store::OwnerId&, store::GrantReply&) override;
  void arrived(const Question&, store::RenewReply&) override;
  void arrived(const store::ClaimKey&, const store::ReleaseReply&) override;
  void arrived(const store::ClaimKey&, const store::WithdrawReply&) override;

  // The session.
  Speaker speaker(std::uint64_t connection) const;
  void come();
  void start_anew();
  void beat_on();
  void send_beat();
  void reaches_replica(const Beat&);
  void reaches_leader(const Beat&);
  void send_back(const Beat&, Answer);
  void answered(const Beat&, Answer);
  void agreed(std::uint64_t connection, TimePoint sent);
  void leader_heard(TimePoint sent);
  Duration lease_for(TimePoint sent) const;
  Duration timeout() const { return Duration(plan().session_timeout); }

  SessionServer& server_;
  bool started_ = false;
  std::uint64_t session_ = 1;
  std::map<std::uint64_t, Speaker> speakers_;  // by connection
  bool opened_ = false;                        // over this connection
  std::optional<TimePoint> hello_;             // of it, once it was answered
  TimePoint heard_{};                          // when something last came over it
  std::deque<Contact> contacts_;               // over it, answered by the replica at least
  std::optional<TimePoint> leader_heard_;  // the leader heard of the session after this was sent
  std::map<store::OwnerId, store::LockName> leaving_;  // to be deleted while the session lives
  std::set<store::OwnerId> unheard_;                   // asked, and heard nothing since
};

}  // namespace holdfast::sim
