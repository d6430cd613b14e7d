#include "transport/redialler.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "transport/insist.hpp"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 20ms;
constexpr Duration kLongestPause = 1s;

}  // namespace

Redialler::Redialler(Parts parts)
    : parts_(std::move(parts)),
      give_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      worker_("holdfast-dial", [] {}) {}

void Redialler::dial(Wanted wanted) {
  auto attempt = std::make_shared<Attempt>();
  attempt->failures = wanted.failures;
  attempt->wanted = std::move(wanted);
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  if (attempt->failures == 0) return try_once(attempt);
  try_later(attempt);
}

// Under mutex_.
void Redialler::try_once(const std::shared_ptr<Attempt>& attempt) {
  if (!post(attempt)) try_later(attempt);
}

// False: there is no thread for it, or no memory.
bool Redialler::post(const std::shared_ptr<Attempt>& attempt) {
  try {
    return worker_.post([this, attempt] {
      // Nobody else would try again, and even to set a timer needs memory.
      for (bool done = false; !done && !stops_within(Duration::zero());) {
        try {
          work(attempt);
          done = true;
        } catch (const std::bad_alloc&) {
          stops_within(kFirstPause);
        }
      }
    });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// On the worker.
void Redialler::work(const std::shared_ptr<Attempt>& attempt) {
  auto stream = parts_.dial(later(parts_.clock.now(), parts_.within), give_up_.get());
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
}

// Under mutex_. Full jitter: anything from nothing to a bound that doubles.
void Redialler::try_later(const std::shared_ptr<Attempt>& attempt) {
  const int doublings = std::min(attempt->failures++, 10);
  const Duration bound = std::min<Duration>(kFirstPause * (1 << doublings), kLongestPause);
  const Duration pause = 1ms + Duration(static_cast<Duration::rep>(
                                   parts_.random.below(static_cast<std::uint64_t>(bound.count()))));
  // All that needs memory comes before the timer, which is set or not.
  std::set<store::TimerId> noted{0};
  const auto id = std::make_shared<store::TimerId>(0);
  *id = parts_.loop.call_at(later(parts_.clock.now(), pause), [this, attempt, id] {
    insist([&] {
      const std::lock_guard lock(mutex_);
      timers_.erase(*id);
      if (!stopped_) try_once(attempt);
    });
  });
  auto node = noted.extract(noted.begin());
  node.value() = *id;
  timers_.insert(std::move(node));
}

bool Redialler::stops_within(Duration time) const {
  pollfd polled{give_up_.get(), POLLIN, 0};
  return ::poll(&polled, 1, static_cast<int>(time / 1ms)) > 0;
}

void Redialler::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    for (const store::TimerId id : timers_) parts_.loop.cancel(id);
  }
  ::eventfd_write(give_up_.get(), 1);
  worker_.stop();
}

}  // namespace holdfast::transport
