// What stands in nodes, and fences.
#include <gtest/gtest.h>

#include "store/zookeeper/cell_text.hpp"
#include "store/zookeeper/fences.hpp"
#include "store/zookeeper/node_data.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;
using rules::DoneOp;

NodeData some_data() {
  NodeData data;
  data.owner = {{1, 2}, 17};
  data.shape = Shape::permits(2, 3);
  data.lease = 30s;
  data.record = {to_string(data.owner), "web2", 8123, "billing", WallTime(1us), "why\n it holds"};
  return data;
}

TEST(ZookeeperNodeData, ComesBackAsItWentIn) {
  EXPECT_EQ(node_data_in(text_of(some_data())), some_data());
  NodeData other = some_data();
  other.fence = 4711;
  other.shape = Shape::shared();
  other.record.reason.clear();
  EXPECT_EQ(node_data_in(text_of(other)), other);
}

TEST(ZookeeperNodeData, WhatIsNotOursIsNotRead) {
  const std::string good = text_of(some_data());
  for (const std::string& bad :
       {std::string(), std::string("127.0.0.1"), std::string("holdfast"),
        std::string("holdfast \n"), "other" + good.substr(8), good.substr(0, good.find('\n')),
        good.substr(0, good.find('\n') + 3)}) {
    EXPECT_FALSE(node_data_in(bad)) << bad;
  }
}

TEST(ZookeeperNodeData, ARevocationKeepsOurRecordAndIsWhatCuratorWaitsFor) {
  const std::string ours = revoked(text_of(some_data()));
  EXPECT_TRUE(is_revoked(ours));
  EXPECT_EQ(node_data_in(ours), some_data());
  EXPECT_EQ(revoked(ours), ours);
  EXPECT_EQ(revoked("127.0.0.1"), "__REVOKE__");
  EXPECT_EQ(revoked(""), "__REVOKE__");
  EXPECT_TRUE(is_revoked("__REVOKE__"));
  EXPECT_FALSE(is_revoked("__REVOKED__"));
  EXPECT_FALSE(is_revoked(text_of(some_data())));
  EXPECT_FALSE(node_data_in("__REVOKE__"));
}

TEST(ZookeeperNodeData, ForeignHoldersAreShownByWhatTheyTell) {
  const std::string name = "_c_3209f814-533a-4ee5-a79b-948e52e4650a-lock-0000000001";
  const HolderRecord java = record_of(name, "10.1.2.3");
  EXPECT_EQ(java.owner, "3209f814-533a-4ee5-a79b-948e52e4650a");
  EXPECT_EQ(java.host, "10.1.2.3");
  EXPECT_TRUE(java.program.empty());
  EXPECT_EQ(record_of(name, "\x1b[31m").host, "");
  EXPECT_EQ(record_of(name, "__REVOKE__").host, "");
  EXPECT_EQ(record_of("lock-0000000001", "").owner, "lock-0000000001");
  EXPECT_EQ(record_of(name, text_of(some_data())), some_data().record);
}

TEST(ZookeeperFences, GrowWithTheChangesAndLeaveRoom) {
  const Fences fences;
  EXPECT_EQ(fences.of(1), 1024U);
  EXPECT_EQ(fences.of(2), 2048U);
  EXPECT_EQ(fences.spare(Kind::mutex, 16), 16U);
  EXPECT_EQ(fences.spare(Kind::mutex, 5000), 1023U);
  const std::uint64_t writer = *fences.of(7);
  EXPECT_GT(fences.downgraded(writer), writer + fences.spare(Kind::shared_mutex, 5000));
  EXPECT_LT(fences.downgraded(writer), *fences.of(8)) << "below whoever waits already";
  EXPECT_LT(fences.up_to(7), *fences.of(8));
  EXPECT_FALSE(fences.of(0));
  EXPECT_FALSE(fences.of(std::int64_t{1} << 53));
  EXPECT_LE(*fences.of((std::int64_t{1} << 53) - 1), kMaxFence);
}

TEST(ZookeeperFences, NativeOnesAreTheNumberItself) {
  const Fences fences(true);
  EXPECT_EQ(fences.of(4711), 4711U);
  EXPECT_EQ(fences.spare(Kind::mutex, 16), 0U);
  EXPECT_EQ(fences.spare(Kind::shared_mutex, 16), 0U);
}

// ---- cells ----

StoredCell some_cell() {
  StoredCell cell;
  cell.state = {std::string("va\nlue\0", 7), 42};
  cell.ops[{1, 2}] = {.number = 7, .done = true, .version = 41, .sum = -3, .at = TimePoint(5000ms)};
  cell.ops[{3, 4}] = {.number = 1, .done = false, .version = 42, .sum = 0, .at = TimePoint(9000ms)};
  return cell;
}

TEST(ZookeeperCellText, ComesBackAsItWentIn) {
  EXPECT_EQ(stored_cell_in(text_of(some_cell()), 0), some_cell());
  EXPECT_EQ(stored_cell_in(text_of(StoredCell()), 0), StoredCell());
}

TEST(ZookeeperCellText, TheTimeOfTheLastChangeIsWrittenByTheNext) {
  StoredCell cell = some_cell();
  cell.ops[{5, 6}] = {.number = 1, .done = true, .version = 43};
  const auto read = stored_cell_in(text_of(cell), 12'345);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ops.at({5, 6}).at, TimePoint(12'345ms));
  EXPECT_EQ(read->ops.at({1, 2}).at, TimePoint(5000ms));
}

TEST(ZookeeperCellText, DamageIsNoticed) {
  const std::string good = text_of(some_cell());
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(stored_cell_in(good.substr(0, cut), 0)) << cut;
  }
  EXPECT_FALSE(stored_cell_in(good + "x", 0));
  EXPECT_FALSE(stored_cell_in("holdfast 1 99999 0\nx", 0));
}

TEST(ZookeeperCellText, OnlyWhatIsOldIsForgotten) {
  StoredCell cell = some_cell();
  const auto hour = std::chrono::milliseconds(1h).count();
  forget_old(cell, 5000 + hour);
  EXPECT_EQ(cell.ops.size(), 2U);
  forget_old(cell, 5000 + 2 * hour);
  EXPECT_FALSE(cell.ops.contains({1, 2}));
  EXPECT_TRUE(cell.ops.contains({3, 4}));
}

}  // namespace
}  // namespace holdfast::store::zookeeper
