#include "store/memory/cell_table.hpp"

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

CellAdd count(std::uint64_t client, std::uint64_t number) {
  return {{CellKind::latch, LockName::checked("cell").value()}, 1, 0, {{0, client}, number}};
}

TEST(CellTable, ForgetsOldOperationsButNoCell) {
  CellTable table;
  TimePoint now{};
  for (std::uint64_t client = 1; client <= 1000; ++client) {
    table.add(count(client, 1), now);
    now += 1min;
  }
  EXPECT_LT(table.ops(), 200U) << "those of the last hour, and some that were not looked at yet";
  EXPECT_EQ(std::get<CellState>(table.read(count(1, 1).key)), (CellState{"1000", 1000}));
}

TEST(CellTable, RemembersEveryOperationOfTheLastHour) {
  CellTable table;
  const TimePoint start{};
  TimePoint now = start;
  for (std::uint64_t client = 1; client <= 60; ++client) {
    table.add(count(client, 1), now);
    now += 1min;
  }
  now = start + kCellOpsKept - Duration(1);
  for (std::uint64_t client = 1; client <= 60; ++client) table.add(count(client, 1), now);
  EXPECT_EQ(table.version_of(count(1, 1).key), 60U);
}

TEST(CellTable, KeepsNothingOfAnAddThatChangedNothingButItsNumber) {
  CellTable table;
  CellAdd add = count(1, 1);
  add.delta = -1;
  EXPECT_EQ(std::get<CellState>(table.add(add, {})), CellState{});
  EXPECT_EQ(table.version_of(add.key), 0U);
  EXPECT_EQ(table.ops(), 1U);
}

}  // namespace
}  // namespace holdfast::store
