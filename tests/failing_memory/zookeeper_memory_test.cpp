// What becomes of a claim in the ZooKeeper store whose question finds no memory.
#include <gtest/gtest.h>

#include <new>

#include "failing_memory/failing_memory.hpp"
#include "integration/zookeeper/lock_bench.hpp"
#include "support/effort.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperMemory : public LockBench {};

TEST_F(ZookeeperMemory, AQuestionThatLacksMemoryLeavesNothing_F044) {
  if (test::kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  Peer alice = open();
  bool failed = true;
  std::uint64_t claim = 0;
  for (int n = 1; failed && n < 1000; ++n) {
    const GrantRequest mine = request(alice, ++claim);
    alice.tree->set(Wire::held);
    Answer<GrantReply> answer;
    auto call = answer.call();
    {
      test::FailingMemory memory(n);
      try {
        alice.store->try_grant(mine, std::move(call));
      } catch (const std::bad_alloc&) {
        // The engine asks again, or gives up.
      }
      memory.stop();
      failed = memory.failed();
    }
    let_pass(2 * kLease);
    alice.tree->set(Wire::up);
    alice.tree->let_go();
    let_pass(2 * kLease);
    const GrantRequest other = request(alice, ++claim);
    EXPECT_TRUE(releases(alice, other, granted(alice, other).fence)) << n;
  }
  EXPECT_FALSE(failed);
  let_pass(2 * kLease);
  EXPECT_FALSE(alice.tree->kept_valid());
}

}  // namespace
}  // namespace holdfast::store::zookeeper
