#include "support/processes/guarded_counter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/child_process.hpp"
#include "support/shared_page.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {
namespace {

// Read and written without any care: only the lock keeps it right.
struct Counted {
  volatile std::uint64_t count;
  volatile std::uint64_t last_fence;
  std::atomic<std::uint64_t> fences_went_back;
  std::atomic<std::uint64_t> errors;
};

void count(const Client& client, Counted& counted, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto hold = client.mutex("lock").acquire();
    if (!hold) {
      ++counted.errors;
      std::fprintf(stderr, "%s\n", hold.error().text().c_str());
      continue;
    }
    const std::uint64_t before = counted.count;
    if (hold->fence().value() <= counted.last_fence) ++counted.fences_went_back;
    counted.last_fence = hold->fence().value();
    std::this_thread::yield();
    counted.count = before + 1;
    if (!hold->release()) ++counted.errors;
  }
}

// Arguments: URL, the file of the counter, threads, rounds of each.
const Role kCounts("counts", [](Parent& parent, const Words& arguments) {
  SharedPage<Counted> page(arguments.at(1));
  const Client client = connect(arguments.at(0)).value();
  parent.tell("ready");
  parent.hear();
  std::vector<std::thread> threads;
  for (int i = 0; i < std::stoi(arguments.at(2)); ++i) {
    threads.emplace_back([&] { count(client, *page, std::stoi(arguments.at(3))); });
  }
  for (std::thread& thread : threads) thread.join();
});

// It may take long on a slow disk, but it never stands still, and never counts too far.
bool comes_to(const Counted& counted, std::uint64_t goal) {
  while (counted.count + counted.errors < goal) {
    const std::uint64_t before = counted.count;
    if (!eventually([&] { return counted.count != before; })) return false;
  }
  return counted.count == goal;
}

}  // namespace

void expect_exact_count(const std::string& url, const Crowd& crowd) {
  const TempFolder aside;
  const SharedPage<Counted> page(aside / "counter", SharedPage<Counted>::Make{});
  std::vector<ChildProcess> children;
  for (int i = 0; i < crowd.processes; ++i) {
    children.emplace_back(kCounts, Words{url, aside / "counter", std::to_string(crowd.threads),
                                         std::to_string(crowd.rounds)});
  }
  for (ChildProcess& child : children) ASSERT_EQ(child.hear(), "ready");
  const int turns = crowd.processes * crowd.threads * crowd.rounds;
  const Stopwatch watch;
  for (ChildProcess& child : children) child.tell("go");
  ASSERT_TRUE(comes_to(*page, static_cast<std::uint64_t>(turns)))
      << page->count << " of " << turns << ", " << page->errors << " errors";
  for (ChildProcess& child : children) EXPECT_EQ(child.exit_code(), 0);
  std::printf("%d turns in %lld ms\n", turns, static_cast<long long>(watch.elapsed().count()));
  EXPECT_EQ(page->fences_went_back, 0U);
  EXPECT_EQ(page->errors, 0U);
}

}  // namespace holdfast::test
