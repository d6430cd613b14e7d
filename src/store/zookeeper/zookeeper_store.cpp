#include "store/zookeeper/zookeeper_store.hpp"

#include <utility>

#include "store/zookeeper/census.hpp"
#include "store/zookeeper/examination.hpp"
#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/force.hpp"
#include "store/zookeeper/grant.hpp"
#include "store/zookeeper/partings.hpp"
#include "store/zookeeper/renewals.hpp"
#include "transport/insist.hpp"

namespace holdfast::store::zookeeper {

ZookeeperStore::Settings ZookeeperStore::settings_of(const Address& address) {
  return {.ground = {.layout = Layout(address.base, address.names_are_paths),
                     .fences = Fences(address.native_fences)},
          .servers = to_string(address),
          .asked_timeout = address.session};
}

ZookeeperStore::ZookeeperStore(std::unique_ptr<Tree> tree, const Surroundings& around,
                               Settings settings)
    : tree_(std::move(tree)),
      settings_(std::move(settings)),
      ground_(*tree_, around, settings_.ground),
      cells_(ground_) {
  tree_->listen(*this);
}

ZookeeperStore::~ZookeeperStore() { close(); }

// First what runs on the loop, then the tree, whose answers end all that is under way.
void ZookeeperStore::close() {
  if (closed_.exchange(true)) return;
  cells_.close();
  ground_.places.close();
  tree_->close();
}

Capabilities ZookeeperStore::capabilities() const {
  return {.mutex_any = true,
          .mutex_fifo = true,
          .shared = true,
          .downgrade = !ground_.fences.native(),
          .upgradeable = false,
          .permits = true,
          .cells = true,
          .hand_over = true,
          .inspect = true};
}

void ZookeeperStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  if (closed_) return call.answer(store_is_closed());
  zookeeper::try_grant(ground_, request, std::move(call));
}

void ZookeeperStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  if (renewals.size() > kMaxBatch) {
    return call.answer(
        NoAnswer{Errc::invalid_argument, false, "more renewals at once than Store::kMaxBatch"});
  }
  zookeeper::renew(ground_, renewals, std::move(call));
}

void ZookeeperStore::release(const HoldKey& hold, Call<ReleaseReply> call) {
  zookeeper::release(ground_, hold, std::move(call));
}

void ZookeeperStore::withdraw(const ClaimKey& claim, Call<WithdrawReply> call) {
  zookeeper::withdraw(ground_, claim, std::move(call));
}

WatchPtr ZookeeperStore::watch(const ClaimKey& claim, WakeFn wake) {
  return ground_.places.await(claim, std::move(wake));
}

void ZookeeperStore::inspect(std::string_view pattern, Call<InspectReply> call) {
  zookeeper::inspect(ground_, pattern, std::move(call));
}

void ZookeeperStore::force_release(const ForceRequest& request, Call<ForceReply> call) {
  zookeeper::force_release(ground_, request, std::move(call));
}

void ZookeeperStore::examine(Call<ExamineReply> call) {
  zookeeper::examine(ground_, {.asked_timeout = settings_.asked_timeout}, std::move(call));
}

std::string ZookeeperStore::place_of(Kind, const LockName& name) const {
  std::string place = "node " + printable(ground_.layout.lock(name));
  if (!settings_.servers.empty()) place += " on " + settings_.servers;
  return place;
}

void ZookeeperStore::fired(const std::string& path, Event event) {
  ground_.quiet.fired(path);
  ground_.places.fired(path, event);
  cells_.fired(path);
}

void ZookeeperStore::session_ended(std::int64_t session) {
  ground_.quiet.session_ended(session);
  ground_.places.session_ended(session);
  transport::insist([&] { cells_.session_ended(); });
}

}  // namespace holdfast::store::zookeeper
