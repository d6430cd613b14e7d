// Many look at a cache together; one refreshes it, and goes on as a reader without letting another writer in.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

namespace {

struct Cache {
  std::string text = "old";
  int refreshed = 0;
};

// Refreshes it if nobody has done so before; true if it is fresh afterwards.
bool use(const holdfast::SharedMutex& lock, Cache& cache) {
  {
    const auto reading = lock.acquire_shared();
    if (!reading) return false;
    if (cache.text == "new") return true;
  }
  auto writing = lock.acquire();
  if (!writing) return false;
  if (cache.text != "new") {  // somebody may have been faster
    cache.text = "new";
    ++cache.refreshed;
  }
  const auto reading = lock.downgrade(*writing);
  return reading && cache.text == "new";
}

}  // namespace

int main() {
  const auto client = holdfast::connect("memory:");
  if (!client) return 1;
  const holdfast::SharedMutex lock = client->shared_mutex("catalogue");
  Cache cache;
  std::vector<std::thread> users;
  std::vector<int> fresh(8);
  for (int& mine : fresh) users.emplace_back([&] { mine = use(lock, cache) ? 1 : 0; });
  for (std::thread& user : users) user.join();
  int happy = 0;
  for (const int each : fresh) happy += each;
  std::printf("%d users saw it fresh, it was refreshed %d time\n", happy, cache.refreshed);
  return happy == 8 && cache.refreshed == 1 ? 0 : 1;
}
