// The scripts on a server that is a whole cluster by itself: it refuses any key that lies in another slot than
// those it was told of.
#include "integration/redis/script_client.hpp"
#include "store/redis/cell_questions.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace store;

constexpr redis::Settings kCluster{.silence_is_absence = false, .cluster = true};

class RedisCluster : public testing::Test {
 protected:
  RedisCluster() : server({.more = {"--cluster-enabled", "yes"}}) {
    server.must({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    EXPECT_TRUE(eventually([this] {
      return server.must({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos;
    }));
  }

  RedisServer server;
};

TEST_F(RedisCluster, TheSlotsAreThoseThatWeCount_F055) {
  for (const std::string name : {"a", "x{y}z", "{}", "a}b", "{{}}", "}{"}) {
    EXPECT_EQ(server.must({"CLUSTER", "KEYSLOT", name}).integer, redis::slot_of(name)) << name;
    const std::string key = redis::lock_key(*LockName::checked(name));
    EXPECT_EQ(server.must({"CLUSTER", "KEYSLOT", key}).integer, redis::slot_of(name)) << key;
  }
}

TEST_F(RedisCluster, EveryKindAndNameStaysInItsSlot_F055) {
  ScriptClient client(server, 1, kCluster);
  for (const std::string name : {"plain", "app:{t1}:L", "{", "}", "{}", "a}b", "a{b", "}{"}) {
    for (const auto& [kind, shape] : {std::pair(Kind::mutex, Shape::exclusive()),
                                      std::pair(Kind::shared_mutex, Shape::exclusive()),
                                      std::pair(Kind::shared_mutex, Shape::upgradeable()),
                                      std::pair(Kind::semaphore, Shape::permits(2, 2))}) {
      const HoldKey held = client.granted(client.claim(name, kind, shape));
      ASSERT_GT(held.fence, 0U) << name;
      const GrantRequest next = client.claim(name, kind, shape);
      EXPECT_TRUE(std::holds_alternative<Refused>(client.ask(next).reply)) << name;
      EXPECT_TRUE(std::holds_alternative<Renewed>(client.renew(held))) << name;
      EXPECT_TRUE(client.look(name)) << name;
      EXPECT_TRUE(std::holds_alternative<Released>(client.release(held))) << name;
      const HoldKey second = client.granted(next);
      ASSERT_GT(second.fence, held.fence) << name;
      EXPECT_TRUE(std::holds_alternative<Released>(client.release(second))) << name;
    }
  }
}

TEST_F(RedisCluster, ASizeAndItsSemaphoreLieTogether_F055) {
  ScriptClient client(server, 1, kCluster);
  for (const std::string name : {"pool", "a}b", "x{y}z"}) {
    const CellWrite write{.key = {CellKind::size, *LockName::checked(name)},
                          .expected = 0,
                          .value = "3",
                          .op = {{1, 2}, 1}};
    const CellReply reply = redis::change_in(client.run(redis::ask_write(write, kCluster)));
    EXPECT_TRUE(std::holds_alternative<CellState>(reply)) << name;
    EXPECT_GT(client.granted(client.claim(name, Kind::semaphore, Shape::permits(3, 3))).fence, 0U);
  }
}

}  // namespace
}  // namespace holdfast::test
