#include "store/zookeeper/ground.hpp"

#include <algorithm>
#include <utility>

#include "store/zookeeper/grant.hpp"

namespace holdfast::store::zookeeper {

Ground::Ground(Tree& all, const Surroundings& around, Settings settings)
    : tree(all),
      clock(around.clock),
      layout(std::move(settings.layout)),
      fences(settings.fences),
      watches(all),
      quiet(watches),
      places({.tree = all,
              .watches = watches,
              .clock = around.clock,
              .loop = around.loop,
              .look = [this](Places::Turn turn) { look(*this, std::move(turn)); },
              .clear = [this](Places::Turn turn) { clear(*this, std::move(turn)); }}) {}

// The session is read last: if it is still that one, what was read before was its.
Duration Ground::lease_from(TimePoint asked_at, Duration asked, std::int64_t session) const {
  const TimePoint until = tree.valid_until();
  if (session == 0 || tree.session() != session || until <= asked_at) return Duration::zero();
  return std::min(asked, left_until(until, asked_at));
}

}  // namespace holdfast::store::zookeeper
