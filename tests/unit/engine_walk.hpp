// Walks of an engine by chance: callers, clocks and a store that do whatever they can.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "unit/engine_probe.hpp"

namespace holdfast::core {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t roll(std::uint64_t sides) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % sides;
  }
  template <class T>
  T pick(const std::vector<T>& of) {
    return of[roll(of.size())];
  }

 private:
  std::uint64_t state_;
};

inline Want any_want(Dice& dice, const std::string& prefix) {
  using namespace std::chrono_literals;
  Want want;
  want.lock = prefix + dice.pick<std::string>({"a", "b"});
  want.wait = dice.pick<Duration>({0s, 1ms, 300ms, 5s, kForever, kForever});
  want.lease = dice.pick<Duration>({30s, 30s, 1s});
  want.renew = dice.roll(4) != 0;
  want.max_hold = dice.pick<Duration>({kForever, kForever, 20s, 700ms});
  want.order = dice.roll(4) == 0 ? Order::fifo : Order::any;
  want.owner = dice.roll(3);
  return want;
}

// Does one thing. The names of its locks begin with the prefix.
inline void any_step(EngineProbe& probe, Dice& dice, std::vector<OpId>& ops,
                     const std::string& prefix = {}) {
  using namespace std::chrono_literals;
  const std::vector<HoldCellPtr> holds = probe.live();
  const std::vector<store::CallId> open = probe.open_calls();
  const ClaimNo claim = 1 + dice.roll(ops.size() + 1);
  switch (dice.roll(16)) {
    case 0:
    case 1:
    case 2:
      ops.push_back(probe.acquire(any_want(dice, prefix)));
      break;
    case 3:
      if (!ops.empty()) probe.give_up(dice.pick(ops));
      break;
    case 4:
      if (!holds.empty()) probe.release(dice.pick(holds));
      break;
    case 5:
      if (!holds.empty()) probe.drop(dice.pick(holds));
      break;
    case 6:
      if (!holds.empty()) probe.verify(dice.pick(holds));
      break;
    case 7:
      if (dice.roll(8) == 0) probe.verify_all();
      break;
    case 8:
      probe.wake(claim, dice.pick<Duration>({0s, 1ms, 2s}));
      break;
    case 9:
      probe.offer(claim, dice.roll(100'000), dice.roll(3));
      break;
    case 10:
      probe.pass(dice.pick<Duration>({0s, 1ms, 50ms, 700ms, 3s, 12s}));
      break;
    case 11:
      if (dice.roll(8) == 0) probe.freeze(dice.pick<Duration>({100ms, 2s, 40s}));
      break;
    default:
      if (!open.empty()) probe.answer_anyhow(dice.pick(open), dice.roll(60));
      break;
  }
}

}  // namespace holdfast::core
