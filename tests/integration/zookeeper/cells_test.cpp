// Cells, and what becomes of them where they cannot be made.
#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperCellNodes : public LockBench {};

TEST_F(ZookeeperCellNodes, ThatCannotBeMadeAreNotTriedAgainAndAgain_F087) {
  Peer alice = open(Layout("/gone"));
  all_->do_it({.op = Op::create, .path = "/gone", .mode = Mode::ephemeral}, 7);
  CellAdd add;
  add.key = {CellKind::latch, lock_name("a")};
  add.delta = 1;
  add.op = {alice.id, 1};
  Answer<CellReply> answer;
  const std::uint64_t before = alice.tree->questions();
  alice.store->cells()->add(add, answer.call());
  ASSERT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(answer.get<NoAnswer>()->why, Errc::invalid_name);
  EXPECT_EQ(alice.tree->questions() - before, 2U);
}

TEST_F(ZookeeperCellNodes, AWatchOutlivesTheFailureOfAnEarlierOne) {
  Peer alice = open();
  const CellKey key{CellKind::value, lock_name("a")};
  int told = 0;
  alice.tree->set(Wire::held);
  WatchPtr first = alice.store->cells()->watch(key, [] {});
  first.reset();
  const WatchPtr second = alice.store->cells()->watch(key, [&] { ++told; });
  ASSERT_EQ(alice.tree->held(), 2U);
  alice.tree->lose_next_answer();
  alice.tree->let_go();
  alice.tree->set(Wire::up);
  const int before = told;
  Answer<CellReply> answer;
  alice.store->cells()->write({key, 0, "x", {alice.id, 1}}, answer.call());
  ASSERT_NE(answer.get<CellState>(), nullptr);
  EXPECT_GT(told, before);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
