#include "schedule.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "actor.hpp"

namespace holdfast::sim {

namespace {

// Faults that befall a whole client, at moments of their own.
class Mischief {
 public:
  Mischief(Stage& stage, std::vector<std::unique_ptr<Actor>>& actors, SeededRandom& random)
      : stage_(stage), actors_(actors), random_(random) {}

  void start() {
    for (const Fault fault : {Fault::pause, Fault::crash, Fault::partition, Fault::reset,
                              Fault::revoke, Fault::stale_follower, Fault::close}) {
      if (stage_.plan.likelihood(fault) != 0) plan_next(fault);
    }
  }
  Time last() const { return last_; }

 private:
  void plan_next(Fault fault) {
    const auto rate = static_cast<Time>(stage_.plan.likelihood(fault));
    const Time gap = random_.skewed(0, stage_.plan.longest_lease() * 200 / rate);
    const Time when = stage_.world.now() + gap;
    if (when >= stage_.plan.faults_end) return;
    stage_.world.at(when, [this, fault] {
      strike(fault);
      if (fault != Fault::crash && fault != Fault::close) plan_next(fault);
    });
  }

  void strike(Fault fault) {
    Actor& victim = *actors_[random_.below(actors_.size())];
    if (victim.finished()) return;
    const Time lease = stage_.plan.longest_lease();
    const Time now = stage_.world.now();
    const bool inside = victim.busy();
    const Time length = random_.between(millis(1), lease * 2);
    switch (fault) {
      case Fault::pause:
        victim.pause(length);
        last_ = std::max(last_, now + length);
        break;
      case Fault::crash:
        victim.crash();
        break;
      case Fault::partition:
        victim.cut_off(now + length);
        last_ = std::max(last_, now + length);
        break;
      case Fault::reset:
        victim.reset();
        break;
      case Fault::revoke:
        if (!stage_.server.revoke_one(random_)) return;
        break;
      case Fault::close:
        victim.close();
        break;
      case Fault::stale_follower:
        if (!stage_.server.cut_off_replica(random_, now + length)) return;
        last_ = std::max(last_, now + length);
        break;
      default:
        return;
    }
    last_ = std::max(last_, now);
    stage_.counts.hit(fault, inside);
    if (stage_.world.tracing()) {
      stage_.world.trace("fault", std::string(kFaultNames[static_cast<std::size_t>(fault)]) +
                                      " of client " + std::to_string(victim.node().number()));
    }
  }

  Stage& stage_;
  std::vector<std::unique_ptr<Actor>>& actors_;
  SeededRandom& random_;
  Time last_ = 0;
};

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
  terms.drift_ppm = 2 * plan.clock_ppm;
  return terms;
}

}  // namespace

Verdict run_schedule(std::uint64_t seed, std::ostream* trace) {
  Verdict verdict;
  verdict.plan = Plan::from_seed(seed);
  const Plan& plan = verdict.plan;
  check::History history;
  World world(trace);
  const std::unique_ptr<SimServer> server = SimServer::make(world, plan, seed * 3 + 1);
  Resource resource(world, history);
  Stage stage{world, plan, *server, resource, history, verdict.faults};
  SeededRandom random(seed * 2);

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
  history.terms.served_by = enough;
  // Then rest: whatever is left after one lease stays for ever. Slow messages may still be under way.
  const Time rested = std::max(world.now(), history.terms.last_fault) + plan.longest_memory() * 4 +
                      plan.answer_within * 4;
  world.run_until(rested);
  history.terms.ended = rested;
  for (const check::Leftover& each : server->leftovers()) history.leftovers.push_back(each);
  resource.finish();
  for (check::Acquire& entry : history.acquires) actors[entry.client - 1]->fill_in(entry);
  for (const auto& actor : actors) actor->node().kill();
  world.clear();

  verdict.report = check::check(history);
  verdict.events = world.events();
  if (trace != nullptr) *trace << check::to_text(verdict.report);
  return verdict;
}

}  // namespace holdfast::sim
