#include "transport/cell_watch_list.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace holdfast::transport {
namespace {

using store::CellKey;

CellKey key(const char* name) {
  return {store::CellKind::latch, store::LockName::checked(name).value()};
}

void tell(CellWatchList& list, const CellKey& cell, std::uint64_t version) {
  for (const auto& changed : list.seen(cell, version)) (*changed)();
}

TEST(CellWatchList, TellsEachWatchOfEachVersionOnce) {
  CellWatchList list;
  int first = 0, second = 0, other = 0;
  const auto one = list.add(key("cell"), [&] { ++first; });
  const auto elsewhere = list.add(key("other"), [&] { ++other; });
  tell(list, key("cell"), 0);
  EXPECT_EQ(first, 1) << "nobody knows what it had seen when it began";
  const auto two = list.add(key("cell"), [&] { ++second; });
  tell(list, key("cell"), 0);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  tell(list, key("cell"), 2);
  tell(list, key("cell"), 2);
  tell(list, key("cell"), 1);  // seen before, told after
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 2);
  EXPECT_EQ(other, 0);
}

TEST(CellWatchList, ForgetsAWatchThatEnded) {
  CellWatchList list;
  auto one = list.add(key("b"), [] {});
  auto two = list.add(key("a"), [] {});
  auto three = list.add(key("a"), [] {});
  EXPECT_EQ(list.keys(), (std::vector{key("a"), key("b")}));
  one.reset();
  two.reset();
  EXPECT_EQ(list.keys(), std::vector{key("a")});
  EXPECT_EQ(list.seen(key("a"), 1).size(), 1U);
  three.reset();
  EXPECT_TRUE(list.empty());
}

TEST(CellWatchList, MayEndBeforeItsWatches) {
  std::optional<CellWatchList> list(std::in_place);
  auto watch = list->add(key("cell"), [] {});
  list.reset();
  watch.reset();
}

TEST(CellWatchList, LetsAWatchEndWhileItIsTold) {
  CellWatchList list;
  store::WatchPtr watch;
  const auto owned = std::make_shared<int>(1);
  watch = list.add(key("cell"), [&watch, owned] {
    watch.reset();
    EXPECT_EQ(*owned, 1);
  });
  tell(list, key("cell"), 1);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace holdfast::transport
