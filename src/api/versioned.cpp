#include "holdfast/versioned.hpp"

#include <utility>

#include "api/cell_desk.hpp"
#include "api/client_handle.hpp"
#include "api/errors.hpp"

namespace holdfast {

using detail::CellDesk;
using detail::error_about;
using detail::forked_error;
using store::CellKey;
using store::CellState;

namespace {

Result<CellKey> checked(const std::string& name) {
  auto good = store::LockName::checked(name);
  if (!good) return good.error();
  return CellKey{store::CellKind::value, std::move(*good)};
}

VersionedValue value_in(CellState state) { return {std::move(state.value), state.version}; }

}  // namespace

Result<VersionedValue> Versioned::read() const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  auto state = client_->cells().read(*key);
  if (!state) return state.error();
  return value_in(std::move(*state));
}

Result<std::uint64_t> Versioned::write(std::string_view value, std::uint64_t expected) const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  const auto outcome = client_->cells().write({*key, expected, std::string(value), {}});
  if (!outcome) return outcome.error();
  if (outcome->done) return outcome->state.version;
  return error_about(Errc::busy, key->name,
                     "it has version " + std::to_string(outcome->state.version) + ", not " +
                         std::to_string(expected) + "; read it again");
}

Result<VersionedValue> Versioned::update(const Change& change, const WaitOptions& options) const {
  if (client_->forked()) return forked_error();
  const auto key = checked(name_);
  if (!key) return key.error();
  CellDesk& desk = client_->cells();
  const TimePoint deadline = later(desk.driver().now(), options.wait);
  auto state = desk.read(*key);
  while (state) {
    if (options.stop.stop_requested()) {
      return error_about(Errc::cancelled, key->name,
                         "stop was requested before it could be written");
    }
    const VersionedValue before = value_in(std::move(*state));
    auto after = change(before);
    if (!after) return after.error();
    auto outcome = desk.write({*key, before.version, std::move(*after), {}});
    if (!outcome) return outcome.error();
    if (outcome->done) return value_in(std::move(outcome->state));
    if (desk.driver().now() >= deadline) {
      return error_about(Errc::timed_out, key->name,
                         "others were faster each time; give a longer wait");
    }
    state = std::move(outcome->state);
  }
  return state.error();
}

}  // namespace holdfast
