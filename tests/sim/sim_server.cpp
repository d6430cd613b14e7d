#include "sim_server.hpp"

#include "lease_server.hpp"
#include "session_server.hpp"
#include "sim_store.hpp"

namespace holdfast::sim {

std::unique_ptr<SimServer> SimServer::make(World& world, const Plan& plan, std::uint64_t seed) {
  if (plan.family == Plan::Family::session) {
    return std::make_unique<SessionServer>(world, plan, seed);
  }
  return std::make_unique<LeaseServer>(world);
}

void SimServer::note_grant(const store::OwnerId& owner, std::uint64_t fence, std::uint64_t spare) {
  const auto client = static_cast<std::uint32_t>(owner.client.low);
  grants_.try_emplace(fence, Grant{client, owner.claim, spare, world_.now()});
}

const std::pair<const std::uint64_t, SimServer::Grant>* SimServer::grant_of(
    std::uint64_t fence) const {
  const auto above = grants_.upper_bound(fence);
  return above == grants_.begin() ? nullptr : &*std::prev(above);
}

void SimServer::note_place(const store::GrantRequest& request, bool known) {
  if (!request.line_up) return;
  const bool first = lined_up_.insert(request.owner).second;
  if (!first && !known) lost_place_.insert(request.owner);
}

std::string number(const store::OwnerId& owner) {
  return std::to_string(owner.client.low) + ":" + std::to_string(owner.claim);
}

}  // namespace holdfast::sim
