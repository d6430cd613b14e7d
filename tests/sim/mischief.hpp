// Faults that befall a whole client or the store, at moments of their own.
#pragma once

#include <memory>
#include <vector>

#include "actor.hpp"

namespace holdfast::sim {

class Mischief {
 public:
  using Actors = std::vector<std::unique_ptr<Actor>>;
  Mischief(Stage& stage, Actors& actors, SeededRandom& random)
      : stage_(stage), actors_(actors), random_(random) {}

  void start();
  Time last() const { return last_; }  // when the last of them was over

 private:
  void plan_next(Fault);
  void strike(Fault);
  void befall(Fault, Actor& victim, Time length);
  void pause_host_of(const Actor&, Time length);
  Time either_way(Time by) { return random_.chance(50) ? by : -by; }

  Stage& stage_;
  Actors& actors_;
  SeededRandom& random_;
  Time last_ = 0;
};

}  // namespace holdfast::sim
