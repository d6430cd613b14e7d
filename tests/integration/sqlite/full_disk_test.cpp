// F121: no space left.
#include <cstdio>
#include <thread>

#include "sqlite_test.hpp"
#include "support/small_disk.hpp"

namespace holdfast::test {
namespace {

class SqliteFullDisk : public SqliteTest {
 protected:
  void SetUp() override {
    if (!disk_.problem().empty()) GTEST_SKIP() << disk_.problem();
  }

  // Takes locks until there is no space for one more.
  std::vector<Hold> take_all(const Client& client, int most) {
    std::vector<Hold> taken;
    for (int i = 0; i < most; ++i) {
      auto hold = client.mutex(std::string(500, 'n') + std::to_string(i)).try_acquire();
      if (!hold) {
        EXPECT_TRUE(fails_with(Errc::store_full, hold));
        return taken;
      }
      taken.push_back(*std::move(hold));
    }
    ADD_FAILURE() << "the disk is never full";
    return taken;
  }

  const SmallDisk disk_{folder()};
};

TEST_F(SqliteFullDisk, RefusesNewLocksAndGivesBackThoseThatAreHeld_F121) {
  const Client client = open();
  auto hold = client.mutex("lock").acquire();
  ASSERT_TRUE(hold);
  disk_.fill();
  std::vector<Hold> taken = take_all(client, 2000);
  std::printf("%zu more locks found room\n", taken.size());
  EXPECT_TRUE(hold->verify());
  for (Hold& each : taken) {
    const auto released = each.release();
    ASSERT_TRUE(released) << released.error().text();
  }
  const auto released = hold->release();
  EXPECT_TRUE(released) << released.error().text();
  disk_.make_room();
  EXPECT_TRUE(client.mutex("lock").acquire());
  EXPECT_TRUE(client.mutex("new").acquire());
}

// Its log must not use up everything and then find no room to be copied back.
TEST_F(SqliteFullDisk, FilledByTheStoreItselfStillGivesBack_F121) {
  const Client client = open();
  std::vector<Hold> taken = take_all(client, 20'000);
  std::printf("%zu locks found room\n", taken.size());
  EXPECT_GT(taken.size(), 100U);
  for (Hold& each : taken) {
    ASSERT_TRUE(each.verify());
    const auto released = each.release();
    ASSERT_TRUE(released) << released.error().text();
  }
  EXPECT_TRUE(client.inspect()->empty());
}

TEST_F(SqliteFullDisk, RefusesNewClientsButKeepsTheOldOnes_F121) {
  const Client client = open();
  auto hold = client.mutex("lock").acquire({.lease = 600ms});
  ASSERT_TRUE(hold);
  disk_.fill();
  const auto other = connect(url());
  const auto second = other ? other->mutex("other").try_acquire() : other.error();
  EXPECT_TRUE(fails_with(Errc::store_full, second));
  std::this_thread::sleep_for(1500ms);  // some renewals
  EXPECT_TRUE(hold->valid());
  EXPECT_FALSE(hold->lost().stop_requested());
  disk_.make_room();
  EXPECT_TRUE(connect(url())->mutex("other").try_acquire());
  EXPECT_TRUE(hold->release());
}

TEST_F(SqliteFullDisk, CannotBegin_F121) {
  disk_.fill();
  EXPECT_TRUE(fails_with(Errc::store_full, connect(url())));
  disk_.make_room();
  expect_nothing_left_behind();
}

}  // namespace
}  // namespace holdfast::test
