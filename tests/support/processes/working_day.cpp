#include "support/processes/working_day.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>

#include "holdfast/holdfast.hpp"
#include "runtime/boot_clock.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/time_namespace.hpp"
#include "support/wall_clock.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLease = kSanitized ? 4s : 1500ms;
constexpr std::chrono::milliseconds kWait = kLease * 5 / 4;
constexpr const char* kWell = "well";

// What went wrong, or kWell. `meanwhile` happens while one lock is held and another waited for.
std::string working_day(const std::string& url, const std::function<void()>& meanwhile) {
  const Client alice = connect(url).value();
  const Client bob = connect(url).value();
  Hold renewed = alice.mutex("renewed").acquire({.lease = kLease}).value();
  const Hold once = alice.mutex("once").acquire({.lease = kLease, .renew = false}).value();
  const Signal lost;
  const std::stop_callback tell(once.lost(), [&] { lost.give(); });

  const Stopwatch watch;
  auto waiting = bob.mutex("renewed").async_acquire({.wait = kWait});
  meanwhile();
  auto blocked = bob.mutex("renewed").acquire({.wait = kWait});
  if (blocked) return "two hold it";
  if (blocked.error() != Errc::timed_out) return blocked.error().text();
  if (watch.elapsed() < kWait) return "the wait was cut short";
  const auto waited = std::move(waiting).get_for(kSoon);
  if (waited || waited.error() != Errc::timed_out) return "it did not wait to its end";
  if (watch.elapsed() >= kSoon) return "the wait was prolonged";

  if (!lost.comes() || once.valid()) return "what was not renewed goes on";
  if (!renewed.valid() || renewed.lost().stop_requested()) return "what was renewed is lost";
  if (const auto verified = renewed.verify(); !verified) return verified.error().text();
  if (const auto released = renewed.release(); !released) return released.error().text();
  const auto next = bob.mutex("renewed").acquire({.wait = kSoon});
  if (!next) return next.error().text();
  return next->fence() > renewed.fence() ? kWell : "fences went back";
}

// ---- signals ----

std::atomic<int> g_signals{0};

const Role kInAStorm("in a storm", [](Parent& parent, const Words& arguments) {
  struct sigaction action {};
  action.sa_handler = [](int) { ++g_signals; };  // without SA_RESTART
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval storm{{0, 1'000}, {0, 1'000}};
  ::setitimer(ITIMER_REAL, &storm, nullptr);
  const std::string day = working_day(arguments.at(0), [] {});
  ::setitimer(ITIMER_REAL, nullptr, nullptr);
  parent.tell(g_signals > 200 ? day : "there was no storm");
});

// ---- the wall clock ----

const Role kWallClockIsSet("wall clock is set", [](Parent& parent, const Words& arguments) {
  const runtime::BootClock clock;
  const WallTime before = clock.wall_now();
  set_wall_clock(24h);
  const auto jumped = [&] { return clock.wall_now() - before; };
  if (jumped() < 24h) return parent.tell("the clock was not set");
  parent.tell(working_day(arguments.at(0), [] {
    set_wall_clock(1h);
    const Stopwatch watch;
    while (watch.elapsed() < kWait / 4) ::usleep(10'000);  // timers come and go
    set_wall_clock(-48h);
  }));
});

// ---- BOOTTIME ----

constexpr auto kAhead = 100'000s;

const Role kAfterALongSleep("after a long sleep", [](Parent& parent, const Words& arguments) {
  const std::string problem = elsewhere_in_time(kAhead, [&] {
    timespec monotonic{};
    ::clock_gettime(CLOCK_MONOTONIC, &monotonic);
    const Duration now = runtime::BootClock().now().time_since_epoch();
    const bool ahead = now - std::chrono::seconds(monotonic.tv_sec) > kAhead - 1h;
    parent.tell(ahead ? working_day(arguments.at(0), [] {}) : "the clock is not BOOTTIME");
  });
  if (!problem.empty()) parent.tell(problem);
});

}  // namespace

void expect_signals_do_not_matter(const std::string& url) {
  EXPECT_EQ(ChildProcess(kInAStorm, {url}).hear(), kWell);
}

void expect_wall_clock_does_not_matter(const std::string& url) {
  EXPECT_EQ(ChildProcess(kWallClockIsSet, {url}).hear(), kWell);
}

void expect_boottime_to_be_read(const std::string& url) {
  const std::string day = ChildProcess(kAfterALongSleep, {url}).hear();
  if (day.starts_with("cannot")) GTEST_SKIP() << "no time namespace can be made: " << day;
  EXPECT_EQ(day, kWell);
}

}  // namespace holdfast::test
