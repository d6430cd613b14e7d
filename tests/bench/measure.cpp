#include "bench/measure.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>

#include "support/child_process.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

double us_of(SteadyClock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Slice repeat(const std::function<void()>& pair) {
  Slice slice;
  const auto end = SteadyClock::now() + kSlice;
  for (auto now = SteadyClock::now(); now < end;) {
    pair();
    const auto later = SteadyClock::now();
    slice.pairs_us.push_back(us_of(later - now));
    now = later;
  }
  return slice;
}

double together(const std::function<std::function<void()>(int)>& worker) {
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  std::atomic<std::size_t> pairs{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto pair = worker(i);
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      pairs += repeat(pair).pairs_us.size();
    });
  }
  for (auto& thread : threads) thread.join();
  return static_cast<double>(pairs) / std::chrono::duration<double>(kSlice).count();
}

AcquireOptions patiently() { return {.wait = 60s, .lease = kLease}; }

void pair(const Mutex& mutex) { mutex.acquire(patiently()).value().release().value(); }

void scope(const Mutex& mutex) { const Hold hold = mutex.acquire(patiently()).value(); }

double threads_on(const std::function<Mutex(int)>& lock, void (*what)(const Mutex&)) {
  return together([&](int i) { return [mutex = lock(i), what] { what(mutex); }; });
}

// ---- two processes ----

namespace {

// Arguments: URL, seconds. Tells how many pairs 16 threads made, and the longest wait for the lock in us.
const Role kCrowd("crowd", [](Parent& parent, const Words& arguments) {
  const auto client = connect(arguments.at(0)).value();
  parent.tell("ready");
  parent.hear();
  std::atomic<std::uint64_t> pairs{0};
  std::atomic<std::int64_t> longest{0};
  const auto end = SteadyClock::now() + std::chrono::seconds(std::stoi(arguments.at(1)));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto mutex = client.mutex("crowded");
      while (SteadyClock::now() < end) {
        const auto asked = SteadyClock::now();
        auto hold = mutex.acquire(patiently()).value();
        const auto waited = static_cast<std::int64_t>(us_of(SteadyClock::now() - asked));
        for (auto seen = longest.load();
             seen < waited && !longest.compare_exchange_weak(seen, waited);) {
        }
        ++pairs;
        hold.release().value();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  parent.tell(std::to_string(pairs) + " " + std::to_string(longest));
});

}  // namespace

void two_processes(const std::string& url) {
  std::vector<std::unique_ptr<ChildProcess>> crowds;
  for (int i = 0; i < 2; ++i) {
    crowds.push_back(std::make_unique<ChildProcess>(kCrowd, Words{url, "5"}));
    crowds.back()->hear(30s);
  }
  for (auto& crowd : crowds) crowd->tell("go");
  std::vector<double> pairs;
  double longest = 0;
  for (auto& crowd : crowds) {
    const std::string said = crowd->hear(60s);
    pairs.push_back(std::stod(said));
    longest = std::max(longest, std::stod(said.substr(said.find(' '))));
  }
  std::printf(
      "two processes x %d threads, one lock  %6.0f pairs/s, shares %.0f:%.0f, longest wait %.1f "
      "ms\n",
      kThreads, (pairs[0] + pairs[1]) / 5, 100 * pairs[0] / (pairs[0] + pairs[1]),
      100 * pairs[1] / (pairs[0] + pairs[1]), longest / 1000);
}

}  // namespace holdfast::test
