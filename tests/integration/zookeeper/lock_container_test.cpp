// Locks whose parents the server takes away whenever they are empty.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/zookeeper/lock_faults.hpp"
#include "support/seeded_random.hpp"

namespace holdfast::test {
namespace {

class ZooKeeperLockContainers : public testing::Test {
 protected:
  Client open() const {
    return connect("zk://" + server_.host() + "/base?session=20s", {.patience = kSoon}).value();
  }
  ZookeeperRaw raw() const { return ZookeeperRaw(Address::tcp(server_.port()), 2min); }

  ZookeeperServer server_{{.container_check = 50ms}};
};

std::string number_of(const ZookeeperNode& node) { return node.path.substr(node.path.size() - 10); }

TEST_F(ZooKeeperLockContainers, FencesGrowThoughTheNumbersBeginAnew_F086) {
  const Client client = open();
  ZookeeperRaw raw = this->raw();
  FencingToken last{};
  for (int i = 0; i < 3; ++i) {
    auto hold = client.mutex("lock").acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_GT(hold->fence(), last);
    last = hold->fence();
    LineOnServer seen(Address::tcp(server_.port()), "/base/lock");
    EXPECT_EQ(number_of(seen.all().at(0)), "0000000000");
    EXPECT_TRUE(hold->release());
    ASSERT_TRUE(eventually([&] { return !raw.exists("/base"); })) << "and all above it";
  }
}

// Some pauses are over before the server looks, some end just then, some long after. Whoever finds no parents makes
// them, and the server may take them away again before they are used.
TEST_F(ZooKeeperLockContainers, NobodyIsHinderedByParentsThatComeAndGo_F084_F090) {
  constexpr int kThreads = 3, kRounds = 60;
  std::atomic<std::uint64_t> last{0};
  std::atomic<int> inside{0}, errors{0};
  std::vector<std::thread> threads;
  for (int who = 0; who < kThreads; ++who) {
    threads.emplace_back([&, who] {
      const Client client = open();
      SeededRandom random(static_cast<std::uint64_t>(who));
      for (int i = 0; i < kRounds; ++i) {
        auto hold = client.mutex("lock").acquire({.wait = kSoon});
        if (!hold) {
          ADD_FAILURE() << hold.error().text();
          ++errors;
          continue;
        }
        if (++inside != 1) ADD_FAILURE() << "two at once";
        if (last.exchange(hold->fence().value()) >= hold->fence().value()) {
          ADD_FAILURE() << "a fence went back";
        }
        --inside;
        if (!hold->release()) ADD_FAILURE() << "it was lost";
        std::this_thread::sleep_for(std::chrono::milliseconds(random.below(120)));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(errors, 0);
  ZookeeperRaw raw = this->raw();
  EXPECT_TRUE(eventually([&] { return !raw.exists("/base"); }));
}

TEST_F(ZooKeeperLockContainers, NothingStaysOfManyNames_F090) {
  const Client client = open();
  for (int i = 0; i < 300; ++i) {
    auto hold = client.mutex("lock" + std::to_string(i)).acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    ASSERT_TRUE(hold->release());
  }
  ZookeeperRaw raw = this->raw();
  EXPECT_TRUE(eventually([&] { return !raw.exists("/base"); }));
}

}  // namespace
}  // namespace holdfast::test
