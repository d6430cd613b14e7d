#include "schedule.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "actor.hpp"
#include "mischief.hpp"

namespace holdfast::sim {

namespace {

// What was premised and what was not, by what really happened.
check::Assumptions assumptions_of(const FaultCounts& faults) {
  check::Assumptions assumptions;
  assumptions.timing = faults[Fault::store_step].hits + faults[Fault::bad_rate].hits == 0;
  assumptions.store_keeps_data = faults[Fault::amnesia].hits == 0;
  return assumptions;
}

check::Terms terms_of(const Plan& plan, Time last_fault) {
  check::Terms terms;
  terms.last_fault = last_fault;
  terms.longest_lease = plan.longest_memory();
  // Calm: a release, a wake, a confirmation, and a retry that crossed them; with sessions, each by way
  // of the leader and once more if it came before the session was known. Else a lease or a session
  // has to end, and somebody has to look again after the longest rest.
  const bool session = plan.family == Plan::Family::session;
  terms.served_within = plan.calm()
                            ? plan.longest_delay * (session ? 16 : 8) + millis(session ? 30 : 10)
                            : plan.longest_memory() * 3 + plan.answer_within * 4 + millis(6000);
  terms.slack = plan.answer_within * 2 + millis(20);
  terms.jitter = millis(1);
  terms.drift_ppm = 2 * plan.largest_ppm();
  return terms;
}

}  // namespace

const check::Violation* first_violation(const check::Report& report) {
  for (const check::Violation& each : report.violations) {
    if (each.counts) return &each;
  }
  return nullptr;
}

Verdict run_schedule(std::uint64_t seed, std::ostream* trace, const Selection& only) {
  Verdict verdict;
  verdict.plan = Plan::from_seed(seed);
  const Plan& plan = verdict.plan;
  check::History& history = verdict.history;
  World world(trace);
  FaultLog faults(world, only);
  const std::uint64_t dice = only.throw_of_dice << 32U;
  const std::unique_ptr<SimServer> server = SimServer::make(world, plan, seed * 3 + 1 + dice);
  Resource resource(world, history);
  Stage stage{world, plan, only, *server, resource, history, faults, verdict.ops};
  SeededRandom random(seed * 2 + dice);

  std::vector<std::unique_ptr<Actor>> actors;
  for (std::uint32_t i = 1; i <= plan.clients; ++i) {
    actors.push_back(std::make_unique<Actor>(stage, i, random.next()));
  }
  for (const auto& actor : actors) actor->start();
  Mischief mischief(stage, actors, random);
  mischief.start();

  // Until everybody has had their turns, or far longer than that could take.
  const Time enough = plan.faults_end + plan.longest_memory() * 200 + millis(120'000);
  world.run_until(enough, [&] {
    return world.now() >= plan.faults_end &&
           std::all_of(actors.begin(), actors.end(),
                       [](const auto& each) { return each->finished(); });
  });
  history.terms = terms_of(plan, std::max(plan.faults_end, mischief.last()));
  history.terms.assumptions = assumptions_of(faults.counts());
  history.terms.served_by = enough;
  // Then rest: whatever is left after one lease stays for ever. Slow messages may still be under way.
  const Time rested = std::max(world.now(), history.terms.last_fault) + plan.longest_memory() * 4 +
                      plan.answer_within * 4;
  world.run_until(rested);
  history.terms.ended = rested;
  for (const check::Leftover& each : server->leftovers()) history.leftovers.push_back(each);
  resource.finish();
  for (check::Acquire& entry : history.acquires) actors[entry.client - 1]->fill_in(entry);
  for (check::Verification& entry : history.verifications) {
    const auto* const grant = server->grant_of(entry.grant_fence);
    if (grant != nullptr) entry.grant_fence = grant->first;
  }
  for (const auto& actor : actors) actor->node().kill();
  world.clear();

  verdict.report = check::check(history);
  verdict.events = world.events();
  verdict.faults = faults.counts();
  verdict.strikes = faults.take_strikes();
  verdict.befell = faults.take_befell();
  if (trace != nullptr) *trace << check::to_text(verdict.report);
  return verdict;
}

}  // namespace holdfast::sim
