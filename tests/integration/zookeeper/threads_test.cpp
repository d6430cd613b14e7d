// Threads of several clients at one lock over a tree whose answers and events come on any thread, in no order. In the
// end all were served, and nothing is left. Time stands still: a wake that is lost is not made up for.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "integration/zookeeper/lock_bench.hpp"
#include "support/effort.hpp"

namespace holdfast::store::zookeeper {
namespace {

enum class Trouble : std::uint8_t { none, connections, sessions };

std::string name_of(const testing::TestParamInfo<Trouble>& trouble) {
  constexpr const char* kNames[] = {"in_peace", "as_connections_break", "as_sessions_end"};
  return kNames[static_cast<std::size_t>(trouble.param)];
}

class ZookeeperThreads : public LockBench {
 protected:
  static constexpr std::uint64_t kPeers = 3;
  static constexpr std::uint64_t kThreads = 6;
  static constexpr int kRounds = 40;
  static constexpr int kPermits = 3;
  static constexpr int kAlone = 1000;

  void run(Kind kind, Trouble trouble, std::uint64_t seed) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    kind_ = kind;
    trouble_ = trouble;
    std::vector<Peer> peers;
    for (std::uint64_t i = 0; i < kPeers; ++i) peers.push_back(open());
    std::atomic<bool> over = false;
    std::thread troubler([&] { make_trouble(peers, seed, over); });
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { work(peers[i % kPeers], seed * kThreads + i); });
    }
    for (auto& each : threads) each.join();
    over = true;
    troubler.join();
    if (stuck_) return;
    for (const char* path : {"/locks/a", "/locks/a/locks", "/locks/a/leases"}) {
      for (const std::string& node : nodes(path)) {
        EXPECT_TRUE(node == "locks" || node == "leases") << node << " is left";
      }
    }
    // Whoever had it to itself for a while listens whether the parent goes.
    EXPECT_EQ(all_->wanted_watches(), all_->wanted_watches_of("/locks/a"));
  }

  std::atomic<bool> stuck_ = false;

 private:
  void work(Peer& peer, std::uint64_t seed) {
    test::SeededRandom random(seed);
    for (int round = 0; round < kRounds && !stuck_; ++round) {
      const GrantRequest mine = some_request(peer, random);
      const std::uint64_t fence = acquire(peer, mine, random);
      if (fence == 0) continue;
      const int weight = weight_of(mine);
      const int inside = inside_ += weight;
      // A session that ends while somebody is inside lets others in; that is for other tests.
      if (trouble_ != Trouble::sessions) {
        EXPECT_LE(inside, limit());
      }
      if (random.below(3) == 0) std::this_thread::yield();
      inside_ -= weight;
      while (std::holds_alternative<NoAnswer>(release(peer, mine, fence))) {
      }
    }
  }

  // As an engine does it. 0: it was given up.
  std::uint64_t acquire(Peer& peer, const GrantRequest& mine, test::SeededRandom& random) {
    test::WakeBox wakes;
    WatchPtr watch;
    std::uint64_t lapsed = 0;
    while (!stuck_) {
      const GrantReply reply = ask(peer, mine);
      if (const auto* yes = std::get_if<Granted>(&reply)) return yes->fence;
      if (std::holds_alternative<NoAnswer>(reply)) continue;
      if (!watch) {
        watch = peer.store->watch(mine, wakes.fn());
        continue;
      }
      if (random.below(8) == 0) {
        while (!withdraws(peer, mine)) {
        }
        return 0;
      }
      const auto wake = wakes.take(20s);
      if (!wake) {
        stuck_ = true;
        ADD_FAILURE() << "nobody woke " << to_string(mine.owner);
      } else if (wake->offer && wake->offer->fence > lapsed) {
        const RenewalReply renewed = renew(peer, mine, wake->offer->fence);
        if (std::holds_alternative<Renewed>(renewed)) return wake->offer->fence;
        if (std::holds_alternative<Gone>(renewed)) lapsed = wake->offer->fence;
      }
    }
    return 0;
  }

  void make_trouble(std::vector<Peer>& peers, std::uint64_t seed, const std::atomic<bool>& over) {
    if (trouble_ == Trouble::none) return;
    test::SeededRandom random(seed);
    while (!over) {
      MemoryTree& tree = *peers[random.below(kPeers)].tree;
      if (trouble_ == Trouble::sessions) tree.expire();
      constexpr Wire kBroken[] = {Wire::lost, Wire::silent, Wire::deaf};
      tree.set(kBroken[random.below(std::size(kBroken))]);
      std::this_thread::yield();
      tree.set(Wire::up);
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
    }
  }

  GrantRequest some_request(const Peer& peer, test::SeededRandom& random) {
    const GrantRequest plain = request(peer, ++claims_, true);
    if (kind_ == Kind::mutex) return plain;
    if (kind_ == Kind::semaphore) {
      return permits(plain, 1 + static_cast<std::uint32_t>(random.below(2)), kPermits);
    }
    return shared(plain, random.below(2) == 0 ? Shape::shared() : Shape::exclusive());
  }
  int limit() const { return kind_ == Kind::semaphore ? kPermits : kAlone; }
  int weight_of(const GrantRequest& request) const {
    if (kind_ == Kind::semaphore) return static_cast<int>(request.shape.take);
    return request.shape == Shape::shared() ? 1 : kAlone;
  }

  Kind kind_ = Kind::mutex;
  Trouble trouble_ = Trouble::none;
  std::atomic<std::uint64_t> claims_ = 0;
  std::atomic<int> inside_ = 0;
};

class ZookeeperThreadsIn : public ZookeeperThreads, public testing::WithParamInterface<Trouble> {};

TEST_P(ZookeeperThreadsIn, AreAllServedAndLeaveNothing_F078_F080_F083) {
  const std::uint64_t rounds = test::kSanitized ? 2 : 4;
  for (std::uint64_t seed = 1; seed <= rounds && !stuck_; ++seed) {
    for (const Kind kind : {Kind::mutex, Kind::shared_mutex, Kind::semaphore}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", seed " << seed);
      run(kind, GetParam(), seed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Troubles, ZookeeperThreadsIn,
                         testing::Values(Trouble::none, Trouble::connections, Trouble::sessions),
                         name_of);

}  // namespace
}  // namespace holdfast::store::zookeeper
