#include "cli/doctor/round_trips.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cli/boot_now.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

Result<RoundTrips> measure_round_trips(const Client& client, int count) {
  std::random_device random;
  // One of a few names: some stores keep a little of every name for good.
  const std::string name = "holdfast-doctor/" + std::to_string(random() % 16);
  const Mutex probe = client.mutex(name);
  std::vector<Duration> times;
  for (int i = 0; i < count; ++i) {
    const TimePoint start = boot_now();
    auto hold = probe.acquire({.wait = 5s, .lease = 10s, .reason = "holdfast doctor"});
    if (!hold) return hold.error();
    if (auto released = hold->release(); !released) return released.error();
    times.push_back((boot_now() - start) / 2);
  }
  std::sort(times.begin(), times.end());
  return RoundTrips{count, times[times.size() / 2], times.back()};
}

Duration suggested_lease(Duration slowest) {
  // A renewal is sent at a third of the lease and must be answered before its end, if need be on a
  // later try: twenty slow answers fit in between.
  for (const Duration lease : {2s, 5s, 10s, 30s, 60s, 120s, 300s}) {
    if (slowest * 30 <= lease) return lease;
  }
  return 600s;
}

}  // namespace holdfast::cli
