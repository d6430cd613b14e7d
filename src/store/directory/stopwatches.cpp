#include "store/directory/stopwatches.hpp"

#include <utility>

namespace holdfast::store::directory {
namespace {

TimePoint dead_at(TimePoint since, Duration lease) {
  return later(later(since, lease), allowance_of(lease));
}

}  // namespace

Stopwatches::Left Stopwatches::left(const LockName& name, const Seen& seen, TimePoint looked,
                                    TimePoint read) {
  Stopwatch& watch = running_[name];
  if (watch.generation != seen.generation || watch.life != seen.life) {
    watch = {seen.generation, seen.life, seen.beat.lease, read};
  }
  return {left_until(later(watch.since, watch.lease), looked),
          left_until(dead_at(watch.since, watch.lease), looked)};
}

void Stopwatches::restart(const LockName& name, std::uint64_t generation, std::string life,
                          Duration lease, TimePoint written) {
  running_[name] = {generation, std::move(life), lease, written};
}

Duration Stopwatches::left_of_missing(const LockName& name, std::uint64_t newest,
                                      TimePoint now) const {
  const auto found = running_.find(name);
  if (found == running_.end() || found->second.generation <= newest) return Duration::zero();
  return left_until(dead_at(found->second.since, found->second.lease), now);
}

}  // namespace holdfast::store::directory
