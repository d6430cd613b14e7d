// What the scripts do when the server is short of memory, rights or numbers, and what they leave behind.
#include "integration/redis/script_client.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace store;

std::vector<std::string> keys(RedisServer& server) {
  std::vector<std::string> found;
  for (const redis::Reply& key : server.must({"KEYS", "*"}).items) found.push_back(key.text);
  return found;
}

bool is_gone(const ReleaseReply& reply) { return std::holds_alternative<Gone>(reply); }

TEST(RedisScripts, LeaveOnlyTheFenceCounterBehind_F076) {
  RedisServer server;
  ScriptClient alone(server, 1, {.interop = false});
  const HoldKey mutex = alone.granted(alone.claim("a"));
  const GrantRequest waiting = alone.claim("a");
  alone.ask(waiting);
  const HoldKey permit = alone.granted(alone.claim("s", Kind::semaphore, Shape::permits(2, 3)));
  for (const std::string& key : keys(server)) {
    EXPECT_GT(server.must({"PTTL", key}).integer, 0) << key << " would stay for ever";
  }
  alone.run(redis::ask_withdraw(waiting, {.interop = false}));
  EXPECT_FALSE(is_gone(alone.release(mutex)));
  EXPECT_FALSE(is_gone(alone.release(permit)));
  for (const std::string& key : keys(server)) {
    EXPECT_TRUE(key.starts_with("holdfast_fence:")) << key;
    EXPECT_GT(server.must({"PTTL", key}).integer, 0) << key;
  }
}

TEST(RedisScripts, RefuseToCountWhereLuaWouldRound_F075) {
  RedisServer server;
  ScriptClient client(server);
  server.must({"SET", "redisson_lock_token:{a}", "9007199254740990"});
  const redis::GrantAnswer answer = client.ask(client.claim("a"));
  const auto* no = std::get_if<Rejected>(&answer.reply);
  ASSERT_NE(no, nullptr);
  EXPECT_EQ(no->why, Errc::store_full);
  EXPECT_EQ(server.must({"EXISTS", "a"}).integer, 0);
  EXPECT_EQ(server.must({"GET", "redisson_lock_token:{a}"}).text, "9007199254740990");
}

TEST(RedisScripts, FencesGoOnAboveThoseOfACounterThatWasLost_F059) {
  RedisServer server;
  ScriptClient client(server);
  GrantRequest claim = client.claim("a");
  claim.spare = 1000;
  const HoldKey first = client.granted(claim);
  EXPECT_FALSE(is_gone(client.release(first)));
  const GrantRequest again = [&] {
    GrantRequest ask = client.claim("a");
    ask.spare = 1000;
    return ask;
  }();
  const redis::GrantAnswer answer = client.ask(again);
  const auto* second = std::get_if<Granted>(&answer.reply);
  ASSERT_NE(second, nullptr);
  EXPECT_GT(second->fence, first.fence);
  server.must({"FLUSHALL"});
  EXPECT_GT(client.granted(client.claim("a")).fence, second->fence + second->spare);
}

TEST(RedisScripts, GiveBackAndHandOverWithoutMemory_F057) {
  RedisServer server;
  ScriptClient client(server);
  RedisConnection listening(server.socket_path());
  listening.ask({"SUBSCRIBE", client.wake_channel()});
  const HoldKey held = client.granted(client.claim("a"));
  const GrantRequest next = client.claim("a");
  client.ask(next);
  const HoldKey other = client.granted(client.claim("b"));
  server.must({"CONFIG", "SET", "maxmemory", "1"});
  const redis::GrantAnswer refused = client.ask(client.claim("c"));
  const auto* no = std::get_if<NoAnswer>(&refused.reply);
  ASSERT_NE(no, nullptr);
  EXPECT_EQ(no->why, Errc::store_full);
  EXPECT_EQ(server.must({"EXISTS", "c"}).integer, 0);
  EXPECT_FALSE(is_gone(client.release(other)));
  EXPECT_EQ(server.must({"EXISTS", "b"}).integer, 0);
  EXPECT_FALSE(is_gone(client.release(held)));
  EXPECT_EQ(server.must({"HGET", "a", redis::owner_text(next.owner)}).text, "1");
}

