// An engine to which memory is refused now and then, wherever it asks for some.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "failing_memory/failing_memory.hpp"
#include "support/effort.hpp"
#include "unit/engine_walk.hpp"

namespace holdfast::test {
namespace {

using core::Dice;
using core::EngineProbe;

// Takes a lock that others may share, or exchanges such a hold for another.
void any_sharing(EngineProbe& probe, Dice& dice, std::vector<core::OpId>& ops) {
  core::Want want;
  want.lock = "a lock that is shared, with a long name";
  want.kind = store::Kind::shared_mutex;
  want.shape = dice.pick<store::Shape>(
      {store::Shape::shared(), store::Shape::upgradeable(), store::Shape::exclusive()});
  want.wait = dice.pick<Duration>({Duration::zero(), std::chrono::seconds(1), kForever});
  for (const core::HoldCellPtr& hold : probe.live()) {
    if (hold->kind == want.kind && dice.roll(2) == 0) want.instead_of = hold;
  }
  ops.push_back(probe.acquire(want));
}

// A walk on which one request fails in every other event. The store of a walk keeps no promise; in the
// end everybody was told once, and nothing is left in the engine or on its agenda.
void walk(std::uint64_t seed, int& failures) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  std::optional<FailingMemory> memory;
  EngineProbe probe;
  probe.before_event = [&] {
    if (dice.roll(2) == 0) memory.emplace(1 + static_cast<int>(dice.roll(25)));
  };
  probe.after_event = [&] {
    if (memory && memory->failed()) ++failures;
    memory.reset();
  };
  std::vector<core::OpId> ops;
  for (int step = 0; step < 200; ++step) {
    probe.random.value = dice.roll(1'000'000'000);
    if (dice.roll(10) == 0) any_sharing(probe, dice, ops);
    any_step(probe, dice, ops, seed % 2 == 0 ? "a name that is longer than a short string " : "");
  }
  probe.before_event = nullptr;
}

TEST(EngineMemory, WhereverItLacksEverybodyIsToldOnceAndNothingIsLeft_F044) {
  int failures = 0;
  const auto walks = static_cast<std::uint64_t>(times_from("HOLDFAST_MEMORY_WALKS", 300));
  for (std::uint64_t seed = 1; seed <= walks && !testing::Test::HasFailure(); ++seed) {
    walk(seed, failures);
  }
  EXPECT_GT(failures, 1000);
}

}  // namespace
}  // namespace holdfast::test
