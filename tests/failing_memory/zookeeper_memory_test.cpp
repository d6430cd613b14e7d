// What becomes of a claim in the ZooKeeper store whose question finds no memory.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "failing_memory/failing_memory.hpp"
#include "integration/zookeeper/lock_bench.hpp"
#include "support/effort.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperMemory : public LockBench {
 protected:
  // Each time another request for memory fails, until none is left that could. On a tree of its own.
  template <class Scene>
  void with_each_request_failing(Scene scene) {
    bool failed = true;
    for (int n = 1; failed && n < 1000 && !HasFailure(); ++n) {
      SCOPED_TRACE(n);
      all_ = std::make_shared<MemoryEnsemble>(clock_);
      scene([&](const std::function<void()>& what) {
        test::FailingMemory memory(n);
        try {
          what();
        } catch (const std::bad_alloc&) {
          // Whoever called it goes on.
        }
        memory.stop();
        failed = memory.failed();
      });
    }
    EXPECT_FALSE(failed);
  }
};

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

TEST_F(ZookeeperMemory, ATurnEndsAlsoIfItLacksMemoryToLook_F044) {
  if (test::kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  with_each_request_failing([&](auto lacking_memory) {
    Peer alice = open();
    Peer bob = open();
    Peer carol = open();
    granted(bob, request(bob, 1));
    refused(carol, request(carol, 2, true));
    const GrantRequest mine = request(alice, 3, true);
    test::WakeBox wakes;
    const WatchPtr watch = alice.store->watch(mine, wakes.fn());
    refused(alice, mine);
    alice.tree->set(Wire::held);
    Answer<GrantReply> answer;
    alice.store->try_grant(mine, answer.call());
    withdraws(carol, request(carol, 2));  // fires in alice's turn
    alice.tree->lose_next_answer();
    lacking_memory([&] { alice.tree->let_one_go(); });
    alice.tree->set(Wire::up);
    alice.tree->let_go();
    Answer<WithdrawReply> gone;
    alice.store->withdraw(mine, gone.call());
    EXPECT_TRUE(answer.there());
    EXPECT_TRUE(gone.there()) << "it is somebody's turn for ever";
  });
}

TEST_F(ZookeeperMemory, LeasesEndAlsoAfterATimerThatCouldNotBeSet_F044) {
  if (test::kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  with_each_request_failing([&](auto lacking_memory) {
    Peer alice = open();
    Peer bob = open();
    Answer<GrantReply> answer;
    auto call = answer.call();
    const GrantRequest first = request(alice, 1);
    alice.tree->set(Wire::held);  // the tree itself has memory
    lacking_memory([&] { alice.store->try_grant(first, std::move(call)); });
    alice.tree->set(Wire::up);
    alice.tree->let_go();
    withdraws(alice, first);
    let_pass(2 * kLease);
    granted(alice, request(alice, 2));  // and is not renewed
    let_pass(3 * kLease);
    EXPECT_TRUE(std::holds_alternative<Granted>(ask(bob, request(bob, 3))));
    let_pass(3 * kLease);
    EXPECT_FALSE(alice.tree->kept_valid());
  });
}

TEST_F(ZookeeperMemory, WhatLapsedIsTakenAwayAlsoIfThereWasNoMemoryForIt_F044) {
  if (test::kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  with_each_request_failing([&](auto lacking_memory) {
    Peer alice = open();
    granted(alice, request(alice, 1));  // and is not renewed
    clock_.advance(kLease + 1ms);
    alice.tree->set(Wire::lost);
    lacking_memory([&] { loop_.run_one(clock_.now()); });
    alice.tree->set(Wire::up);
    let_pass(10 * kLease);
    EXPECT_EQ(nodes(), std::vector<std::string>());
  });
}

TEST_F(ZookeeperMemory, WhatIsGivenUpIsTakenAwayAlsoIfThereWasNoMemoryForIt_F044) {
  if (test::kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  with_each_request_failing([&](auto lacking_memory) {
    Peer alice = open();
    const GrantRequest mine = request(alice, 1);
    granted(alice, mine);
    alice.tree->set(Wire::held);
    Answer<WithdrawReply> answer;
    auto call = answer.call();
    lacking_memory([&] { alice.store->withdraw(mine, std::move(call)); });
    alice.tree->forget_held();
    alice.tree->set(Wire::up);
    let_pass(10 * kLease);
    EXPECT_EQ(nodes(), std::vector<std::string>());
  });
}

}  // namespace
}  // namespace holdfast::store::zookeeper
