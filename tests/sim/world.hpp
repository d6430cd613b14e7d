// A world in which time is a number: one queue of events, many machines with clocks of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "checker/history.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/task.hpp"
#include "runtime/callbacks.hpp"
#include "slewed_clock.hpp"
#include "support/seeded_random.hpp"

namespace holdfast::sim {

using check::kNever;  // a Time is in nanoseconds since the world began: the true time

constexpr Time micros(std::int64_t n) { return n * 1'000; }
constexpr Time millis(std::int64_t n) { return n * 1'000'000; }

using test::SeededRandom;

// A machine: it runs, is paused, or is dead. While it is paused its events wait; its clock does not.
class Node {
 public:
  Node(std::uint32_t number, SlewedClock clock) : number_(number), clock_(std::move(clock)) {}

  std::uint32_t number() const { return number_; }
  bool alive() const { return alive_; }
  void kill() { alive_ = false; }
  void pause_until(Time when) { paused_until_ = std::max(paused_until_, when); }
  Time paused_until() const { return paused_until_; }

  TimePoint local(Time at) const { return TimePoint(Duration(clock_.local(at) + misread_)); }
  Time true_time(TimePoint) const;  // the first at which its clock says at least that

  // The wall clock is another one, that nothing should depend on.
  TimePoint wall(Time at) const { return TimePoint(Duration(clock_.local(at) + wall_ahead_)); }
  void step_wall(Time by);
  void asleep_for(Time length);  // with its whole host

  Task after_task{};  // looks at what an event changed

 private:
  std::uint32_t number_;
  SlewedClock clock_;
  Time wall_ahead_ = 0;
  Time misread_ = 0;  // by a planted bug only
  bool alive_ = true;
  Time paused_until_ = 0;
};

class World {
 public:
  explicit World(std::ostream* trace) : trace_(trace) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { clear(); }

  Time now() const { return now_; }
  void at(Time when, Task task) { add(when, nullptr, std::move(task)); }
  void at(Node& node, Time when, Task task) { add(when, &node, std::move(task)); }

  // Runs everything up to and including that time.
  void run_until(Time);
  // Runs until `enough()` or that time.
  template <class Enough>
  void run_until(Time limit, Enough enough) {
    while (!enough() && next_time() <= limit) step();
  }
  void clear();

  bool tracing() const { return trace_ != nullptr; }
  void trace(const std::string& who, const std::string& what);
  std::uint64_t events() const { return done_; }

 private:
  struct Event {
    Node* node;
    Task task;
  };
  void add(Time when, Node* node, Task task);
  Time next_time() const { return queue_.empty() ? kNever : queue_.begin()->first.first; }
  void step();

  std::ostream* trace_;
  Time now_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;
  std::map<std::pair<Time, std::uint64_t>, Event> queue_;
};

// ---- what a client is given to live on ----

class NodeClock final : public store::Clock {
 public:
  NodeClock(const World& world, const Node& node) : world_(world), node_(node) {}
  TimePoint now() const override { return node_.local(world_.now()); }
  WallTime wall_now() const override;

 private:
  const World& world_;
  const Node& node_;
};

class NodeLoop final : public store::Loop {
 public:
  NodeLoop(World& world, Node& node, SeededRandom& random)
      : world_(world), node_(node), random_(random) {}
  void post(Task task) override { world_.at(node_, world_.now(), std::move(task)); }
  store::TimerId call_at(TimePoint, Task) override;
  void cancel(store::TimerId) override {}  // the driver never does
  void watch_fd(int, std::uint32_t, Ready*) override {}

 private:
  World& world_;
  Node& node_;
  SeededRandom& random_;
};

class NodeCallbacks final : public runtime::Callbacks {
 public:
  NodeCallbacks(World& world, Node& node, SeededRandom& random)
      : world_(world), node_(node), random_(random) {}
  void post(Task) override;
  bool on_this_thread() const override { return false; }

 private:
  World& world_;
  Node& node_;
  SeededRandom& random_;
  Time last_ = 0;  // in order
};

}  // namespace holdfast::sim
