#include "holdfast/reentrant_hold.hpp"

#include "api/reentrant_hold_state.hpp"
#include "holdfast/store/lock_name.hpp"

namespace holdfast {

namespace detail {

namespace {

Error released_before(std::string_view name) {
  Error::Detail detail;
  detail.code = Errc::not_owner;
  detail.lock = name;
  detail.text = "not_owner: \"" + store::printable(name) + "\": this entry was released before";
  return Error(std::move(detail));
}

}  // namespace

// The last entry takes the cell with it, whose Hold posts the release.
ReentrantHoldState::~ReentrantHoldState() {
  if (!released_.exchange(true)) all_->leave(hold().name(), owner_, *cell_);
}

Result<void> ReentrantHoldState::release() {
  if (released_.exchange(true)) return released_before(hold().name());
  switch (all_->leave(hold().name(), owner_, *cell_)) {
    case ReentrantHolds::Left::one_valid:
      return {};
    case ReentrantHolds::Left::one_lost:
      return hold().verify();            // tells the reason, without asking the store
    case ReentrantHolds::Left::nothing:  // forked, or unlocked too often: the Hold knows
    case ReentrantHolds::Left::last:
      break;
  }
  return cell_->hold.release();
}

}  // namespace detail

ReentrantHold::ReentrantHold(std::unique_ptr<detail::ReentrantHoldState> state)
    : state_(std::move(state)) {}
ReentrantHold::ReentrantHold(ReentrantHold&&) noexcept = default;
ReentrantHold& ReentrantHold::operator=(ReentrantHold&&) noexcept = default;
ReentrantHold::~ReentrantHold() = default;

std::string_view ReentrantHold::name() const { return state_->hold().name(); }
FencingToken ReentrantHold::fence() const { return state_->hold().fence(); }
std::uint64_t ReentrantHold::count() const { return entered() ? state_->count() : 0; }
bool ReentrantHold::valid() const { return entered() && state_->hold().valid(); }
TimePoint ReentrantHold::valid_until() const { return state_->hold().valid_until(); }
Duration ReentrantHold::remaining() const {
  return entered() ? state_->hold().remaining() : Duration::zero();
}
std::stop_token ReentrantHold::lost() const { return state_->hold().lost(); }
Result<void> ReentrantHold::release() { return state_->release(); }

bool ReentrantHold::entered() const { return state_ && !state_->released(); }

}  // namespace holdfast
