// Keys that are not as we left them, and servers that may not change any: by the scripts alone.
#include <variant>

#include "integration/redis/redisson_like.hpp"
#include "integration/redis/script_client.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace store;

template <class Wanted, class Reply>
bool is(const Reply& reply) {
  return std::holds_alternative<Wanted>(reply);
}

TEST(OddKeys, SlotsThatWereEvictedAreNotGivenTwice_F058) {
  RedisServer server;
  ScriptClient client(server);
  const auto slots_of = [&] {
    const auto answer = client.ask(client.claim("pool", Kind::semaphore, Shape::permits(1, 3)));
    return std::get<Granted>(answer.reply).slots;
  };
  const auto first = slots_of();
  ASSERT_EQ(server.must({"DEL", "holdfast_slots:{pool}"}).integer, 1);
  EXPECT_NE(slots_of(), first);
}

TEST(OddKeys, DataOfSomebodyElseIsNoLockOfRedissons) {
  RedisServer server;
  ScriptClient client(server);
  server.must({"HSET", "users:1", "email", "a@b", "name", "x"});
  server.must({"HSET", "users:2", "email", "a@b"});
  for (const char* name : {"users:1", "users:2"}) {
    EXPECT_TRUE(is<Rejected>(client.ask(client.claim(name)).reply)) << name;
    EXPECT_EQ(server.must({"HGET", name, "email"}).text, "a@b") << name;
  }
}

// What it knows may be old: it can say neither that a lock is taken nor that a hold is gone.
TEST(OddKeys, AReplicaSaysNothing_F050) {
  RedisServer server;
  ScriptClient client(server);
  const HoldKey held = client.granted(client.claim("held"));
  HoldKey lost = client.granted(client.claim("lost"));
  ++lost.fence;
  const GrantRequest second = client.claim("held");
  server.must({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_TRUE(is<NoAnswer>(client.ask(second).reply));
  EXPECT_TRUE(is<NoAnswer>(client.renew(lost)));
  EXPECT_TRUE(is<NoAnswer>(client.release(lost)));
  EXPECT_TRUE(
      is<NoAnswer>(client.force({.kind = lost.kind, .name = lost.name, .fence = lost.fence})));
  server.must({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(is<Refused>(client.ask(second).reply));
  EXPECT_TRUE(is<Gone>(client.renew(lost)));
  EXPECT_TRUE(is<Released>(client.release(held)));
}

TEST(OddKeys, WhoWaitsForOneOfTheirsBesideOursListensToTheirs) {
  RedisServer server;
  ScriptClient client(server);
  RedissonLike java(server);
  const GrantRequest reader = client.claim("lock", Kind::shared_mutex, Shape::shared());
  ASSERT_NE(client.granted(reader).fence, 0U);
  ASSERT_FALSE(java.read_lock("lock"));
  const auto answer = client.ask(client.claim("lock", Kind::shared_mutex));
  EXPECT_TRUE(is<Refused>(answer.reply));
  EXPECT_TRUE(answer.foreign);
}

TEST(OddKeys, AFairWaiterWithoutATimeIsNotAskedForAllTheTime) {
  RedisServer server;
  ScriptClient client(server);
  server.must({"RPUSH", "redisson_lock_queue:{lock}", "somebody:1"});
  const auto answer = client.ask(client.claim("lock"));
  ASSERT_TRUE(is<Refused>(answer.reply));
  EXPECT_GE(std::get<Refused>(answer.reply).retry_after, std::chrono::milliseconds(900));
}

TEST(OddKeys, ALineThatWasEvictedDoesNotKeepTheKind_F058) {
  RedisServer server;
  ScriptClient client(server);
  const HoldKey held = client.granted(client.claim("lock"));
  client.ask(client.claim("lock"));
  server.must({"DEL", "holdfast_line:{lock}", "holdfast_holds:{lock}", "lock"});
  EXPECT_NE(client.granted(client.claim("lock", Kind::semaphore, Shape::permits(1, 2))).fence, 0U);
}

}  // namespace
}  // namespace holdfast::test
