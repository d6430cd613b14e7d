// The store's side of a schedule, whatever family of stores it is of. It remembers what the checker
// needs to know.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "checker/history.hpp"
#include "fault_log.hpp"
#include "holdfast/store/store.hpp"
#include "plan.hpp"
#include "world.hpp"

namespace holdfast::sim {

class SimStore;

// What a client's connection to a server is made of. All of it outlives the connection.
struct Link {
  World& world;
  Node& node;
  const Plan& plan;
  SeededRandom& random;
  FaultLog& faults;
  check::History& history;
};

class SimServer {
 public:
  struct Grant {
    std::uint32_t client = 0;
    std::uint64_t claim = 0;
    std::uint64_t spare = 0;
    Time at = 0;
  };

  explicit SimServer(World& world) : world_(world) {}
  virtual ~SimServer() = default;
  SimServer(const SimServer&) = delete;
  SimServer& operator=(const SimServer&) = delete;

  static std::unique_ptr<SimServer> make(World&, const Plan&, std::uint64_t seed);

  virtual store::Capabilities capabilities() const = 0;
  virtual std::unique_ptr<SimStore> connect(const Link&) = 0;
  virtual bool revoke_one(SeededRandom&) = 0;  // false: there is nothing to revoke
  // Faults of a server that not every family has. One replica loses touch with the others until then,
  // and goes on answering; the same of the leader, and the others have a new one (false: there is nobody to
  // lead); there is no leader until then; the clock is set; everything is forgotten.
  virtual void cut_off_replica(SeededRandom&, Time) {}
  virtual bool depose_leader(Time) { return false; }
  virtual void elect(Time) {}
  virtual void step_clock(Time) {}
  virtual void forget_everything() {}

  virtual std::vector<check::Leftover> leftovers() const = 0;
  // What a client that wants nothing any more has left behind without a good reason.
  virtual std::vector<check::Leftover> ghosts_of(std::uint32_t client) const = 0;

  // By its own fence or by one handed on from it: nullptr if there is none.
  const std::pair<const std::uint64_t, Grant>* grant_of(std::uint64_t fence) const;
  bool lost_place(const store::OwnerId& owner) const { return lost_place_.contains(owner); }

 protected:
  World& world() const { return world_; }
  void note_grant(const store::OwnerId&, std::uint64_t fence, std::uint64_t spare);
  // Before a claim is looked at: does one that stood in line still stand there, or hold?
  void note_place(const store::GrantRequest&, bool known);

 private:
  World& world_;
  std::map<std::uint64_t, Grant> grants_;  // by fence
  std::set<store::OwnerId> lined_up_;
  std::set<store::OwnerId> lost_place_;
};

// "2:17": client and claim, for traces.
std::string number(const store::OwnerId&);

}  // namespace holdfast::sim
