// What becomes of a claim in the ZooKeeper store whose question finds no memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "failing_memory/each_request.hpp"
#include "failing_memory/failing_memory.hpp"
#include "integration/zookeeper/lock_bench.hpp"
#include "store/zookeeper/places.hpp"
#include "store/zookeeper/quiet_lines.hpp"
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

TEST_F(ZookeeperMemory, ALineIsNotTakenForAQuietOneForLackOfMemory_F044) {
  const auto granted_fence = [](Peer& peer, const GrantRequest& mine) {
    const GrantReply reply = ask(peer, mine);
    const auto* const yes = std::get_if<Granted>(&reply);
    return yes != nullptr ? yes->fence : 0;
  };
  constexpr std::uint64_t kUses = 7;
  test::with_each_request_failing([&](int n, int in_a_row) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    Peer alice = open();
    granted(alice, request(alice, kUses + 1));
    EXPECT_TRUE(withdraws(alice, request(alice, kUses + 1)));  // there are parents
    test::FailingMemory memory(n, test::FailingMemory::Whose::this_thread, in_a_row);
    for (std::uint64_t claim = 1; claim <= kUses; ++claim) {
      try {
        const GrantRequest mine = request(alice, claim);
        if (const auto fence = granted_fence(alice, mine)) release(alice, mine, fence);
      } catch (const std::bad_alloc&) {
        // The next one comes all the same.
      }
    }
    memory.stop();
    for (std::uint64_t claim = 1; claim <= kUses; ++claim) withdraws(alice, request(alice, claim));
    make_foreign("/locks/a/_c_0aa7e5a0-0000-4000-8000-000000000000-lock-");
    EXPECT_EQ(granted_fence(alice, request(alice, kUses + 2)), 0U);
    return memory.failed();
  });
}

TEST_F(ZookeeperMemory, NobodyGuessesBesideAHoldThatLackedMemory_F044) {
  test::with_each_request_failing([&](int n, int in_a_row) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    Peer alice = open();
    for (std::uint64_t claim = 1; claim <= 6; ++claim) {
      EXPECT_TRUE(
          releases(alice, request(alice, claim), granted(alice, request(alice, claim)).fence));
    }
    const GrantRequest mine = request(alice, 7);
    bool is_granted = false;
    test::FailingMemory memory(n, test::FailingMemory::Whose::this_thread, in_a_row);
    try {
      is_granted = std::holds_alternative<Granted>(ask(alice, mine));
    } catch (const std::bad_alloc&) {
      // It asks again.
    }
    memory.stop();
    if (!is_granted) granted(alice, mine);
    for (std::uint64_t claim = 8; claim <= 10; ++claim) refused(alice, request(alice, claim));
    return memory.failed();
  });
}

// Such a watch is nobody's, and counted by nobody. The servers have it as long as the parent is there, but it is not
// set again over each connection, and tells nobody anything.
TEST_F(ZookeeperMemory, AWatchOfAParentThatCannotBeNotedIsGivenUp_F044) {
  constexpr const char* kLine = "/a_line_whose_name_takes_memory";
  test::with_each_request_failing([&](int n, int) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    all_->do_it({.op = Op::create_container, .path = kLine});
    MemoryTree tree(all_, clock_, kTimeout);
    WantedWatches watches(tree);
    QuietLines lines(watches);
    tree.ask({{.op = Op::exists, .path = kLine, .watch = true}}, kNever, false, 0,
             [](const Outcome&) {});
    EXPECT_EQ(all_->wanted_watches(), 1U);
    const std::string line = kLine;
    const std::string node = line + "/_c_0aa7e5a0-0000-4000-8000-000000000000-lock-0000000001";
    test::FailingMemory memory(n);
    lines.was_read(line, {node, 1}, {.watch = 1}, {.alone = true, .watch_set = true});
    memory.stop();
    EXPECT_EQ(all_->wanted_watches(), 0U);
    return memory.failed();
  });
}

// Somebody else in this client wants to hear of one of the paths, and goes on to do so.
TEST_F(ZookeeperMemory, AWatchThatCouldNotBeNotedIsNotCounted_F044) {
  const std::vector<std::string> paths{"/a_folder_whose_name_takes_memory",
                                       "/a_cell_whose_name_takes_memory"};
  test::with_each_request_failing([&](int n, int in_a_row) {
    all_ = std::make_shared<MemoryEnsemble>(clock_);
    MemoryTree tree(all_, clock_, kTimeout);
    WantedWatches watches(tree);
    Places places({.tree = tree,
                   .watches = watches,
                   .clock = clock_,
                   .loop = loop_,
                   .look = [](Places::Turn) {},
                   .clear = [](Places::Turn) {}});
    for (const std::string& each : paths) {
      tree.ask({{.op = Op::exists, .path = each, .watch = true}}, kNever, false, 0,
               [](const Outcome&) {});
    }
    watches.want(paths[1]);
    bool failed = false;
    places.enter(request(Peer{}, 1), [&](Places::Turn turn) {
      const auto guard = places.lock();
      auto wanted = paths;
      test::FailingMemory memory(n, test::FailingMemory::Whose::this_thread, in_a_row);
      try {
        places.watch(turn.place(), std::move(wanted));
      } catch (const std::bad_alloc&) {
        // The attempt ends.
      }
      memory.stop();
      failed = memory.failed();
      places.unwatch(*turn.place());
    });
    places.fired(paths[1], Event::data_changed);
    for (const std::string& each : paths) watches.was_set_for_nobody(each);
    EXPECT_EQ(all_->wanted_watches_of(paths[0]), 0U);
    EXPECT_EQ(all_->wanted_watches_of(paths[1]), 1U);
    return failed;
  });
}

}  // namespace
}  // namespace holdfast::store::zookeeper
