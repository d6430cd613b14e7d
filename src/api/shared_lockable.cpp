#include "holdfast/shared_lockable.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "api/thread_owner.hpp"
#include "holdfast/store/lock_name.hpp"

namespace holdfast {

struct SharedLockable::State {
  struct Locked {
    Way way;
    Hold hold;
  };

  // Its threads are the owners: one of the caller's would be the same for all of them.
  State(SharedMutex lock, AcquireOptions how)
      : shared_mutex(std::move(lock)), options(std::move(how)) {
    options.owner = nullptr;
  }

  SharedMutex shared_mutex;
  AcquireOptions options;
  mutable std::mutex mutex;  // guards what is below; never held while the store is asked
  std::map<std::uint64_t, Locked> locked;  // by the thread's Owner

  // what(hold) of the calling thread's, or `otherwise`.
  template <class Value, class What>
  Value of_mine(Value otherwise, What what) const {
    const std::lock_guard guard(mutex);
    const auto mine = locked.find(detail::this_thread().id());
    return mine == locked.end() ? otherwise : what(mine->second.hold);
  }
};

SharedLockable::SharedLockable(SharedMutex mutex, AcquireOptions options)
    : state_(std::make_unique<State>(std::move(mutex), std::move(options))) {}

SharedLockable::~SharedLockable() = default;

Result<void> SharedLockable::lock_within(Way way, Duration wait) {
  if (fence()) {
    return Error(Errc::would_deadlock, "would_deadlock: \"" + store::printable(name()) +
                                           "\" is locked by this thread already; unlock it first");
  }
  AcquireOptions options = state_->options;
  options.wait = wait;
  auto hold = way == Way::alone ? state_->shared_mutex.acquire(std::move(options))
                                : state_->shared_mutex.acquire_shared(std::move(options));
  if (!hold) return hold.error();
  const std::lock_guard guard(state_->mutex);
  state_->locked.emplace(detail::this_thread().id(), State::Locked{way, std::move(*hold)});
  return {};
}

void SharedLockable::lock() { lock_within(Way::alone, state_->options.wait).value(); }

void SharedLockable::lock_shared() { lock_within(Way::shared, state_->options.wait).value(); }

void SharedLockable::unlock(Way way) noexcept {
  decltype(state_->locked)::node_type mine;
  {
    const std::lock_guard guard(state_->mutex);
    const auto found = state_->locked.find(detail::this_thread().id());
    if (found == state_->locked.end() || found->second.way != way) return;
    mine = state_->locked.extract(found);
  }
  // Whether it was ours to the end is told by valid() and lost(): here is nobody to tell.
  static_cast<void>(mine.mapped().hold.release());
}

std::string_view SharedLockable::name() const { return state_->shared_mutex.name(); }

bool SharedLockable::valid() const {
  return state_->of_mine(false, [](const Hold& hold) { return hold.valid(); });
}

std::optional<FencingToken> SharedLockable::fence() const {
  return state_->of_mine(std::optional<FencingToken>(),
                         [](const Hold& hold) { return std::optional(hold.fence()); });
}

std::stop_token SharedLockable::lost() const {
  return state_->of_mine(std::stop_token(), [](const Hold& hold) { return hold.lost(); });
}

}  // namespace holdfast
