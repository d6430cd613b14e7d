#include "holdfast/semaphore.hpp"

#include <utility>

#include "api/cell_desk.hpp"
#include "api/claims.hpp"
#include "api/client_handle.hpp"
#include "api/errors.hpp"

namespace holdfast {

using store::CellKey;

namespace {

detail::Wanted wanted(std::uint32_t take, const SemaphoreOptions& options) {
  return {.kind = store::Kind::semaphore, .shape = store::Shape::permits(take, options.permits)};
}

Result<CellKey> size_cell(const std::string& name) {
  auto good = store::LockName::checked(name);
  if (!good) return good.error();
  return CellKey{store::CellKind::size, std::move(*good)};
}

}  // namespace

Result<Hold> Semaphore::acquire(std::uint32_t permits, AcquireOptions options) const {
  return detail::acquire(*client_, name_, wanted(permits, options_), std::move(options));
}

Result<Hold> Semaphore::try_acquire(std::uint32_t permits, AcquireOptions options) const {
  options.wait = Duration::zero();
  return acquire(permits, std::move(options));
}

Pending<Hold> Semaphore::async_acquire(std::uint32_t permits) const {
  return async_acquire(permits, AcquireOptions());
}

Pending<Hold> Semaphore::async_acquire(std::uint32_t permits, AcquireOptions options) const {
  return detail::async_acquire(*client_, name_, wanted(permits, options_), options);
}

Result<void> Semaphore::set_size(std::uint32_t permits) const {
  if (client_->forked()) return detail::forked_error();
  const auto key = size_cell(name_);
  if (!key) return key.error();
  if (permits < 1 || permits > kMaxPermits) {
    return detail::error_about(Errc::invalid_argument, key->name,
                               "a semaphore has 1 to " + std::to_string(kMaxPermits) + " permits");
  }
  detail::CellDesk& desk = client_->cells();
  auto state = desk.read(*key);
  while (state) {
    auto outcome = desk.write({*key, state->version, std::to_string(permits), {}});
    if (!outcome) return outcome.error();
    if (outcome->done) return {};
    state = std::move(outcome->state);  // somebody else was faster: the last one counts
  }
  return state.error();
}

Result<std::uint32_t> Semaphore::size() const {
  if (client_->forked()) return detail::forked_error();
  const auto key = size_cell(name_);
  if (!key) return key.error();
  const auto state = client_->cells().read(*key);
  if (!state) return state.error();
  if (state->version == 0) return options_.permits;
  const auto size = detail::number_in(*state);
  if (!size || *size < 1 || *size > kMaxPermits) {
    return detail::error_about(Errc::store_corrupt, key->name,
                               "what the store keeps for this semaphore is no size");
  }
  return static_cast<std::uint32_t>(*size);
}

}  // namespace holdfast
