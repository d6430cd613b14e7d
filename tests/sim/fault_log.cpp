#include "fault_log.hpp"

namespace holdfast::sim {

void FaultLog::takes_place(std::uint64_t number, Fault fault, std::uint32_t client, bool inside) {
  counts_.hit(fault, inside);
  strikes_.push_back({number, fault, client, world_.now()});
  if (!world_.tracing()) return;
  const std::string whom =
      client == check::kStoreLane ? "" : " of client " + std::to_string(client);
  world_.trace("fault " + std::to_string(number), std::string(name_of(fault)) + whom);
}

}  // namespace holdfast::sim
