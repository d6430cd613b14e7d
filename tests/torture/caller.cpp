#include "torture/caller.hpp"

#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "checker/translate.hpp"

namespace holdfast::torture {
namespace {

using store::Kind;
using store::Shape;

Pending<Hold> async_acquire(const Client& client, const LockPlan& lock, const Shape& shape,
                            const AcquireOptions& options) {
  if (lock.kind == Kind::mutex) return client.mutex(lock.name).async_acquire(options);
  if (lock.kind == Kind::semaphore) {
    return client.semaphore(lock.name, {.permits = lock.permits})
        .async_acquire(shape.take, options);
  }
  const SharedMutex mutex = client.shared_mutex(lock.name);
  if (shape == Shape::shared()) return mutex.async_acquire_shared(options);
  if (shape == Shape::upgradeable()) return mutex.async_acquire_upgradeable(options);
  return mutex.async_acquire(options);
}

}  // namespace

Result<Hold> acquire(const Client& client, const LockPlan& lock, const Shape& shape,
                     const AcquireOptions& options) {
  if (lock.kind == Kind::mutex) return client.mutex(lock.name).acquire(options);
  if (lock.kind == Kind::semaphore) {
    return client.semaphore(lock.name, {.permits = lock.permits}).acquire(shape.take, options);
  }
  const SharedMutex mutex = client.shared_mutex(lock.name);
  if (shape == Shape::shared()) return mutex.acquire_shared(options);
  if (shape == Shape::upgradeable()) return mutex.acquire_upgradeable(options);
  return mutex.acquire(options);
}

std::uint64_t claim_from(const std::string& owner) {
  std::uint64_t claim = 0;
  const auto colon = owner.rfind(':');
  if (colon != std::string::npos) {
    std::from_chars(owner.data() + colon + 1, owner.data() + owner.size(), claim);
  }
  return claim;
}

void note_granted(check::Acquire& entry, const Hold& hold, const Sightings& seen) {
  entry.outcome = check::Outcome::granted;
  entry.fence = hold.fence().value();
  entry.owner = claim_from(hold.owner());
  seen.fill_in(entry);
  // If this process is killed, so far it would have been valid without any renewal.
  const TimePoint until = hold.valid_until();
  entry.valid_end =
      hold.valid() ? std::max(entry.returned, until.time_since_epoch().count()) : entry.returned;
}

void Caller::run() {
  while (true) {
    switch (place_.board.take()) {
      case Board::Turn::over:
        return;
      case Board::Turn::wait:
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        break;
      case Board::Turn::go:
        act(draw(random_, place_.locks, place_.can));
        break;
    }
  }
}

// The request runs the library's code, so not under the mutex.
bool Caller::cancel() {
  std::unique_lock lock(mutex_);
  std::stop_source stop = stop_;
  const bool waits = waits_;
  lock.unlock();
  stop.request_stop();
  return waits;
}

void Caller::act(const Action& action) {
  std::this_thread::sleep_for(action.rest);
  const LockPlan& lock = place_.locks[action.lock];
  Visit visit = begin(seat_.session(), lock, action.shape, action.options);
  if (!answered(visit, ask(visit, lock, action))) return;
  use(visit, action);
  if (action.exchange != Action::Exchange::none && visit.hold->valid()) {
    exchange(visit, action);
  } else {
    let_go(visit, action.confirmed);
  }
}

void Caller::write_late(Caller& next) {
  const LockPlan& lock = place_.locks.front();
  const AcquireOptions options{.wait = lock.lease * 10, .lease = lock.lease, .renew = false};
  const Action late{.options = options, .careful = false};
  Visit visit = begin(seat_.session(), lock, late.shape, options);
  if (!answered(visit, ask(visit, lock, late))) return;
  change(visit, late, [&] { next.act({.options = options}); });
  let_go(visit, late.confirmed);
}

// Written down before it is done: whatever becomes of this process, it is known to have asked.
Caller::Visit Caller::begin(const std::shared_ptr<Session>& session, const LockPlan& lock,
                            const Shape& shape, const AcquireOptions& options) {
  Visit visit{.session = session, .entry = {}};
  check::Acquire& entry = visit.entry;
  entry.client = session->number;
  entry.op = (number_ + 1) * 1'000'000ULL + ++ops_;
  entry.name = lock.name;
  // Holds that are held together come back in any order, so theirs cannot be judged from outside.
  const bool fifo = options.order == Order::fifo && lock.kind == Kind::mutex;
  entry.order = fifo ? check::Order::fifo : check::Order::any;
  entry.mode = check::mode_of(shape);
  entry.take = shape.take;
  entry.of = shape.of;
  entry.invoked = boot_now();
  if (options.wait != kForever) entry.wait_limit = entry.invoked + options.wait.count();
  place_.log.add(entry);
  return visit;
}

Result<Hold> Caller::ask(const Visit& visit, const LockPlan& lock, const Action& action) {
  AcquireOptions options = action.options;
  {
    const std::lock_guard guard(mutex_);
    options.stop = stop_.get_token();
    waits_ = true;
  }
  std::optional<Client> copy;
  std::optional<Pending<Hold>> pending;
  seat_.with(*visit.session, [&](const Client& client) {
    if (action.blocking) {
      copy = client;
    } else {
      pending = async_acquire(client, lock, action.shape, options);
    }
  });
  Result<Hold> result = copy      ? acquire(*copy, lock, action.shape, options)
                        : pending ? std::move(*pending).get()
                                  : Result<Hold>(Errc::cancelled);
  const std::lock_guard guard(mutex_);
  waits_ = false;
  if (stop_.stop_requested()) stop_ = std::stop_source();
  return result;
}

// False: there is no hold.
bool Caller::answered(Visit& visit, Result<Hold> result) {
  check::Acquire& entry = visit.entry;
  entry.returned = boot_now();
  if (result) {
    visit.hold = std::move(*result);
    note_granted(entry, *visit.hold, *visit.session->seen);
  } else {
    entry.outcome = check::outcome_of(result.error().errc());
  }
  place_.log.add(entry);
  return visit.hold.has_value();
}

void Caller::use(Visit& visit, const Action& action) {
  const auto work = [&] { std::this_thread::sleep_for(action.work); };
  if (action.shape != Shape::exclusive()) return work();
  change(visit, action, work);
}

// Reads, works, and writes what it read plus one; the careless do not ask whether they may.
void Caller::change(Visit& visit, const Action& action, const std::function<void()>& work) {
  Access access{.client = visit.entry.client,
                .lock = static_cast<std::uint32_t>(action.lock),
                .fence = visit.entry.fence};
  const Values read = link_.access(access);
  work();
  if (action.careful && !visit.hold->valid()) return;
  access.write = true;
  access.fenced = read.fenced + 1;
  access.twin = read.twin + 1;
  static_cast<void>(link_.access(access));
}

void Caller::exchange(Visit& old, const Action& action) {
  const LockPlan& lock = place_.locks[action.lock];
  const bool up = action.exchange == Action::Exchange::upgrade;
  std::optional<Client> client;
  seat_.with(*old.session, [&](const Client& open) { client = open; });
  if (!client) return let_go(old, action.confirmed);
  // Never for ever: the old hold may end meanwhile, and that is nobody's fault.
  AcquireOptions options{.wait = lock.lease * 2, .lease = lock.lease};
  const Shape shape = up ? Shape::exclusive() : Shape::shared();
  if (!up) end_record(old);  // from the call on it is not a writer any more
  Visit next = begin(old.session, lock, shape, options);
  next.entry.replaces = old.entry.op;
  const SharedMutex mutex = client->shared_mutex(lock.name);
  const check::Time asked = boot_now();
  const bool was_valid = old.hold->valid();
  if (!answered(next, up ? mutex.upgrade(*old.hold, options) : mutex.downgrade(*old.hold, options)))
    return let_go(old, action.confirmed);
  if (up) {
    old.entry.released = asked;
    old.entry.valid_end = was_valid ? asked : kNever;
    place_.log.add(old.entry);
  }
  old.hold.reset();
  Action rest = action;
  rest.shape = shape;
  rest.work /= 2;
  use(next, rest);
  let_go(next, action.confirmed);
}

// Before anything is done: the release may be all that others waited for. A hold that was lost does not
// know when; merge() does.
void Caller::end_record(Visit& visit) {
  check::Acquire& entry = visit.entry;
  if (entry.released != kNever) return;
  const bool was_there = entry.valid_end > entry.returned;
  entry.released = boot_now();
  const bool valid = visit.hold->valid() || place_.bug == Bug::ignore_lost;
  if (was_there) entry.valid_end = valid ? entry.released : kNever;
  place_.log.add(entry);
}

void Caller::let_go(Visit& visit, bool confirmed) {
  end_record(visit);
  if (confirmed) static_cast<void>(visit.hold->release());
  visit.hold.reset();
}

}  // namespace holdfast::torture
