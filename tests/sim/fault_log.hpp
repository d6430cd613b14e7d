// Which faults of a schedule take place, and what there is to tell about them.
#pragma once

#include <vector>

#include "checker/timeline.hpp"
#include "faults.hpp"
#include "selection.hpp"
#include "world.hpp"

namespace holdfast::sim {

struct Strike {
  std::uint64_t number = 0;
  Fault fault{};
  std::uint32_t client = 0;  // or check::kStoreLane
  Time at = 0;
};

class FaultLog {
 public:
  FaultLog(World& world, const Selection& only) : world_(world), only_(only) {}

  // Every fault that comes up has a number, whether it takes place or is left out: the others keep
  // theirs. 0: this one is left out.
  std::uint64_t next_number() {
    const std::uint64_t number = ++last_number_;
    return only_.has_fault(number) ? number : 0;
  }
  void takes_place(std::uint64_t number, Fault, std::uint32_t client, bool inside);
  // Both at once; false: it is left out.
  bool strikes(Fault fault, std::uint32_t client, bool inside) {
    const std::uint64_t number = next_number();
    if (number != 0) takes_place(number, fault, client, inside);
    return number != 0;
  }
  // For pictures.
  void befell(std::uint32_t client, check::Incident what, Time until, Fault fault) {
    befell_.push_back({client, what, world_.now(), until, std::string(name_of(fault))});
  }

  const FaultCounts& counts() const { return counts_; }
  std::vector<Strike> take_strikes() { return std::move(strikes_); }
  std::vector<check::Befell> take_befell() { return std::move(befell_); }

 private:
  World& world_;
  const Selection& only_;
  std::uint64_t last_number_ = 0;
  FaultCounts counts_;
  std::vector<Strike> strikes_;
  std::vector<check::Befell> befell_;
};

}  // namespace holdfast::sim
