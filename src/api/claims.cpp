#include "api/claims.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "api/acquire_op.hpp"
#include "api/errors.hpp"
#include "core/explain.hpp"
#include "holdfast/owner.hpp"

namespace holdfast::detail {

namespace {

// What the engine is asked, or why that makes no sense.
Result<core::AcquireWanted> checked(std::string_view name, const Wanted& what,
                                    const AcquireOptions& options) {
  auto lock = store::LockName::checked(name);
  if (!lock) return lock.error();
  if (options.lease < kMinLease || options.lease > kMaxLease) {
    return error_about(Errc::invalid_lease, *lock, "a lease is between 100 ms and 24 h");
  }
  if (options.max_hold <= Duration::zero()) {
    return error_about(Errc::invalid_argument, *lock, "max_hold must be more than 0");
  }
  if (options.reason.size() > kMaxReason) {
    return error_about(Errc::invalid_argument, *lock, "a reason is at most 1024 bytes");
  }
  core::AcquireWanted wanted;
  wanted.kind = what.kind;
  wanted.shape = what.shape;
  wanted.instead_of = what.instead_of;
  wanted.name = std::move(*lock);
  wanted.wait = std::max(options.wait, Duration::zero());
  // Nobody should wait for a dead holder longer than it could have held the lock.
  wanted.lease = std::max(kMinLease, std::min(options.lease, options.max_hold));
  wanted.renew = options.renew;
  wanted.max_hold = options.max_hold;
  wanted.order = options.order;
  wanted.reason = options.reason;
  wanted.owner_tag = options.owner != nullptr ? options.owner->id() : 0;
  return wanted;
}

std::shared_ptr<AcquireOp> start(const ClientHandle& client, std::string_view name,
                                 const Wanted& what, const AcquireOptions& options,
                                 runtime::Asker asker) {
  if (client.forked()) return AcquireOp::failed(client, forked_error());
  auto wanted = checked(name, what, options);
  if (!wanted) return AcquireOp::failed(client, wanted.error());
  if (options.stop.stop_requested()) {
    return AcquireOp::failed(
        client, error_about(Errc::cancelled, wanted->name, "stop had been requested before"));
  }
  wanted->since = client.driver()->wall_now();
  wanted->has_thread = asker == runtime::Asker::waits;
  return AcquireOp::start(client, std::move(*wanted), options.stop, asker);
}

Result<Hold> acquire_or_throw(const ClientHandle& client, std::string_view name, const Wanted& what,
                              AcquireOptions options) {
  const auto waits = runtime::Asker::waits;
  if (client.forked()) return Pending<Hold>(start(client, name, what, options, waits)).get();
  const TimePoint deadline = later(client.driver()->now(), options.wait);
  while (true) {
    Result<Hold> hold = Pending<Hold>(start(client, name, what, options, waits)).get();
    if (!hold || hold->valid() || options.wait <= Duration::zero() || what.instead_of) return hold;
    // The lock came and went while this thread was not running. Wait for the next time.
    options.wait = left_until(deadline, client.driver()->now());
  }
}

}  // namespace

Result<Hold> acquire(const ClientHandle& client, std::string_view name, const Wanted& what,
                     AcquireOptions options) {
  try {
    return acquire_or_throw(client, name, what, std::move(options));
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory);
  }
}

Pending<Hold> async_acquire(const ClientHandle& client, std::string_view name, const Wanted& what,
                            const AcquireOptions& options) {
  return Pending<Hold>(start(client, name, what, options, runtime::Asker::goes_on));
}

}  // namespace holdfast::detail
