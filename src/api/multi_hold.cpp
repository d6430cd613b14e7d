#include "holdfast/multi_hold.hpp"

#include <algorithm>

#include "api/multi_hold_state.hpp"
#include "runtime/fork_word.hpp"

namespace holdfast {

namespace detail {

MultiHoldState::MultiHoldState() : generation_(runtime::ForkWord::enter()) {}

MultiHoldState::~MultiHoldState() {
  // In a child nobody ends the callback that the parent was in when it forked: do not wait for it.
  if (!runtime::ForkWord::is_current(generation_)) static_cast<void>(losses_.release());
}

void MultiHoldState::add(std::size_t place, Hold hold) {
  losses_->emplace_back(hold.lost(), PassOn{lost_});
  places_.push_back(place);
  holds_.push_back(std::move(hold));
}

void MultiHoldState::arrange() {
  std::vector<std::size_t> taken(places_.size());  // when the one at each place was taken
  for (std::size_t i = 0; i < places_.size(); ++i) taken[places_[i]] = i;
  std::vector<Hold> given;
  given.reserve(holds_.size());
  for (const std::size_t i : taken) given.push_back(std::move(holds_[i]));
  holds_ = std::move(given);
  arranged_ = true;
}

const Hold* MultiHoldState::first_lost() const {
  const auto found =
      std::find_if(holds_.begin(), holds_.end(), [](const Hold& hold) { return !hold.valid(); });
  return found == holds_.end() ? nullptr : &*found;
}

std::vector<Error> MultiHoldState::release() {
  std::vector<Error> errors;
  for (std::size_t i = holds_.size(); i-- > 0;) {
    const Result<void> released = holds_[arranged_ ? places_[i] : i].release();
    if (!released) errors.push_back(released.error());
  }
  return errors;
}

}  // namespace detail

MultiHold::MultiHold(std::unique_ptr<detail::MultiHoldState> state) : state_(std::move(state)) {}
MultiHold::MultiHold(MultiHold&&) noexcept = default;
MultiHold& MultiHold::operator=(MultiHold&&) noexcept = default;
MultiHold::~MultiHold() = default;

std::span<const Hold> MultiHold::holds() const { return state_->holds(); }

bool MultiHold::valid() const { return state_ && state_->first_lost() == nullptr; }

TimePoint MultiHold::valid_until() const {
  TimePoint earliest = kNever;
  for (const Hold& hold : holds()) earliest = std::min(earliest, hold.valid_until());
  return earliest;
}

Duration MultiHold::remaining() const {
  if (!state_) return Duration::zero();
  Duration least = kForever;
  for (const Hold& hold : holds()) least = std::min(least, hold.remaining());
  return least;
}

std::stop_token MultiHold::lost() const { return state_->lost(); }

Result<void> MultiHold::release() {
  const std::vector<Error> errors = state_->release();
  return errors.empty() ? Result<void>() : errors.front();
}

}  // namespace holdfast
