// clock_teller: for every line it hears, says the nanoseconds of the clocks that the shim changes, and
// of time() and gettimeofday(): "wall mono boot time timeofday". A program of its own, since one with a
// sanitizer in it wants to be loaded before the shim.
#include <sys/time.h>

#include <cstdio>
#include <ctime>

namespace {

long long now(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

int main() {
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') continue;
    timeval day{};
    gettimeofday(&day, nullptr);
    std::printf("%lld %lld %lld %lld %lld\n", now(CLOCK_REALTIME), now(CLOCK_MONOTONIC),
                now(CLOCK_BOOTTIME), std::time(nullptr) * 1'000'000'000LL,
                day.tv_sec * 1'000'000'000LL + day.tv_usec * 1000LL);
    std::fflush(stdout);
  }
}
