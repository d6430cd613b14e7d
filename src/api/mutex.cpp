#include "holdfast/mutex.hpp"

#include "api/claims.hpp"

namespace holdfast {

Result<Hold> Mutex::acquire(AcquireOptions options) const {
  return detail::acquire(*client_, name_, {}, std::move(options));
}

Result<Hold> Mutex::try_acquire(AcquireOptions options) const {
  options.wait = Duration::zero();
  return acquire(std::move(options));
}

Pending<Hold> Mutex::async_acquire() const { return async_acquire(AcquireOptions()); }

Pending<Hold> Mutex::async_acquire(AcquireOptions options) const {
  return detail::async_acquire(*client_, name_, {}, options);
}

}  // namespace holdfast
