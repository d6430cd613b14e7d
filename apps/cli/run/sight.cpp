#include "cli/run/sight.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

void Sight::saw(const std::optional<LockInfo>& lock, TimePoint now) {
  const std::optional<ClaimInfo> before = holder_;
  const Duration expected = lease_left(now);
  seen_at_ = now;
  holder_.reset();
  place_.reset();
  waiters_ = 0;
  if (!lock) return;

  if (!lock->holders.empty()) holder_ = lock->holders.front();
  waiters_ = lock->line.size();
  for (std::size_t i = 0; i < lock->line.size(); ++i) {
    const HolderRecord& record = lock->line[i].record;
    if (record.pid == pid_ && record.host == host_) place_ = Place{i + 1, lock->line.size()};
  }
  const bool same = before && holder_ && before->fence == holder_->fence;
  if (!same) renewed_at_.reset();
  // More is left than can be, if nothing had happened. A little more is just the way of the answer.
  if (same && holder_->lease_left - 50ms > expected) renewed_at_ = now;
}

Duration Sight::lease_left(TimePoint now) const {
  if (!holder_) return Duration::zero();
  const Duration left = holder_->lease_left - (now - seen_at_);
  return left > Duration::zero() ? left : Duration::zero();
}

std::optional<Duration> Sight::renewed_ago(TimePoint now) const {
  if (!renewed_at_) return std::nullopt;
  return now - *renewed_at_;
}

}  // namespace holdfast::cli
