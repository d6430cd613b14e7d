#include "torture/action.hpp"

namespace holdfast::torture {
namespace {

using store::Shape;

Shape choose_shape(test::SeededRandom& random, const LockPlan& lock,
                   const store::Capabilities& can) {
  switch (lock.kind) {
    case store::Kind::mutex:
      return Shape::exclusive();
    case store::Kind::semaphore:
      return Shape::permits(static_cast<std::uint32_t>(random.between(1, lock.permits)),
                            lock.permits);
    case store::Kind::shared_mutex:
      break;
  }
  const auto chosen = random.below(10);
  if (chosen < 5) return Shape::shared();
  return chosen < 7 && can.upgradeable ? Shape::upgradeable() : Shape::exclusive();
}

// Nine in ten are quick, so that the locks go round; the last of them outlast the lease.
Duration choose_work(test::SeededRandom& random, Duration lease) {
  using std::chrono::microseconds;
  const auto kind = random.below(100);
  if (kind < 90) return microseconds(random.between(0, 2'000));
  if (kind < 97) return Duration(random.between(0, lease.count() / 4));
  return Duration(random.between(0, lease.count() * 3 / 2));
}

AcquireOptions choose_options(test::SeededRandom& random, const LockPlan& lock,
                              const store::Capabilities& can) {
  AcquireOptions options;
  options.lease = lock.lease;
  options.renew = random.chance(85);
  if (can.mutex_fifo && random.chance(40)) options.order = Order::fifo;
  if (random.chance(8)) {
    options.max_hold = Duration(random.between(lock.lease.count() / 3, lock.lease.count() * 2));
  }
  const auto wait = random.below(10);
  if (wait < 2) options.wait = Duration::zero();
  if (wait >= 2 && wait < 5) {
    options.wait = Duration(random.between(1'000'000, lock.lease.count() * 2));
  }
  return options;
}

}  // namespace

std::uint64_t stream_of(std::uint64_t seed, std::uint32_t worker, std::uint32_t generation,
                        std::uint32_t caller) {
  std::uint64_t stream = seed;
  for (const std::uint64_t each : {worker, generation, caller}) {
    stream = test::SeededRandom(stream ^ (each + 1) * 0x100000001b3U).next();
  }
  return stream;
}

Action draw(test::SeededRandom& random, const std::vector<LockPlan>& locks,
            const store::Capabilities& can) {
  Action action;
  // The first is wanted more than the others, so that it has a line.
  action.lock = random.chance(25) ? 0 : random.below(locks.size());
  const LockPlan& lock = locks[action.lock];
  action.shape = choose_shape(random, lock, can);
  action.options = choose_options(random, lock, can);
  action.blocking = random.chance(50);
  action.rest = std::chrono::microseconds(random.skewed(0, 2'000));
  action.work = choose_work(random, lock.lease);
  action.careful = random.chance(50);
  action.confirmed = random.chance(50);
  if (action.shape == Shape::upgradeable() && random.chance(70)) {
    action.exchange = Action::Exchange::upgrade;
  } else if (lock.kind == store::Kind::shared_mutex && action.shape == Shape::exclusive() &&
             can.downgrade && random.chance(40)) {
    action.exchange = Action::Exchange::downgrade;
  }
  return action;
}

}  // namespace holdfast::torture
