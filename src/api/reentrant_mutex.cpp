#include "holdfast/reentrant_mutex.hpp"

#include <system_error>

#include "api/reentrant_hold_state.hpp"
#include "api/reentrant_holds.hpp"
#include "api/thread_owner.hpp"

namespace holdfast {

Owner& ReentrantMutex::owner_of(const AcquireOptions& options) const {
  if (options.owner != nullptr) return *options.owner;
  return options_.owner != nullptr ? *options_.owner : detail::this_thread();
}

Result<ReentrantMutex::CellPtr> ReentrantMutex::enter(AcquireOptions options) const {
  Owner& owner = owner_of(options);
  Result<CellPtr> again = holds_->enter_again(name(), owner.id());
  if (!again || *again != nullptr) return again;
  options.owner = &owner;
  Result<Hold> hold = mutex_.acquire(std::move(options));
  if (!hold) return hold.error();
  return holds_->enter(name(), owner.id(), std::move(*hold));
}

ReentrantMutex::CellPtr ReentrantMutex::mine() const {
  return holds_->find(name(), owner_of(options_).id());
}

void ReentrantMutex::lock() const {
  if (const auto entered = enter(options_); !entered) {
    throw std::system_error(entered.error().code(), entered.error().text());
  }
}

bool ReentrantMutex::try_lock() const { return lock_within(Duration::zero()).has_value(); }

Result<void> ReentrantMutex::lock_within(Duration wait) const {
  AcquireOptions options = options_;
  options.wait = wait;
  const auto entered = enter(std::move(options));
  return entered ? Result<void>() : entered.error();
}

void ReentrantMutex::unlock() const noexcept {
  try {
    const CellPtr cell = mine();
    if (cell == nullptr) return;
    const auto left = holds_->leave(name(), owner_of(options_).id(), *cell);
    // Whether it was ours to the end is told by valid() and lost(): here is nobody to tell.
    if (left == detail::ReentrantHolds::Left::last) static_cast<void>(cell->hold.release());
  } catch (...) {
    // Out of memory on the way to the store. The count is right; the store learns it from the lease.
  }
}

Result<ReentrantHold> ReentrantMutex::acquire() const { return acquire(options_); }

Result<ReentrantHold> ReentrantMutex::acquire(AcquireOptions options) const {
  const std::uint64_t owner = owner_of(options).id();
  auto cell = enter(std::move(options));
  if (!cell) return cell.error();
  return ReentrantHold(
      std::make_unique<detail::ReentrantHoldState>(holds_, std::move(*cell), owner));
}

std::uint64_t ReentrantMutex::count() const {
  const CellPtr cell = mine();
  return cell != nullptr ? holds_->count(*cell) : 0;
}

std::optional<FencingToken> ReentrantMutex::fence() const {
  const CellPtr cell = mine();
  return cell != nullptr ? std::optional(cell->hold.fence()) : std::nullopt;
}

bool ReentrantMutex::valid() const {
  const CellPtr cell = mine();
  return cell != nullptr && cell->hold.valid();
}

std::stop_token ReentrantMutex::lost() const {
  const CellPtr cell = mine();
  return cell != nullptr ? cell->hold.lost() : std::stop_token();
}

}  // namespace holdfast
