#include "store/redis/redialler.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "store/redis/dial.hpp"

namespace holdfast::store::redis {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 20ms;
constexpr Duration kLongestPause = 1s;

}  // namespace

Redialler::Redialler(const Parts& parts)
    : parts_(parts),
      give_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      worker_("holdfast-dial", [] {}) {}

void Redialler::dial(Wanted wanted) {
  auto attempt = std::make_shared<Attempt>();
  attempt->failures = wanted.failures;
  attempt->wanted = std::move(wanted);
  if (attempt->failures == 0) return try_once(std::move(attempt));
  const std::lock_guard lock(mutex_);
  if (!stopped_) try_later(std::move(attempt));
}

void Redialler::try_once(std::shared_ptr<Attempt> attempt) {
  worker_.post([this, attempt = std::move(attempt)] {
    auto stream =
        redis::dial(parts_.address, parts_.clock,
                    later(parts_.clock.now(), parts_.address.connect_within), give_up_.get());
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (stream) {
      parts_.loop.post([attempt, stream = std::move(*stream)]() mutable {
        attempt->wanted.done(std::move(stream));
      });
      return;
    }
    parts_.loop.post([attempt, error = stream.error()] { attempt->wanted.failed(error); });
    try_later(attempt);
  });
}

// Under mutex_. Full jitter: anything from nothing to a bound that doubles.
void Redialler::try_later(std::shared_ptr<Attempt> attempt) {
  const int doublings = std::min(attempt->failures++, 10);
  const Duration bound = std::min<Duration>(kFirstPause * (1 << doublings), kLongestPause);
  const Duration pause = 1ms + Duration(static_cast<Duration::rep>(
                                   parts_.random.below(static_cast<std::uint64_t>(bound.count()))));
  const auto id = std::make_shared<TimerId>(0);
  *id = parts_.loop.call_at(later(parts_.clock.now(), pause), [this, attempt, id] {
    const std::lock_guard lock(mutex_);
    timers_.erase(*id);
    if (!stopped_) try_once(attempt);
  });
  timers_.insert(*id);
}

void Redialler::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    for (const TimerId id : timers_) parts_.loop.cancel(id);
  }
  ::eventfd_write(give_up_.get(), 1);
  worker_.stop();
}

}  // namespace holdfast::store::redis
