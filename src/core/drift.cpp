#include "core/drift.hpp"

#include <algorithm>

#include "core/planted.hpp"

namespace holdfast::core {

Duration Drift::allowance(Duration lease) const {
  if (HOLDFAST_PLANTED(no_drift_allowance)) return Duration::zero();
  if (HOLDFAST_PLANTED(no_rate_allowance)) return constant;
  constexpr Duration::rep kMillion = 1'000'000;
  const Duration::rep whole = lease.count() / kMillion * ppm;
  const Duration::rep rest = lease.count() % kMillion * ppm / kMillion;
  return Duration(whole + rest) + constant;
}

TimePoint Drift::valid_until(TimePoint sent, Duration asked, Duration given) const {
  const Duration lease = HOLDFAST_PLANTED(lease_as_asked) ? asked : std::min(asked, given);
  return later(sent, lease) - allowance(lease);
}

}  // namespace holdfast::core
