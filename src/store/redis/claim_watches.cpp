#include "store/redis/claim_watches.hpp"

#include <new>
#include <utility>

#include "store/redis/keys.hpp"
#include "store/redis/wake_message.hpp"
#include "store/redis/wanted_channel.hpp"

namespace holdfast::store::redis {

class ClaimWatches::Subscription final : public Watch {
 public:
  // Under the state's mutex, so that nothing is told between the two.
  Subscription(const ClaimWatches& watches, const OwnerId& owner, Function wake)
      : own_channel_(watches.subscriber_, watches.own_channel_),
        state_(watches.state_),
        owner_(owner) {
    state_->entries[owner_].wake = std::move(wake);
  }

  ~Subscription() override {
    std::vector<std::string> redisson;
    {
      const std::lock_guard lock(state_->mutex);
      auto entry = state_->entries.extract(owner_);
      if (entry) redisson = std::move(entry.mapped().redisson);
    }
    leave(own_channel_.subscriber(), redisson);
  }

 private:
  const WantedChannel own_channel_;
  const std::shared_ptr<State> state_;
  const OwnerId owner_;
};

ClaimWatches::ClaimWatches(std::shared_ptr<Subscriber> subscriber, const ClientId& client)
    : subscriber_(std::move(subscriber)), client_(client), own_channel_(wake_channel(client)) {}

WatchPtr ClaimWatches::watch(const ClaimKey& claim, WakeFn wake) {
  auto function = std::make_shared<const WakeFn>(std::move(wake));
  const std::lock_guard lock(state_->mutex);
  return std::make_unique<Subscription>(*this, claim.owner, std::move(function));
}

void ClaimWatches::leave(Subscriber& subscriber, const std::vector<std::string>& channels) {
  for (const std::string& channel : channels) subscriber.leave(channel);
}

// They are noted and wanted under one lock: else the watch might end in between, and they would stay wanted for good.
void ClaimWatches::wait_for_another(const ClaimKey& claim) {
  std::vector<std::string> channels = redisson_channels(claim.kind, claim.name);
  const std::lock_guard lock(state_->mutex);
  const auto entry = state_->entries.find(claim.owner);
  if (entry == state_->entries.end() || !entry->second.redisson.empty()) return;
  std::size_t wanted = 0;
  try {
    for (; wanted < channels.size(); ++wanted) subscriber_->want(channels[wanted]);
  } catch (const std::bad_alloc&) {
    channels.resize(wanted);
    leave(*subscriber_, channels);
    throw;
  }
  entry->second.redisson = std::move(channels);
}

void ClaimWatches::wait_for_ours(const ClaimKey& claim) {
  std::vector<std::string> channels;
  {
    const std::lock_guard lock(state_->mutex);
    const auto entry = state_->entries.find(claim.owner);
    if (entry != state_->entries.end()) channels.swap(entry->second.redisson);
  }
  leave(*subscriber_, channels);
}

// One of ours is enough: it finds the lock free and takes it, or hands it to the head of the line. The others
// need not listen any more; should one of Redisson's be faster, that one of ours listens on. Needs no memory: channels
// that are noted nowhere would stay wanted for good.
ClaimWatches::Function ClaimWatches::listeners_wake(const std::string& channel) {
  Function wake;
  const std::lock_guard lock(state_->mutex);
  for (auto& [owner, entry] : state_->entries) {
    if (!entry.listens_to(channel)) continue;
    if (!wake) {
      wake = entry.wake;
    } else {
      leave(*subscriber_, entry.redisson);
      entry.redisson.clear();
    }
  }
  return wake;
}

void ClaimWatches::heard(const std::string& channel, const std::string& message) {
  Function wake;
  Wake what;
  if (channel == own_channel_) {
    const auto told = wake_in(message);
    if (!told) return;
    what = told->wake;
    const std::lock_guard lock(state_->mutex);
    const auto entry = state_->entries.find(OwnerId{client_, told->claim});
    if (entry != state_->entries.end()) wake = entry->second.wake;
  } else {
    wake = listeners_wake(channel);
  }
  if (wake) (*wake)(what);
}

void ClaimWatches::stands(const std::string& channel) {
  std::vector<Function> all;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [owner, entry] : state_->entries) {
      // They are joined in their order: with the last one all of them stand.
      const bool last = !entry.redisson.empty() && entry.redisson.back() == channel;
      if (channel == own_channel_ || last) all.push_back(entry.wake);
    }
  }
  for (const Function& wake : all) (*wake)(Wake{});
}

}  // namespace holdfast::store::redis
