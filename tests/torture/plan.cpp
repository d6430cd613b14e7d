#include "torture/plan.hpp"

#include <algorithm>

#include "support/seeded_random.hpp"

namespace holdfast::torture {
namespace {

struct Weight {
  Fault fault;
  std::uint64_t weight;
};

std::vector<Weight> weights_for(const Ground& ground) {
  std::vector<Weight> weights{{Fault::pause_short, 15}, {Fault::pause_long, 18},
                              {Fault::cancel, 15},      {Fault::close, 10},
                              {Fault::revoke, 12},      {Fault::hog, 4}};
  if (ground.can_kill) weights.push_back({Fault::kill, 18});
  if (ground.disturbances > 0) weights.push_back({Fault::store, 4 + 4 * ground.disturbances});
  return weights;
}

Fault choose(const std::vector<Weight>& weights, std::uint64_t sum, test::SeededRandom& random) {
  std::uint64_t drawn = random.below(sum);
  for (const Weight& each : weights) {
    if (drawn < each.weight) return each.fault;
    drawn -= each.weight;
  }
  return weights.back().fault;
}

Time length_of(Fault fault, Time lease, test::SeededRandom& random) {
  switch (fault) {
    case Fault::pause_short:
      return random.between(lease / 20, lease * 3 / 4);
    case Fault::pause_long:
      return random.between(lease * 5 / 4, lease * 5 / 2);
    case Fault::hog:
    case Fault::store:
      return random.between(lease / 6, lease * 3 / 2);
    default:
      return 0;
  }
}

}  // namespace

std::vector<PlannedFault> plan_of(const Ground& ground) {
  // Far from the streams of the workers, which begin with the seed itself.
  test::SeededRandom random(~ground.seed);
  std::vector<Weight> weights = weights_for(ground);
  std::uint64_t sum = 0;
  for (const Weight& each : weights) sum += each.weight;

  std::vector<PlannedFault> plan;
  for (std::uint64_t i = 0; i < ground.faults; ++i) {
    PlannedFault fault;
    // Every kind once, before chance decides: a short run has them all.
    const bool once_each = i < weights.size() + ground.disturbances;
    fault.fault = i < weights.size() ? weights[i].fault
                  : once_each        ? Fault::store
                                     : choose(weights, sum, random);
    fault.victim = static_cast<std::uint32_t>(random.below(ground.workers));
    fault.length = length_of(fault.fault, ground.lease, random);
    fault.which = static_cast<std::uint32_t>(
        i >= weights.size() && once_each ? i - weights.size() : random.below(ground.disturbances));
    plan.push_back(fault);
  }
  for (std::size_t i = plan.size(); i > 1; --i) std::swap(plan[i - 1], plan[random.below(i)]);
  for (std::uint64_t i = 0; i < plan.size(); ++i) {
    plan[i].at_op = ground.ops * 9 / 10 * (i + 1) / (plan.size() + 1);
  }
  return plan;
}

}  // namespace holdfast::torture
