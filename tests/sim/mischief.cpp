#include "mischief.hpp"

#include <algorithm>

namespace holdfast::sim {

using check::Incident;
using check::kStoreLane;

namespace {

// The order matters to seeds: new ones go to the end.
constexpr Fault kKinds[] = {
    Fault::pause,       Fault::crash,          Fault::partition, Fault::reset,
    Fault::revoke,      Fault::stale_follower, Fault::close,     Fault::requests_cut,
    Fault::replies_cut, Fault::lost_watch,     Fault::vm_pause,  Fault::wall_step,
    Fault::election,    Fault::store_step,     Fault::amnesia,   Fault::deposed_leader,
};

constexpr bool is_final(Fault fault) { return fault == Fault::crash || fault == Fault::close; }

constexpr bool is_of_store(Fault fault) {
  return fault == Fault::revoke || fault == Fault::stale_follower || fault == Fault::election ||
         fault == Fault::store_step || fault == Fault::amnesia || fault == Fault::deposed_leader;
}

}  // namespace

void Mischief::start() {
  for (const Fault fault : kKinds) {
    if (stage_.plan.likelihood(fault) != 0) plan_next(fault);
  }
}

void Mischief::plan_next(Fault fault) {
  const auto rate = static_cast<Time>(stage_.plan.likelihood(fault));
  const Time gap = random_.skewed(0, stage_.plan.longest_lease() * 200 / rate);
  const Time when = stage_.world.now() + gap;
  if (when >= stage_.plan.faults_end) return;
  stage_.world.at(when, [this, fault] {
    strike(fault);
    if (!is_final(fault)) plan_next(fault);
  });
}

void Mischief::strike(Fault fault) {
  Actor& victim = *actors_[random_.below(actors_.size())];
  // One whose operations were left out takes its chance all the same: the others keep theirs.
  if (victim.finished() && !victim.left_out()) return;
  const Time length = random_.between(millis(1), stage_.plan.longest_lease() * 2);
  if (victim.finished()) return;
  const std::uint64_t number = stage_.faults.next_number();
  if (number == 0) return;
  const bool inside = victim.busy();
  if (fault == Fault::revoke && !stage_.server.revoke_one(random_)) return;
  if (fault == Fault::deposed_leader && !stage_.server.depose_leader(stage_.world.now() + length)) {
    return;
  }
  stage_.faults.takes_place(number, fault, is_of_store(fault) ? kStoreLane : victim.node().number(),
                            inside);
  last_ = std::max(last_, stage_.world.now());
  befall(fault, victim, length);
}

void Mischief::befall(Fault fault, Actor& victim, Time length) {
  const Time until = stage_.world.now() + length;
  const std::uint32_t client = victim.node().number();
  const auto lasts = [&](std::uint32_t lane, Incident what) {
    last_ = std::max(last_, until);
    stage_.faults.befell(lane, what, until, fault);
  };
  const auto happens = [&](std::uint32_t lane) {
    stage_.faults.befell(lane, Incident::other, stage_.world.now(), fault);
  };
  switch (fault) {
    case Fault::pause:
      victim.pause(length);
      return lasts(client, Incident::stopped);
    case Fault::vm_pause:
      return pause_host_of(victim, length);
    case Fault::crash:
      victim.crash();
      return stage_.faults.befell(client, Incident::dead, check::kNever, fault);
    case Fault::partition:
      victim.cut_off(SimStore::Lost::both, until);
      return lasts(client, Incident::cut_off);
    case Fault::requests_cut:
      victim.cut_off(SimStore::Lost::requests, until);
      return lasts(client, Incident::cut_off);
    case Fault::replies_cut:
      victim.cut_off(SimStore::Lost::replies, until);
      return lasts(client, Incident::cut_off);
    case Fault::reset:
      return victim.reset();
    case Fault::close:
      return victim.close();
    case Fault::lost_watch:
      return victim.lose_watches();
    case Fault::wall_step:
      // By anything between a blink and an hour.
      return victim.step_wall(either_way(random_.skewed(millis(1), millis(3'600'000))));
    case Fault::revoke:
      return happens(kStoreLane);
    case Fault::stale_follower:
      stage_.server.cut_off_replica(random_, until);
      return lasts(kStoreLane, Incident::other);
    case Fault::deposed_leader:
      return lasts(kStoreLane, Incident::other);
    case Fault::election:
      stage_.server.elect(until);
      return lasts(kStoreLane, Incident::other);
    case Fault::store_step:
      stage_.server.step_clock(either_way(length));
      return happens(kStoreLane);
    case Fault::amnesia:
      stage_.server.forget_everything();
      return happens(kStoreLane);
    default:
      return;
  }
}

void Mischief::pause_host_of(const Actor& victim, Time length) {
  for (const auto& each : actors_) {
    if (each->host() != victim.host() || !each->node().alive()) continue;
    each->suspend(length);
    stage_.faults.befell(each->node().number(), Incident::stopped, stage_.world.now() + length,
                         Fault::vm_pause);
  }
  last_ = std::max(last_, stage_.world.now() + length);
}

}  // namespace holdfast::sim
