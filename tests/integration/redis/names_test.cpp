#include <algorithm>
#include <set>

#include "holdfast/holdfast.hpp"
#include "integration/redis/redisson_like.hpp"
#include "integration/redis/script_client.hpp"
#include "rules/glob.hpp"
#include "store/redis/lock_names.hpp"
#include "support/outcome.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace store;

TEST(RedisNames, AreFoundAmongOtherKeys) {
  RedisServer server;
  ScriptClient client(server);
  std::set<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    server.must({"SET", "other:" + std::to_string(i), "x"});
    expected.insert("lock " + std::to_string(i) + (i % 3 == 0 ? "}" : ""));
  }
  for (const std::string& name : expected) client.granted(client.claim(name));
  server.must({"SET", "holdfast_lock:nonsense", "x"});

  std::set<std::string> found;
  std::string cursor(redis::kFirstNames);
  do {
    const auto reply = redis::names_in(server.must(redis::ask_names(cursor)));
    const auto& some = std::get<redis::SomeNames>(reply);
    for (const LockName& name : some.names) found.insert(name.bytes());
    cursor = some.cursor;
  } while (cursor != redis::kFirstNames);
  EXPECT_EQ(found, expected);
}

TEST(RedisNames, ALockThatOnlyRedissonUsesIsFoundByItsName) {
  RedisServer server;
  RedissonLike(server).lock("theirs");
  const Client client = connect("redis://127.0.0.1:" + std::to_string(server.port())).value();
  const auto found = client.inspect("theirs").value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].holders.at(0).record.owner, RedissonLike::owner());
  EXPECT_TRUE(client.inspect("the*").value().empty());
}

// What is wrong with one lock says nothing about the others.
TEST(RedisNames, ALockThatCannotBeLookedAtDoesNotHideTheOthers) {
  RedisServer server({.users = {"user default on nopass ~* &* +@all",
                                "user some on nopass ~mine/* ~holdfast_*:{mine/* "
                                "~redisson_lock_*:{mine/* &* +@all",
                                "user blind on nopass ~* &* +@all -evalsha"}});
  const auto at = [&](const std::string& user) {
    return connect("redis://" + user + "@127.0.0.1:" + std::to_string(server.port())).value();
  };
  const Client all = at("default");
  const Client some = at("some");
  const auto mine = all.mutex("mine/lock").acquire().value();
  const auto other = all.mutex("other/lock").acquire().value();
  server.must({"SET", "holdfast_lock:{odd}", "x"});
  const auto names = [](const Client& client) {
    const auto locks = client.inspect("*");
    EXPECT_TRUE(locks);
    std::set<std::string> found;
    if (locks)
      std::for_each(locks->begin(), locks->end(), [&](auto& it) { found.insert(it.name); });
    return found;
  };
  EXPECT_EQ(names(all), (std::set<std::string>{"mine/lock", "other/lock"}));
  EXPECT_EQ(names(some), (std::set<std::string>{"mine/lock"}));
  // Whoever asks for that one is told, and so is one who may look at none.
  EXPECT_TRUE(fails_with(Errc::store_corrupt, all.inspect("odd")));
  EXPECT_TRUE(fails_with(Errc::permission, some.inspect("other/lock")));
  EXPECT_TRUE(fails_with(Errc::permission, at("blind").inspect("*")));
}

// The name of a lock is a key, and these are those of other locks.
TEST(RedisNames, OurOwnKeysAreNoNames) {
  RedisServer server;
  const Client client = connect("redis://127.0.0.1:" + std::to_string(server.port())).value();
  const auto hold = client.mutex("a").acquire().value();
  for (const std::string name :
       {"holdfast_lock:{a}", "holdfast_holds:{a}", "holdfast_line:{a}", "holdfast_lapse:{a}",
        "holdfast_slots:{a}", "holdfast_fence:{a}", "holdfast_cell:value:{a}", "holdfast_op:x",
        "redisson_lock_token:{a}", "redisson_lock_queue:{a}", "redisson_rwlock:{a}"}) {
    const auto refused = client.mutex(name).try_acquire();
    ASSERT_TRUE(fails_with(Errc::invalid_name, refused)) << name;
    EXPECT_NE(refused.error().text().find("choose another"), std::string::npos);
  }
  EXPECT_TRUE(hold.verify());
  for (const std::string name : {"holdfast", "holdfast_lock", "my holdfast_lock:{a}"}) {
    EXPECT_TRUE(client.mutex(name).try_acquire()) << name;
  }
}

// Many try it, on many servers: what it leaves goes by itself.
TEST(RedisNames, TheDoctorsLockLeavesNothingForGood) {
  RedisServer server;
  const Client client = connect("redis://127.0.0.1:" + std::to_string(server.port())).value();
  EXPECT_TRUE(client.mutex("holdfast-doctor/7").acquire().value().release());
  for (const redis::Reply& key : server.must({"KEYS", "*"}).items) {
    EXPECT_GT(server.must({"PTTL", key.text}).integer, 0) << key.text;
  }
}

TEST(RedisNames, APatternWithoutStarsIsOneName) {
  EXPECT_EQ(redis::only_name("a b")->bytes(), "a b");
  EXPECT_EQ(redis::only_name("a\\*\\?\\\\")->bytes(), "a*?\\");
  EXPECT_EQ(redis::only_name("a\\")->bytes(), "a\\");
  for (const std::string_view pattern : {"", "*", "a?", "a\\\\*"}) {
    EXPECT_FALSE(redis::only_name(pattern)) << pattern;
  }
  for (const std::string_view pattern : {"a\\*\\?\\\\", "a\\", "a[b]"}) {
    EXPECT_TRUE(rules::glob_matches(pattern, redis::only_name(pattern)->bytes())) << pattern;
  }
}

TEST(RedisNames, WhatIsNoReplyIsNone) {
  for (const redis::Reply& reply :
       {redis::Reply{}, redis::Reply{.type = redis::Reply::Type::array},
        redis::Reply{.type = redis::Reply::Type::array, .items = {{}, {}}}}) {
    EXPECT_TRUE(std::holds_alternative<NoAnswer>(redis::names_in(reply)));
  }
}

}  // namespace
}  // namespace holdfast::test
