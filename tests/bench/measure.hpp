// What the benches of all stores share: short slices of work, and the same work by many threads and by two processes.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"

namespace holdfast::test {

inline constexpr int kThreads = 16;
inline constexpr std::chrono::milliseconds kSlice{400};
inline constexpr std::chrono::seconds kLease{30};

double median(std::vector<double> values);

// What one thread measured: how long each pair of acquire and release took.
struct Slice {
  std::vector<double> pairs_us{};
  double p50() const { return median(pairs_us); }
  double per_second() const {
    return static_cast<double>(pairs_us.size()) / std::chrono::duration<double>(kSlice).count();
  }
};

Slice repeat(const std::function<void()>& pair);

// kThreads threads begin at once, each with what `worker` makes for it; the sum of what they did in a second.
double together(const std::function<std::function<void()>(int)>& worker);

// Ours, by mutexes of one client.
AcquireOptions patiently();
void pair(const Mutex&);
// As it is mostly written: the hold ends with its scope, and nobody waits for the answer to the release.
void scope(const Mutex&);
double threads_on(const std::function<Mutex(int)>& lock, void (*what)(const Mutex&) = pair);

// Two processes of kThreads threads, one lock; prints what came of it.
void two_processes(const std::string& url);

}  // namespace holdfast::test
