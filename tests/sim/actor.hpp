// A client and the callers in it: they take locks, use what the locks guard, give up, stall and die.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/claims.hpp"
#include "checker/history.hpp"
#include "plan.hpp"
#include "resource.hpp"
#include "runtime/driver.hpp"
#include "sim_store.hpp"
#include "world.hpp"

namespace holdfast::sim {

// Everything the actors of one schedule share.
struct Stage {
  World& world;
  const Plan& plan;
  const Selection& only;
  SimServer& server;
  Resource& resource;
  check::History& history;
  FaultLog& faults;
  std::vector<OpName>& ops;
};

class Actor {
 public:
  Actor(Stage&, std::uint32_t number, std::uint64_t seed);
  ~Actor();
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  void start();
  bool finished() const { return !node_.alive() || (callers_left_ == 0 && visits_.empty()); }
  bool left_out() const { return node_.alive() && !begun_; }  // none of its operations was selected
  bool busy() const;                                          // an operation is open

  // Faults.
  void pause(Time length);
  void suspend(Time length);  // with its host
  void crash();
  void close();
  void reset() { store_->reset(); }
  void cut_off(SimStore::Lost what, Time until) { store_->cut_off(what, until); }
  void lose_watches() { store_->lose_watches(); }
  void step_wall(Time by);

  Node& node() { return node_; }
  std::uint32_t host() const { return node_.number() % 2; }
  void fill_in(check::Acquire&) const;  // what only the store's side knows

 private:
  // One acquire and what follows from it.
  struct Visit {
    std::size_t record = 0;  // in history.acquires
    OpName op{};
    std::stop_source stop{};
    std::optional<Pending<Hold>> pending{};
    std::optional<Hold> hold{};
    store::Shape shape{};
    TimePoint valid_until{};  // as last seen
    Resource::Values read{};
    std::optional<std::size_t> instead_of{};  // the record of the visit whose hold it wants
  };
  using VisitRef = std::list<Visit>::iterator;

  void next_round(OpName);
  void acquire(const OpName&);
  detail::Wanted choose();
  VisitRef begin(const OpName&, std::string name, const detail::Wanted&, AcquireOptions);
  void await(VisitRef);
  void exchange(VisitRef, const store::Shape&);
  void give_up_sometime(VisitRef, Time lease);
  void acquired(VisitRef, Result<Hold>);
  void use(VisitRef);
  void verify(VisitRef);
  void write(VisitRef);
  void let_go(VisitRef);
  void leave(VisitRef);
  void look_at_holds();
  void look_for_ghosts();
  void end_validity(Visit&, Time at);
  check::Acquire& record(const Visit& visit) { return stage_.history.acquires[visit.record]; }
  Time message() { return random_.skewed(stage_.plan.shortest_delay, stage_.plan.longest_delay); }
  bool strikes(Fault);
  SlewedClock make_clock(std::uint32_t number);
  std::string who() const { return "client " + std::to_string(node_.number()); }

  Stage& stage_;
  SeededRandom random_;
  Node node_;
  NodeClock clock_;
  NodeLoop loop_;
  NodeCallbacks callbacks_;
  SimStore* store_ = nullptr;  // the driver's
  std::shared_ptr<runtime::Driver> driver_;
  std::shared_ptr<detail::ClientHandle> client_;
  std::uint32_t callers_left_ = 0;
  bool begun_ = false;
  bool closed_ = false;
  std::list<Visit> visits_;
};

}  // namespace holdfast::sim
