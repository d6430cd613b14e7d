#include "session_tree.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using store::LockName;
using store::Shape;

const LockName kLock = LockName::checked("lock").value();

class SessionTreeTest : public testing::Test {
 protected:
  void add(std::uint64_t claim, Shape shape, std::uint32_t client = 1) {
    tree_.of(kLock).push_back({.owner = {{0, client}, claim},
                               .shape = shape,
                               .session = {client, 1},
                               .sequence = ++sequence_,
                               .fence = sequence_ << 10U});
  }
  bool granted(std::uint64_t claim, std::uint32_t client = 1) {
    const Entry* const entry = tree_.find(kLock, {{0, client}, claim});
    return entry != nullptr && is_granted(tree_.of(kLock), *entry);
  }
  void erase(std::uint64_t claim) { tree_.erase(kLock, store::OwnerId{{0, 1}, claim}); }

  SessionTree tree_;
  std::uint64_t sequence_ = 0;
};

TEST_F(SessionTreeTest, TheFirstEntryHasTheLockAndItsEndPassesItOn) {
  add(1, Shape::exclusive());
  add(2, Shape::exclusive());
  EXPECT_TRUE(granted(1));
  EXPECT_FALSE(granted(2));
  erase(1);
  EXPECT_TRUE(granted(2));
}

TEST_F(SessionTreeTest, ReadersTogetherButNotPastAWriterThatWaits) {
  add(1, Shape::shared());
  add(2, Shape::shared());
  add(3, Shape::exclusive());
  add(4, Shape::shared());
  EXPECT_TRUE(granted(1));
  EXPECT_TRUE(granted(2));
  EXPECT_FALSE(granted(3));
  EXPECT_FALSE(granted(4));
}

TEST_F(SessionTreeTest, NobodyOvertakesAHeadThatWantsMorePermits) {
  add(1, Shape::permits(2, 3));
  add(2, Shape::permits(2, 3));
  add(3, Shape::permits(1, 3));
  EXPECT_TRUE(granted(1));
  EXPECT_FALSE(granted(2));
  EXPECT_FALSE(granted(3));
  erase(1);
  EXPECT_TRUE(granted(2));
  EXPECT_TRUE(granted(3));
}

TEST_F(SessionTreeTest, ASessionTakesAllItsEntriesWithIt) {
  add(1, Shape::exclusive(), 1);
  add(1, Shape::exclusive(), 2);
  add(2, Shape::exclusive(), 1);
  EXPECT_EQ(tree_.erase(kLock, SessionId{1, 1}).size(), 2U);
  EXPECT_TRUE(granted(1, 2));
  EXPECT_EQ(tree_.of(kLock).size(), 1U);
}

}  // namespace
}  // namespace holdfast::sim
