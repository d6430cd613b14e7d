#include "holdfast/semaphore.hpp"

#include "api/claims.hpp"

namespace holdfast {

namespace {

detail::Wanted wanted(std::uint32_t take, const SemaphoreOptions& options) {
  return {.kind = store::Kind::semaphore, .shape = store::Shape::permits(take, options.permits)};
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

}  // namespace holdfast
