#include "many_seeds.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::sim {

Summary run_seeds(const ManySeeds& many, Progress* progress) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      many.no_longer_than ? Clock::now() + *many.no_longer_than : Clock::time_point::max();
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  Summary total;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < many.jobs; ++i) {
    workers.emplace_back([&] {
      Summary mine;
      for (std::uint64_t n = next++; n < many.count && Clock::now() < end; n = next++) {
        const Verdict verdict = run_schedule(many.first + n, nullptr);
        mine.add(many.first + n, verdict);
        if (progress != nullptr) progress->ran(verdict, Clock::now());
      }
      const std::lock_guard lock(mutex);
      total.add(mine);
    });
  }
  for (std::thread& worker : workers) worker.join();
  if (progress != nullptr) progress->finish();
  return total;
}

std::optional<std::pair<std::uint64_t, check::Violation>> first_failure(std::uint64_t first,
                                                                        std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Verdict verdict = run_schedule(seed, nullptr);
    if (const auto* violation = first_violation(verdict.report)) return std::pair(seed, *violation);
  }
  return std::nullopt;
}

}  // namespace holdfast::sim
