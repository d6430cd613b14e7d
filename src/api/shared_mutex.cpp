#include "holdfast/shared_mutex.hpp"

#include "api/claims.hpp"
#include "api/hold_state.hpp"

namespace holdfast {

using detail::HoldState;
using detail::Wanted;
using store::Kind;
using store::Shape;

namespace {

Wanted wanted(const Shape& shape) { return {.kind = Kind::shared_mutex, .shape = shape}; }

AcquireOptions once(AcquireOptions options) {
  options.wait = Duration::zero();
  return options;
}

Result<Hold> exchange(const detail::ClientHandle& client, const std::string& name, Hold& hold,
                      const Shape& shape, AcquireOptions options) {
  Wanted what = wanted(shape);
  what.instead_of = HoldState::cell_of(hold, client);
  const bool fits = what.instead_of && what.instead_of->kind == Kind::shared_mutex &&
                    what.instead_of->name.bytes() == name;
  const bool upgrade = shape == Shape::exclusive();
  const Shape from = fits ? what.instead_of->shape : Shape();
  if (!fits || from == Shape::shared() || (upgrade && from != Shape::upgradeable())) {
    return Error(Errc::not_owner,
                 upgrade
                     ? "not_owner: only an upgradeable reader of this lock can become its writer"
                     : "not_owner: only a writer or an upgradeable reader can be downgraded");
  }
  Result<Hold> exchanged = detail::acquire(client, name, what, std::move(options));
  if (exchanged) HoldState::forget(hold);
  return exchanged;
}

}  // namespace

Result<Hold> SharedMutex::acquire(AcquireOptions options) const {
  return detail::acquire(*client_, name_, wanted(Shape::exclusive()), std::move(options));
}

Result<Hold> SharedMutex::try_acquire(AcquireOptions options) const {
  return acquire(once(std::move(options)));
}

Pending<Hold> SharedMutex::async_acquire() const { return async_acquire(AcquireOptions()); }

Pending<Hold> SharedMutex::async_acquire(AcquireOptions options) const {
  return detail::async_acquire(*client_, name_, wanted(Shape::exclusive()), options);
}

Result<Hold> SharedMutex::acquire_shared(AcquireOptions options) const {
  return detail::acquire(*client_, name_, wanted(Shape::shared()), std::move(options));
}

Result<Hold> SharedMutex::try_acquire_shared(AcquireOptions options) const {
  return acquire_shared(once(std::move(options)));
}

Pending<Hold> SharedMutex::async_acquire_shared() const {
  return async_acquire_shared(AcquireOptions());
}

Pending<Hold> SharedMutex::async_acquire_shared(AcquireOptions options) const {
  return detail::async_acquire(*client_, name_, wanted(Shape::shared()), options);
}

Result<Hold> SharedMutex::acquire_upgradeable(AcquireOptions options) const {
  return detail::acquire(*client_, name_, wanted(Shape::upgradeable()), std::move(options));
}

Result<Hold> SharedMutex::try_acquire_upgradeable(AcquireOptions options) const {
  return acquire_upgradeable(once(std::move(options)));
}

Pending<Hold> SharedMutex::async_acquire_upgradeable() const {
  return async_acquire_upgradeable(AcquireOptions());
}

Pending<Hold> SharedMutex::async_acquire_upgradeable(AcquireOptions options) const {
  return detail::async_acquire(*client_, name_, wanted(Shape::upgradeable()), options);
}

Result<Hold> SharedMutex::downgrade(Hold& hold, AcquireOptions options) const {
  return exchange(*client_, name_, hold, Shape::shared(), std::move(options));
}

Result<Hold> SharedMutex::upgrade(Hold& hold, AcquireOptions options) const {
  return exchange(*client_, name_, hold, Shape::exclusive(), std::move(options));
}

}  // namespace holdfast
