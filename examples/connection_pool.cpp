// Ten workers share three connections. A permit is a connection: its slot says which.
#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

int main() {
  constexpr std::uint32_t kConnections = 3;
  const auto client = holdfast::connect("memory:");
  if (!client) return 1;
  const holdfast::Semaphore pool = client->semaphore("database", {.permits = kConnections});

  std::array<std::atomic<int>, kConnections> users{};  // of each connection, now
  std::atomic<int> shared = 0, queries = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 10; ++worker) {
    workers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        auto permit = pool.acquire();
        if (!permit) return;
        const std::uint32_t connection = permit->slots().front();
        if (++users[connection] > 1) ++shared;
        ++queries;
        --users[connection];
        if (!permit->release()) return;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::printf("%d queries on %u connections, never two on one\n", queries.load(), kConnections);
  return queries == 200 && shared == 0 ? 0 : 1;
}
