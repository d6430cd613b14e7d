// What a lock is for: many processes change one thing, one after the other.
#include <cstdio>
#include <thread>

#include "directory_test.hpp"
#include "integration/sqlite/shared_page.hpp"

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

class DirectoryCounter : public DirectoryTest {
 protected:
  void expect_exact(int processes, int threads, int rounds) {
    const TempFolder aside;
    const SharedPage<Counted> page(aside / "counter", SharedPage<Counted>::Make{});
    std::vector<ChildProcess> children;
    for (int i = 0; i < processes; ++i) {
      children.emplace_back(kCounts, Words{url(), aside / "counter", std::to_string(threads),
                                           std::to_string(rounds)});
    }
    for (ChildProcess& child : children) ASSERT_EQ(child.hear(), "ready");
    const Stopwatch watch;
    for (ChildProcess& child : children) child.tell("go");
    ASSERT_TRUE(comes_to(*page, static_cast<std::uint64_t>(processes * threads * rounds)));
    for (ChildProcess& child : children) EXPECT_EQ(child.exit_code(), 0);
    std::printf("%d turns in %lld ms\n", processes * threads * rounds,
                static_cast<long long>(watch.elapsed().count()));
    EXPECT_EQ(page->fences_went_back, 0U);
    EXPECT_EQ(page->errors, 0U);
    EXPECT_EQ(files('.').size(), 0U) << "nothing private is left";
    EXPECT_LE(files('g').size(), 64U + 16U);
  }

  // It may take long on a slow disk, but it never stands still, and never counts too far.
  static bool comes_to(const Counted& counted, std::uint64_t goal) {
    while (counted.count + counted.errors < goal) {
      const std::uint64_t before = counted.count;
      if (!eventually([&] { return counted.count != before; })) return false;
    }
    return counted.count == goal;
  }
};

TEST_F(DirectoryCounter, IsExactAfterManyProcessesAndFencesGrowInTheOrderOfHolding) {
  expect_exact(kSanitized ? 6 : 16, 1, kSanitized ? 30 : 100);
}

// Inside a process the lock is handed on without the store.
TEST_F(DirectoryCounter, IsExactAfterProcessesWithSeveralThreadsEach) {
  expect_exact(4, 4, kSanitized ? 20 : 100);
}

}  // namespace
}  // namespace holdfast::test
