#include "plan.hpp"

#include <algorithm>

namespace holdfast::sim {

Time Plan::longest_lease() const { return *std::max_element(leases.begin(), leases.end()); }

Time Plan::longest_memory() const {
  return std::max(longest_lease(), session_timeout * 5 / 4 + longest_delay);
}

std::int64_t Plan::largest_ppm() const {
  if (likelihood(Fault::bad_rate) != 0) return kBadRatePpm;
  return likelihood(Fault::slew) != 0 ? std::max(clock_ppm, kSlewPpm) : clock_ppm;
}

// Each schedule has only some of the faults: together they would drown each other.
Plan Plan::from_seed(std::uint64_t seed) {
  SeededRandom random(seed * 2 + 1);
  Plan plan;
  plan.seed = seed;
  plan.clients = static_cast<std::uint32_t>(random.between(2, 5));
  plan.names = random.chance(75) ? 1 : 2;
  plan.rounds = static_cast<std::uint32_t>(random.between(2, 5));
  plan.callers = static_cast<std::uint32_t>(random.between(1, 4));
  plan.leases.push_back(random.skewed(millis(150), millis(6000)));
  if (random.chance(30)) plan.leases.push_back(random.skewed(millis(150), millis(6000)));
  plan.shortest_delay = micros(20);
  plan.longest_delay = random.skewed(micros(100), millis(20));
  plan.in_order = random.chance(60);
  plan.fifo_percent = random.chance(50) ? 0 : random.chance(50) ? 100 : 50;
  plan.faults_end = plan.longest_lease() * random.between(3, 8);
  plan.answer_within = std::max(plan.longest_delay * 3, random.skewed(millis(20), millis(800)));
  plan.patience = random.chance(50) ? plan.answer_within * 3 : millis(60'000);
  plan.handoff_count = random.chance(25) ? 0 : static_cast<std::uint32_t>(random.between(1, 16));
  plan.handoff_time = random.skewed(millis(1), millis(400));
  plan.clock_ppm = random.chance(30) ? 0 : 4'900;
  // By the seed as well: two of five schedules are about other kinds of locks.
  if (seed % 5 == 3) plan.locks = Locks::shared_mutexes;
  if (seed % 5 == 4) plan.locks = Locks::semaphores;
  plan.permits = static_cast<std::uint32_t>(2 + seed / 5 % 3);
  // A third of all schedules, of each kind, is about sessions: a stream each, so nothing overtakes.
  if (seed % 3 == 2) {
    plan.family = Family::session;
    plan.in_order = true;
    plan.followers = static_cast<std::uint32_t>(random.between(1, 2));
    plan.session_timeout =
        std::max({random.between(plan.leases.front() / 2, plan.leases.front() * 2), millis(150),
                  plan.longest_delay * 12});
  }
  if (plan.has_later_faults()) plan.verify_percent = 40;
  if (random.chance(12)) return plan;  // a calm one
  for (std::uint32_t& each : plan.per_mille) {
    if (random.chance(40)) each = static_cast<std::uint32_t>(random.skewed(5, 200));
  }
  plan.leave_out_by_seed();
  // Short, or few would hold something for so long that their session ends elsewhere meanwhile.
  if (plan.likelihood(Fault::deposed_leader) != 0) {
    plan.session_timeout =
        std::max({plan.leases.front() / 4, millis(150), plan.longest_delay * 12});
  }
  return plan;
}

// Half of all schedules are as they were before there were any of these. In three of sixteen one
// premise of the promises is broken, and rules that rest on it are excused: those are kept apart.
bool Plan::has_later_faults() const {
  const auto sort = seed % 16;
  return (sort >= 2 && sort <= 6) || (sort >= 8 && sort <= 10);
}

std::optional<Fault> Plan::broken_premise() const {
  const auto sort = seed % 16;
  if (sort < 8 || sort > 10) return std::nullopt;
  // The clocks of session stores are of the kind that nobody sets, and they keep their data.
  if (sort == 10 || family == Family::session) return Fault::bad_rate;
  return sort == 8 ? Fault::store_step : Fault::amnesia;
}

// By the seed and not by chance: what concerns one family only, what ends too much, and what came later.
void Plan::leave_out_by_seed() {
  const bool session = family == Family::session;
  const auto only_if = [&](bool wanted, Fault fault) {
    if (!wanted) per_mille[static_cast<std::size_t>(fault)] = 0;
  };
  only_if(session, Fault::stale_follower);
  only_if(seed % 7 == 4 || seed % 7 == 0, Fault::close);
  const bool later = has_later_faults();
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    only_if(later || !came_later(fault), fault);
  }
  only_if(!session, Fault::duplicate);  // a stream has neither
  only_if(!session, Fault::reordered);
  only_if(session, Fault::election);
  only_if(session, Fault::deposed_leader);
  const auto broken = broken_premise();
  for (const Fault fault : {Fault::store_step, Fault::amnesia, Fault::bad_rate}) {
    only_if(fault == broken, fault);
  }
  only_if(broken != Fault::bad_rate, Fault::slew);
  if (!broken) return;
  std::uint32_t& likelihood = per_mille[static_cast<std::size_t>(*broken)];
  likelihood = std::max(likelihood, 50U);
}

}  // namespace holdfast::sim