TEST(RedisScripts, GiveBackWithoutTheRightToPublish_F060) {
  RedisServer server({.users = {"user default on nopass ~* resetchannels +@all"}});
  ScriptClient client(server);
  const HoldKey held = client.granted(client.claim("a"));
  const GrantRequest next = client.claim("a");
  client.ask(next);
  EXPECT_FALSE(is_gone(client.release(held)));
  const HoldKey taken = client.granted(next);
  EXPECT_GT(taken.fence, held.fence) << "what could not be told is there for whoever looks";
  EXPECT_FALSE(is_gone(client.release(taken)));
  EXPECT_EQ(server.must({"EXISTS", "a"}).integer, 0);
}

TEST(RedisScripts, PassOverWaitersThatCertainlyDoNotListen) {
  RedisServer server;
  ScriptClient gone(server, 2);
  ScriptClient client(server);
  RedisConnection listening(server.socket_path());
  listening.ask({"SUBSCRIBE", client.wake_channel()});
  const HoldKey held = client.granted(client.claim("a"));
  gone.ask(gone.claim("a"));
  const GrantRequest next = client.claim("a");
  client.ask(next);
  EXPECT_FALSE(is_gone(client.release(held)));
  EXPECT_EQ(server.must({"HGET", "a", redis::owner_text(next.owner)}).text, "1");
}

TEST(RedisScripts, DoNotPassThemOverWhereSilenceProvesNothing) {
  RedisServer server;
  ScriptClient client(server, 1, {.silence_is_absence = false});
  const HoldKey held = client.granted(client.claim("a"));
  const GrantRequest next = client.claim("a");
  client.ask(next);
  EXPECT_FALSE(is_gone(client.release(held)));
  EXPECT_EQ(server.must({"HGET", "a", redis::owner_text(next.owner)}).text, "1");
}

// So that ours do not keep Redisson's out for good where its waiters cannot be seen.
TEST(RedisScripts, LeaveEveryEighthReleaseOpenWhereWaitersCannotBeSeen) {
  RedisServer server;
  ScriptClient client(server, 1, {.silence_is_absence = false});
  HoldKey held = client.granted(client.claim("a"));
  int open = 0;
  for (int i = 0; i < 16; ++i) {
    const GrantRequest next = client.claim("a");
    client.ask(next);
    EXPECT_FALSE(is_gone(client.release(held)));
    if (server.must({"EXISTS", "a"}).integer == 0) {
      ++open;
      server.must({"HDEL", redis::lock_key(held.name), "open"});  // time passes
    }
    held = client.granted(next);
  }
  EXPECT_EQ(open, 2);
}

// Redis answers what one command did wrong; the others of the batch are done.
TEST(RedisScripts, RenewTheOthersIfOneFails) {
  RedisServer server;
  ScriptClient client(server);
  const Renewal good{client.granted(client.claim("a")), ScriptClient::kLease};
  const Renewal bad{client.granted(client.claim("b")), ScriptClient::kLease};
  server.must({"SET", redis::lock_key(bad.name), "nonsense"});
  const std::vector<Renewal> batch{bad, good};
  const RenewReply reply = redis::renewals_in(client.run(redis::ask_renewals(batch, {})), 2);
  const auto& each = std::get<std::vector<RenewalReply>>(reply);
  ASSERT_TRUE(std::holds_alternative<NoAnswer>(each[0]));
  EXPECT_EQ(std::get<NoAnswer>(each[0]).why, Errc::store_corrupt);
  EXPECT_TRUE(std::holds_alternative<Renewed>(each[1]));
}

TEST(RedisScripts, WorkForNamesOfAnyBytes) {
  RedisServer server;
  ScriptClient client(server);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& name :
       {all, std::string("{"), std::string("}"), std::string("{}"), std::string("a}b"),
        std::string("x{y}z"), std::string(512, '%')}) {
    for (const auto& [kind, shape] : {std::pair(Kind::mutex, Shape::exclusive()),
                                      std::pair(Kind::shared_mutex, Shape::shared()),
                                      std::pair(Kind::semaphore, Shape::permits(1, 1))}) {
      const HoldKey held = client.granted(client.claim(name, kind, shape));
      EXPECT_GT(held.fence, 0U) << printable(name);
      const auto seen = client.look(name);
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->holds.size(), 1U);
      EXPECT_FALSE(is_gone(client.release(held)));
    }
  }
}

}  // namespace
}  // namespace holdfast::test
