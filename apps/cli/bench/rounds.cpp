#include "cli/bench/rounds.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "cli/bench/raw_pairs.hpp"
#include "cli/boot_now.hpp"
#include "cli/demo/interruption.hpp"
#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

double rate(std::uint64_t pairs, Duration took) {
  return static_cast<double>(pairs) / std::chrono::duration<double>(took).count();
}

// Does it until the time is up; how often in a second.
template <class Work>
double repeat_for(Duration length, Work&& work) {
  const TimePoint start = boot_now();
  std::uint64_t count = 0;
  TimePoint now = start;
  for (; now - start < length; now = boot_now()) {
    work();
    ++count;
  }
  return rate(count, now - start);
}

// How long one of two that are compared works before the other has its turn: short against the
// moods of a busy machine, long against what a change costs.
constexpr Duration kTurn = std::chrono::milliseconds(10);

struct Compared {
  double first = 0;
  double second = 0;
};

template <class First, class Second>
Compared compare_for(Duration length, First&& first, Second&& second) {
  const TimePoint end = later(boot_now(), length);
  std::uint64_t counts[2] = {};
  Duration took[2] = {};
  const auto turn = [&](int which, auto& work) {
    const TimePoint start = boot_now();
    TimePoint now = start;
    for (; now - start < kTurn; now = boot_now()) {
      work();
      ++counts[which];
    }
    took[which] += now - start;
  };
  do {  // each is as often the one behind the other
    turn(0, first);
    turn(1, second);
    turn(1, second);
    turn(0, first);
  } while (boot_now() < end);
  return {rate(counts[0], took[0]), rate(counts[1], took[1])};
}

void pair(const Mutex& mutex) {
  auto hold = mutex.acquire();
  if (!hold) throw Refusal(hold.error());
  if (auto released = hold->release(); !released) throw Refusal(released.error());
}

double crowd(const Mutex& mutex, Duration length) {
  std::latch ready(kBenchThreads + 1);
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> pairs = 0;
  std::mutex guards_failure;
  std::optional<Refusal> failure;
  std::vector<std::jthread> threads;
  threads.reserve(kBenchThreads);
  for (int i = 0; i < kBenchThreads; ++i) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      std::uint64_t mine = 0;
      try {
        for (; !over; ++mine) pair(mutex);
      } catch (const Refusal& refusal) {
        const std::lock_guard lock(guards_failure);
        failure = refusal;
      }
      pairs += mine;
    });
  }
  ready.arrive_and_wait();
  const TimePoint start = boot_now();
  std::this_thread::sleep_for(length);
  over = true;
  threads.clear();  // joins
  if (failure) throw *failure;
  return rate(pairs, boot_now() - start);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double median_ratio(const std::vector<double>& values, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(values.size(), to.size()); ++i) {
    ratios.push_back(values[i] / to[i]);
  }
  return median(ratios);
}

Rates run_rounds(const Client& client, const RoundsPlan& plan) {
  std::random_device random;
  const std::string name = "holdfast-bench/" + std::to_string(random()) + std::to_string(random());
  const Mutex alone = client.mutex(name + "/alone");
  const Mutex crowded = client.mutex(name + "/crowd");
  std::optional<RawPairs> raw;
  if (!plan.raw_path.empty()) raw.emplace(plan.raw_path);
  Rival rival(std::string(crowded.name()), plan.store_url);

  const Duration slice = plan.time / (plan.rounds * (raw ? 4 : 3));
  Rates rates;
  for (int round = 0; round < plan.rounds; ++round) {
    Interruption::check();
    if (raw) {
      const Compared both = compare_for(
          2 * slice, [&] { raw->pair(); }, [&] { pair(alone); });
      rates.raw.push_back(both.first);
      rates.alone.push_back(both.second);
    } else {
      rates.alone.push_back(repeat_for(slice, [&] { pair(alone); }));
    }
    rates.threads.push_back(crowd(crowded, slice));
    rival.begin();
    rates.rivalled.push_back(crowd(crowded, slice));
    const std::vector<Duration> waits = rival.end();
    rates.rival_waits.insert(rates.rival_waits.end(), waits.begin(), waits.end());
  }
  std::sort(rates.rival_waits.begin(), rates.rival_waits.end());
  return rates;
}

}  // namespace holdfast::cli
