// The family of stores that keep a lease for each hold (Redis, SQL, a file): one table, one clock,
// and every message counts by itself.
#pragma once

#include <map>
#include <vector>

#include "sim_server.hpp"
#include "sim_store.hpp"
#include "store/memory/lock_table.hpp"

namespace holdfast::sim {

class LeaseStore;

// Always right. Its clock is the true time unless it is set; its fences do not start again if it
// forgets everything, since they are at least as high as the time.
class LeaseServer final : public SimServer {
 public:
  using SimServer::SimServer;

  store::Capabilities capabilities() const override;
  std::unique_ptr<SimStore> connect(const Link&) override;
  bool revoke_one(SeededRandom&) override;
  void step_clock(Time by) override { clock_ahead_ += by; }
  void forget_everything() override;
  std::vector<check::Leftover> leftovers() const override;
  std::vector<check::Leftover> ghosts_of(std::uint32_t client) const override;

  store::GrantReply try_grant(const store::GrantRequest&);
  store::RenewReply renew(const std::vector<store::Renewal>&);
  store::ReleaseReply release(const store::HoldKey&);
  store::WithdrawReply withdraw(const store::ClaimKey&);

  void subscribe(const store::OwnerId&, SimStore*, std::uint64_t watch);
  void unsubscribe(const store::OwnerId& owner) { subscribers_.erase(owner); }

  // A claim may leave something behind only if a try_grant of it was executed, after whatever
  // cleaned up behind it, of which the client never heard.
  void heard_of(const store::OwnerId&, std::uint64_t attempt);
  std::uint64_t last_attempt() const { return last_attempt_; }

 private:
  struct Subscriber {
    SimStore* store;
    std::uint64_t watch;
  };
  TimePoint now() const { return TimePoint(Duration(world().now() + clock_ahead_)); }
  // Whether a claim stands in line or holds.
  enum class Revoked : std::uint8_t { counts, is_gone };
  bool is_known(const store::LockName&, const store::OwnerId&, Revoked) const;
  void deliver(const std::vector<store::Told>&);

  store::LockTable table_;
  Time clock_ahead_ = 0;
  std::vector<LeaseStore*> stores_;
  std::map<store::OwnerId, int> repeats_;  // by a planted bug only
  std::uint64_t last_attempt_ = 0;
  std::map<store::OwnerId, std::uint64_t> unheard_;  // the latest attempt executed
  std::map<store::OwnerId, Subscriber> subscribers_;
};

// One client's view of it.
class LeaseStore final : public SimStore {
 public:
  LeaseStore(const Link& link, LeaseServer& server) : SimStore(link), server_(server) {}
  store::Capabilities capabilities() const override { return server_.capabilities(); }
  void server_restarted();

 private:
  void execute(const Question&, const store::GrantRequest&, Done<store::GrantReply>) override;
  void execute(const Question&, const std::vector<store::Renewal>&,
               Done<store::RenewReply>) override;
  void execute(const Question&, const store::HoldKey&, Done<store::ReleaseReply>) override;
  void execute(const Question&, const store::ClaimKey&, Done<store::WithdrawReply>) override;
  void arrived(const Question&, const store::OwnerId&, store::GrantReply&) override;
  void subscribe(std::uint64_t watch, const store::ClaimKey&) override;
  void unsubscribe(const store::OwnerId&) override;

  LeaseServer& server_;
  std::map<std::uint64_t, std::uint64_t> attempts_;  // by question
};

}  // namespace holdfast::sim
