#include "holdfast/latch.hpp"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "api/cell_desk.hpp"
#include "api/client_handle.hpp"
#include "api/errors.hpp"

namespace holdfast {

using detail::Bell;
using detail::CellDesk;
using detail::error_about;
using detail::forked_error;
using store::CellKey;
using store::CellState;

namespace {

// A hint may be missing: then it takes this long.
constexpr Duration kLookEvery = std::chrono::seconds(2);
// A store that did not answer is asked again after this long.
constexpr Duration kAskAgain = std::chrono::milliseconds(100);

Result<CellKey> checked(const std::string& name) {
  auto good = store::LockName::checked(name);
  if (!good) return good.error();
  return CellKey{store::CellKind::latch, std::move(*good)};
}

Result<std::int64_t> count_in(const CellKey& key, const CellState& state) {
  if (state.version == 0) return 0;
  const auto count = detail::number_in(state);
  if (!count || *count < 0) {
    return error_about(Errc::store_corrupt, key.name,
                       "what the store keeps for this latch is no count");
  }
  return *count;
}

// What one who waits has seen of a latch.
class Sight {
 public:
  // Whether it is open, or was since the last look: within a round each version counts down by one at
  // least, so a count that is higher than that allows belongs to a later round.
  bool opened(const CellState& state, std::int64_t count) {
    const bool was_open =
        seen_ && count > count_ - static_cast<std::int64_t>(state.version - version_);
    seen_ = true;
    version_ = state.version;
    count_ = count;
    return count == 0 || was_open;
  }
  bool anything() const { return seen_; }
  std::int64_t count() const { return count_; }

 private:
  bool seen_ = false;
  std::uint64_t version_ = 0;
  std::int64_t count_ = 0;
};

Error not_opened(Errc why, const CellKey& key, const Sight& sight) {
  return error_about(why, key.name,
                     sight.anything()
                         ? "the latch is closed with " + std::to_string(sight.count()) + " to go"
                         : "the store has not said yet whether the latch is open");
}

Result<void> wait_until_open(CellDesk& desk, const CellKey& key, const WaitOptions& options) {
  runtime::Driver& driver = desk.driver();
  const TimePoint deadline = later(driver.now(), options.wait);
  TimePoint last_answer = driver.now();
  const auto bell = std::make_shared<Bell>();
  const std::stop_callback on_stop(options.stop, [&] { bell->ring(driver); });
  // Before the first look, so that no change falls between.
  const store::WatchPtr watch =
      options.wait > Duration::zero() ? desk.watch(key, bell) : store::WatchPtr();
  Sight sight;
  while (true) {
    const auto state = desk.look(key);
    const TimePoint now = driver.now();
    if (state) {
      const auto count = count_in(key, *state);
      if (!count) return count.error();
      if (sight.opened(*state, *count)) return {};
      last_answer = now;
    } else if (state.error() != Errc::unavailable || now >= later(last_answer, driver.patience())) {
      return state.error();
    }
    if (options.stop.stop_requested()) return not_opened(Errc::cancelled, key, sight);
    if (now >= deadline)
      return sight.anything() ? not_opened(Errc::timed_out, key, sight) : state.error();
    bell->wait(driver, std::min(deadline, later(now, state ? kLookEvery : kAskAgain)));
  }
}

}  // namespace

Result<void> Latch::set_count(std::int64_t count) const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  if (count < 0) {
    return error_about(Errc::invalid_argument, key->name, "a count is not less than 0");
  }
  CellDesk& desk = client_->cells();
  auto state = desk.read(*key);
  while (state) {
    const auto now = count_in(*key, *state);
    if (!now) return now.error();
    if (*now > 0) {
      return error_about(Errc::busy, key->name,
                         "the latch is closed with " + std::to_string(*now) +
                             " to go; it can be set again once it is open");
    }
    if (count == 0) return {};
    auto outcome = desk.write({*key, state->version, std::to_string(count), {}});
    if (!outcome) return outcome.error();
    if (outcome->done) return {};
    state = std::move(outcome->state);  // somebody else was faster
  }
  return state.error();
}

Result<std::int64_t> Latch::count_down(std::int64_t by) const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  if (by < 0) return error_about(Errc::invalid_argument, key->name, "a latch counts down, not up");
  const auto outcome = client_->cells().add({*key, -by, 0, {}});
  if (!outcome) return outcome.error();
  return count_in(*key, outcome->state);
}

Result<std::int64_t> Latch::count() const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  const auto state = client_->cells().read(*key);
  if (!state) return state.error();
  return count_in(*key, *state);
}

Result<bool> Latch::try_wait() const {
  const auto left = count();
  if (!left) return left.error();
  return *left == 0;
}

Result<void> Latch::wait(const WaitOptions& options) const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  return wait_until_open(client_->cells(), *key, options);
}

}  // namespace holdfast
