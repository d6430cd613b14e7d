#include "store/zookeeper/line.hpp"

#include <gtest/gtest.h>

namespace holdfast::store::zookeeper {
namespace {

using Names = std::vector<std::string>;

std::string node(const std::string& tag, int number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 10 - digits.size(), '0');
  // The uuids sort the other way round: they must not matter.
  const std::string uuid = std::to_string(90000000 - number) + "-533a-4ee5-a79b-948e52e4650a";
  return "_c_" + uuid + "-" + tag + digits;
}
std::string lock(int number) { return node("lock-", number); }
std::string reader(int number) { return node("__READ__", number); }
std::string writer(int number) { return node("__WRIT__", number); }

TEST(ZookeeperLine, TheFirstOfAMutexHasItAndEachOneWaitsForTheOneBefore) {
  const Line line(Kind::mutex, {lock(12), lock(3), lock(7)});
  ASSERT_EQ(line.all().size(), 3U);
  EXPECT_EQ(line.first().name, lock(3));
  EXPECT_TRUE(line.holds(0));
  EXPECT_FALSE(line.holds(1));
  EXPECT_EQ(line.waits_for(2), 1U);
  EXPECT_EQ(line.waits_for(1), 0U);
  EXPECT_EQ(line.waiting(), 2U);
  EXPECT_EQ(line.ahead_of(0), 0U);
  EXPECT_EQ(line.ahead_of(1), 0U);
  EXPECT_EQ(line.ahead_of(2), 1U);
  EXPECT_EQ(line.find(lock(7)), 1U);
  EXPECT_FALSE(line.find(lock(8)));
}

TEST(ZookeeperLine, ReadersHaveItTogetherUpToTheFirstWriter) {
  const Line line(Kind::shared_mutex,
                  {reader(1), reader(2), writer(3), reader(4), writer(5), reader(6)});
  for (const std::size_t index : {0U, 1U}) EXPECT_TRUE(line.holds(index));
  for (const std::size_t index : {2U, 3U, 4U, 5U}) EXPECT_FALSE(line.holds(index));
  EXPECT_EQ(line.waits_for(2), 1U) << "a writer waits for whoever is before it";
  EXPECT_EQ(line.waits_for(3), 2U);
  EXPECT_EQ(line.waits_for(4), 3U);
  EXPECT_EQ(line.waits_for(5), 4U) << "a reader for the last writer before it";
  EXPECT_EQ(line.waiting(), 4U);
  EXPECT_EQ(line.ahead_of(5), 3U);
}

TEST(ZookeeperLine, AReaderPassesReadersToFindItsWriter) {
  const Line line(Kind::shared_mutex, {writer(1), reader(2), reader(3), reader(4)});
  EXPECT_TRUE(line.holds(0));
  for (const std::size_t index : {1U, 2U, 3U}) {
    EXPECT_FALSE(line.holds(index));
    EXPECT_EQ(line.waits_for(index), 0U);
  }
}

TEST(ZookeeperLine, AWriterThatStepsDownStaysBeforeThoseWhoCameLater) {
  const std::string steps_down = node("__READ__", 1);
  const Line both(Kind::shared_mutex, {steps_down, writer(1), writer(2)});
  EXPECT_EQ(both.at(0).tag, Tag::write);
  EXPECT_FALSE(both.holds(2));
  const Line after(Kind::shared_mutex, {steps_down, writer(2), reader(3)});
  EXPECT_TRUE(after.holds(0));
  EXPECT_FALSE(after.holds(1));
  EXPECT_FALSE(after.holds(2));
}

TEST(ZookeeperLine, TheFirstOfASemaphoreHasNothingYet) {
  const Line line(Kind::semaphore, {lock(1), lock(2)});
  EXPECT_FALSE(line.holds(0));
  EXPECT_EQ(line.waiting(), 2U);
  EXPECT_EQ(line.ahead_of(1), 1U);
}

TEST(ZookeeperLine, WhatIsNoContenderIsNotInTheLine) {
  const Line line(Kind::mutex, {"config", "aaa", lock(5), "locks", "x-lock-y", "leases"});
  ASSERT_EQ(line.all().size(), 1U);
  EXPECT_TRUE(line.has_folders());
  EXPECT_FALSE(Line(Kind::mutex, {lock(5)}).has_folders());
}

TEST(ZookeeperLine, NodesWithoutUuidAreContendersToo) {
  const Line line(Kind::mutex, {lock(5), "lock-0000000004"});
  EXPECT_EQ(line.first().name, "lock-0000000004");
}

TEST(ZookeeperLine, AnotherKindCountsIfItCameBefore) {
  const Line mutex(Kind::mutex, {lock(5), writer(3)});
  EXPECT_EQ(mutex.other_kind_before(0), Kind::shared_mutex);
  const Line shared(Kind::shared_mutex, {lock(5), writer(3)});
  EXPECT_FALSE(shared.other_kind_before(0)) << "the mutex is the one who has to go";
  EXPECT_EQ(Line(Kind::shared_mutex, {lock(2), reader(3)}).other_kind_before(0), Kind::mutex);
  EXPECT_EQ(kind_in_use({"locks", "leases", reader(1)}), Kind::shared_mutex);
  EXPECT_EQ(kind_in_use({lock(1)}), Kind::mutex);
  EXPECT_FALSE(kind_in_use({"locks", "leases"}));
}

TEST(ZookeeperLine, OwnNodesAreFoundByTheirMark) {
  const Line line(Kind::mutex, {lock(5), lock(6)});
  EXPECT_EQ(line.begin_with(lock(6).substr(0, 40)), Names{lock(6)});
  EXPECT_EQ(line.begin_with("_c_"), (Names{lock(5), lock(6)}));
  EXPECT_EQ(line.begin_with("_c_0"), Names{});
}

TEST(ZookeeperLine, OrderIsThatOfTextsAsForCurator) {
  const Line line(Kind::mutex, {"lock-0000000001", "lock--2147483648"});
  EXPECT_EQ(line.first().name, "lock--2147483648")
      << "the numbers have run out: all clients see it so";
}

TEST(ZookeeperLine, PermitsTellWhatIsTakenAndOfHowMany) {
  const Permits none({});
  EXPECT_EQ(none.taken, 0U);
  EXPECT_FALSE(none.of);
  EXPECT_EQ(none.free_slots(2), (std::vector<std::uint32_t>{0, 1}));
  const Permits some(
      {node("of-4-slot-0-lease-", 1), node("of-4-slot-2-lease-", 2), node("lease-", 3)});
  EXPECT_EQ(some.taken, 3U) << "Curator's counts";
  EXPECT_EQ(some.of, 4U);
  EXPECT_EQ(some.free_slots(1), std::vector<std::uint32_t>{1});
  EXPECT_EQ(some.free_slots(3), (std::vector<std::uint32_t>{1, 3, 4}));
}

}  // namespace
}  // namespace holdfast::store::zookeeper
