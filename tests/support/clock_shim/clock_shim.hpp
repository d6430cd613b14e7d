#pragma once

#include <chrono>
#include <cstdint>

#include "support/child_process.hpp"
#include "support/clock_shim/clock_control.hpp"
#include "support/shared_page.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {

// The clocks of another process, in the hands of a test:
//
//   ClockShim clocks;
//   ChildProcess server({"redis-server", …}, clocks.environment());
//   clocks.step(ShimClock::wall, 60s);
//
// It works for programs that ask the C library for the time: Redis, ZooKeeper (Java), PostgreSQL,
// MariaDB. It does not for Go, which asks the kernel (etcd), nor for what the kernel itself measures: a
// thread that sleeps until a moment of a clock (pthread_cond_timedwait, timerfd) sleeps until the
// kernel's. Durations in epoll_wait or sleep are real ones, too; who looks at the clock when it wakes,
// as servers do, sees the time of the test.
//
// Lifetime     Must outlive the processes that were started with it.
// Threads      One at a time.
class ClockShim {
 public:
  ClockShim() = default;

  // Variables for the process that shall have these clocks.
  Words environment() const;

  void step(ShimClock, std::chrono::nanoseconds by);  // forward or back
  void step_all(std::chrono::nanoseconds by);
  // Millionths more than real time: 10'000 is 1 % faster, -1'000'000 stands still.
  void set_rate(ShimClock, std::int64_t faster_ppm);

 private:
  void change(ShimClock, std::chrono::nanoseconds step, std::int64_t faster_ppm);

  TempFolder folder_;
  SharedPage<ClockControl> control_{folder_ / "clocks", SharedPage<ClockControl>::Make{}};
};

}  // namespace holdfast::test
