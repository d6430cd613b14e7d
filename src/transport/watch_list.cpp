#include "transport/watch_list.hpp"

namespace holdfast::transport {

class WatchList::Subscription final : public store::Watch {
 public:
  Subscription(std::weak_ptr<State> state, State::Id id) : state_(std::move(state)), id_(id) {}
  ~Subscription() override {
    const auto state = state_.lock();
    if (!state) return;
    decltype(State::entries)::node_type ended;  // destroyed without the mutex: it may own anything
    const std::lock_guard lock(state->mutex);
    ended = state->entries.extract(id_);
  }

 private:
  std::weak_ptr<State> state_;
  State::Id id_;
};

store::WatchPtr WatchList::add(const store::ClaimKey& claim, store::WakeFn wake) {
  State::Entry entry{claim, std::make_shared<const store::WakeFn>(std::move(wake))};
  const std::lock_guard lock(state_->mutex);
  const State::Id id{claim.owner, ++state_->last};
  state_->entries.emplace(id, std::move(entry));
  return std::make_unique<Subscription>(state_, id);
}

std::vector<WatchList::Function> WatchList::find(const store::OwnerId& owner) const {
  std::vector<Function> found;
  const std::lock_guard lock(state_->mutex);
  for (auto at = state_->entries.lower_bound({owner, 0});
       at != state_->entries.end() && at->first.first == owner; ++at) {
    found.push_back(at->second.wake);
  }
  return found;
}

bool WatchList::has(const store::OwnerId& owner) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->entries.lower_bound({owner, 0});
  return at != state_->entries.end() && at->first.first == owner;
}

std::vector<store::ClaimKey> WatchList::claims() const {
  std::vector<store::ClaimKey> claims;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [id, entry] : state_->entries) {
    if (claims.empty() || claims.back().owner != entry.claim.owner) claims.push_back(entry.claim);
  }
  return claims;
}

bool WatchList::empty() const {
  const std::lock_guard lock(state_->mutex);
  return state_->entries.empty();
}

}  // namespace holdfast::transport
