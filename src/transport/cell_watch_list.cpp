#include "transport/cell_watch_list.hpp"

namespace holdfast::transport {

class CellWatchList::Subscription final : public store::Watch {
 public:
  Subscription(std::weak_ptr<State> state, State::Id id)
      : state_(std::move(state)), id_(std::move(id)) {}
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

store::WatchPtr CellWatchList::add(const store::CellKey& key, store::CellChangedFn changed) {
  State::Entry entry{std::make_shared<const store::CellChangedFn>(std::move(changed)), {}};
  const std::lock_guard lock(state_->mutex);
  State::Id id{key, ++state_->last};
  state_->entries.emplace(id, std::move(entry));
  return std::make_unique<Subscription>(state_, std::move(id));
}

std::vector<CellWatchList::Function> CellWatchList::seen(const store::CellKey& key,
                                                         std::uint64_t version) {
  std::vector<Function> found;
  const std::lock_guard lock(state_->mutex);
  for (auto at = state_->entries.lower_bound({key, 0});
       at != state_->entries.end() && at->first.first == key; ++at) {
    // Two who look at the same time may bring what they saw in any order; versions only grow.
    if (at->second.told && version <= *at->second.told) continue;
    at->second.told = version;
    found.push_back(at->second.changed);
  }
  return found;
}

std::vector<store::CellKey> CellWatchList::keys() const {
  std::vector<store::CellKey> keys;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [id, entry] : state_->entries) {
    if (keys.empty() || keys.back() != id.first) keys.push_back(id.first);
  }
  return keys;
}

bool CellWatchList::empty() const {
  const std::lock_guard lock(state_->mutex);
  return state_->entries.empty();
}

}  // namespace holdfast::transport
