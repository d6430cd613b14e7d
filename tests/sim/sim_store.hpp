// A lock server, and clients' connections to it over a network that lies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checker/history.hpp"
#include "holdfast/store/store.hpp"
#include "plan.hpp"
#include "store/memory/lock_table.hpp"
#include "world.hpp"

namespace holdfast::sim {

class SimStore;

// The store itself: always right, its clock is the true time. It remembers what the checker needs.
class SimServer {
 public:
  struct Grant {
    std::uint32_t client = 0;
    std::uint64_t claim = 0;
    std::uint64_t spare = 0;
    Time at = 0;
  };

  explicit SimServer(World& world) : world_(world) {}

  store::GrantReply try_grant(const store::GrantRequest&);
  store::RenewReply renew(const std::vector<store::Renewal>&);
  store::ReleaseReply release(const store::HoldKey&);
  store::WithdrawReply withdraw(const store::ClaimKey&);
  bool revoke_one(SeededRandom&);

  void subscribe(const store::OwnerId&, SimStore*, std::uint64_t watch);
  void unsubscribe(const store::OwnerId&);

  std::vector<check::Leftover> leftovers() const;
  const std::map<std::uint64_t, Grant>& grants() const { return grants_; }
  bool lost_place(const store::OwnerId& owner) const { return lost_place_.contains(owner); }

  // A claim may leave something behind only if a try_grant of it was executed, after whatever
  // cleaned up behind it, of which the client never heard.
  void heard_of(const store::OwnerId&, std::uint64_t attempt);
  std::uint64_t last_attempt() const { return last_attempt_; }
  std::vector<check::Leftover> ghosts_of(std::uint32_t client) const;

 private:
  struct Subscriber {
    SimStore* store;
    std::uint64_t watch;
  };
  TimePoint now() const { return TimePoint(Duration(world_.now())); }
  void note_grant(const store::OwnerId&, std::uint64_t fence, std::uint64_t spare);
  void note_place(const store::GrantRequest&);
  bool is_known(const store::LockName&, const store::OwnerId&) const;
  void deliver(const std::vector<store::Told>&);

  World& world_;
  store::LockTable table_;
  std::map<std::uint64_t, Grant> grants_;  // by fence
  std::set<store::OwnerId> lined_up_;
  std::set<store::OwnerId> lost_place_;
  std::uint64_t last_attempt_ = 0;
  std::map<store::OwnerId, std::uint64_t> unheard_;  // the latest attempt executed
  std::map<store::OwnerId, Subscriber> subscribers_;
};

// One client's view of it.
class SimStore final : public store::Store {
 public:
  SimStore(World&, Node&, SimServer&, const Plan&, SeededRandom&, FaultCounts&, check::History&);

  store::Capabilities capabilities() const override;
  void try_grant(const store::GrantRequest&, store::Call<store::GrantReply>) override;
  void renew(std::span<const store::Renewal>, store::Call<store::RenewReply>) override;
  void release(const store::HoldKey&, store::Call<store::ReleaseReply>) override;
  void withdraw(const store::ClaimKey&, store::Call<store::WithdrawReply>) override;
  store::WatchPtr watch(const store::ClaimKey&, store::WakeFn) override;
  void inspect(std::string_view, store::Call<store::InspectReply>) override;
  void force_release(const store::ForceRequest&, store::Call<store::ForceReply>) override;
  void close() override;

  // Faults of the connection.
  void reset();
  void cut_off(Time until) { cut_until_ = until; }

  void wake(std::uint64_t watch, const store::Wake&);  // sent by the server
  bool has_open_calls() const { return !open_.empty(); }
  bool messages_under_way() const { return under_way_ > 0; }

  // When the store's first refusal reached this client, and when the question left that was granted.
  Time lined_up(std::uint64_t claim) const;
  Time grant_sent(std::uint64_t fence) const;

 private:
  struct WatchHandle;
  struct Open {
    std::function<void()> break_off;  // answers no_answer
  };
  struct Way {  // what becomes of one message
    bool lost = false;
    Time delay = 0;
  };

  template <class Reply>
  void ask(const std::string& what, store::Call<Reply>, std::function<Reply()> execute,
           std::function<void(const Reply&, bool in_time)> seen);
  Way request_way();
  Way reply_way();
  bool strikes(Fault);
  bool cut() const { return world_.now() < cut_until_; }
  bool faulty() const { return world_.now() < plan_.faults_end; }
  std::string who() const { return "client " + std::to_string(node_.number()); }

  World& world_;
  Node& node_;
  SimServer& server_;
  const Plan& plan_;
  SeededRandom& random_;
  FaultCounts& counts_;
  check::History& history_;
  std::uint64_t last_id_ = 0;
  std::uint64_t connection_ = 1;
  Time cut_until_ = 0;
  Time last_arrival_ = 0;
  std::uint64_t under_way_ = 0;  // requests and replies that will arrive
  bool closed_ = false;
  std::map<std::uint64_t, Open> open_;
  std::map<std::uint64_t, store::WakeFn> watches_;
  std::map<std::uint64_t, Time> lined_up_;
  std::map<std::uint64_t, Time> grant_sent_;
};

}  // namespace holdfast::sim
