// A lock that Redisson's clients and ours share: who excludes whom, who wakes whom, and what stays in whose keys.
#include <map>

#include "integration/redis/redisson_like.hpp"
#include "integration/redis/script_client.hpp"
#include "store/redis/wake_message.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace store;
using Type = redis::Reply::Type;

class Redisson : public testing::Test {
 protected:
  std::map<std::string, std::string> hash(const std::string& key) {
    std::map<std::string, std::string> fields;
    const redis::Reply reply = server.must({"HGETALL", key});
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
      fields[reply.items[i].text] = reply.items[i + 1].text;
    }
    return fields;
  }
  std::int64_t left(const std::string& key) { return server.must({"PTTL", key}).integer; }
  static std::string field(const HoldKey& key) { return redis::owner_text(key.owner); }

  RedisServer server;
  ScriptClient ours{server};
  RedissonLike java{server};
};

// Hears what is published on channels.
class Listener {
 public:
  Listener(const RedisServer& server, const std::string& channel)
      : connection_(server.socket_path()) {
    connection_.ask({"SUBSCRIBE", channel});
  }
  // The next message; "" if none comes. Whatever was published before the last command is there already.
  std::string hears() {
    const auto message = connection_.hear(std::chrono::milliseconds(200));
    return message && message->items.size() == 3 ? message->items[2].text : "";
  }

 private:
  RedisConnection connection_;
};

bool is_refused(const redis::GrantAnswer& answer) {
  return std::holds_alternative<Refused>(answer.reply);
}
bool is_rejected(const redis::GrantAnswer& answer) {
  const auto* no = std::get_if<Rejected>(&answer.reply);
  return no != nullptr && no->why == Errc::invalid_argument;
}
template <class Reply>
bool is_gone(const Reply& reply) {
  return std::holds_alternative<Gone>(reply);
}

// --- mutex ---

TEST_F(Redisson, ItsHolderExcludesOurs) {
  EXPECT_EQ(java.lock("L"), std::nullopt);
  const GrantRequest claim = ours.claim("L");
  const redis::GrantAnswer answer = ours.ask(claim);
  const auto* refused = std::get_if<Refused>(&answer.reply);
  ASSERT_NE(refused, nullptr);
  EXPECT_TRUE(answer.foreign);
  ASSERT_TRUE(refused->holder);
  EXPECT_EQ(refused->holder->owner, java.owner());
  EXPECT_GT(refused->lease_left, Duration::zero());
  EXPECT_LE(refused->lease_left, RedissonLike::kLease);
  EXPECT_TRUE(java.unlock("L"));
  EXPECT_GT(ours.granted(claim).fence, 0U);
}

TEST_F(Redisson, OurHolderExcludesItsAndLooksLikeOneOfIts) {
  const HoldKey held = ours.granted(ours.claim("L"));
  EXPECT_EQ(hash("L"), (std::map<std::string, std::string>{{field(held), "1"}}));
  EXPECT_GT(java.lock("L").value_or(0), 0);
  EXPECT_LE(left("L"), std::chrono::milliseconds(ScriptClient::kLease).count() + 1);
  EXPECT_FALSE(is_gone(ours.release(held)));
  EXPECT_EQ(java.lock("L"), std::nullopt);
}

TEST_F(Redisson, OurReleaseWakesItsWaiters) {
  for (const std::string& name : {std::string("L"), std::string("app:{t1}:L")}) {
    Listener waiter(server, redis::redisson_channel(Kind::mutex, *LockName::checked(name)));
    const HoldKey held = ours.granted(ours.claim(name));
    EXPECT_FALSE(is_gone(ours.release(held)));
    EXPECT_EQ(waiter.hears(), "0") << name;
    EXPECT_EQ(java.lock(name), std::nullopt);
    EXPECT_TRUE(java.unlock(name));
    EXPECT_EQ(waiter.hears(), "0") << "the channel is the one on which it wakes us, too";
  }
}

TEST_F(Redisson, TokensGrowAcrossBoth) {
  std::int64_t newest = java.fenced_lock("L");
  EXPECT_TRUE(java.unlock("L"));
  for (int round = 0; round < 3; ++round) {
    const HoldKey held = ours.granted(ours.claim("L"));
    EXPECT_GT(static_cast<std::int64_t>(held.fence), newest);
    EXPECT_EQ(java.fenced_lock("L"), -1);
    EXPECT_FALSE(is_gone(ours.release(held)));
    newest = java.fenced_lock("L");
    EXPECT_GT(newest, static_cast<std::int64_t>(held.fence));
    EXPECT_TRUE(java.unlock("L"));
  }
  EXPECT_EQ(left("redisson_lock_token:{L}"), -1) << "an expiry would start its tokens anew";
}

TEST_F(Redisson, AForcedUnlockOfItsEndsOurHold) {
  const HoldKey held = ours.granted(ours.claim("L"));
  EXPECT_TRUE(java.force_unlock("L"));
  EXPECT_TRUE(is_gone(ours.renew(held)));
  EXPECT_TRUE(is_gone(ours.release(held)));
  const HoldKey again = ours.granted(ours.claim("L"));
  EXPECT_TRUE(java.force_unlock("L"));
  EXPECT_EQ(java.lock("L"), std::nullopt);
  EXPECT_TRUE(is_gone(ours.release(again))) << "it must not free somebody else's";
  EXPECT_EQ(hash("L").count(java.owner()), 1U);
}

TEST_F(Redisson, WithItsWaitersAReleaseIsOpenEverySecondTime) {
  RedisConnection us(server.socket_path());
  us.ask({"SUBSCRIBE", ours.wake_channel()});
  const auto told = [&] {
    const auto message = us.hear(std::chrono::milliseconds(200));
    return redis::wake_in(message ? message->items.at(2).text : "").value_or(redis::WakeMessage());
  };
  const HoldKey first = ours.granted(ours.claim("L"));
  const GrantRequest second = ours.claim("L");
  const GrantRequest third = ours.claim("L");
  EXPECT_FALSE(ours.ask(second).foreign) << "nobody has to listen on its channel for this one";
  EXPECT_TRUE(is_refused(ours.ask(third)));
  Listener waiter(server, redis::redisson_channel(Kind::mutex, first.name));

  EXPECT_FALSE(is_gone(ours.release(first)));
  EXPECT_EQ(waiter.hears(), "0");
  redis::WakeMessage look = told();
  EXPECT_EQ(look.claim, second.owner.claim);
  EXPECT_FALSE(look.wake.offer) << "it only looks, after a while";
  EXPECT_GT(look.wake.look_after, Duration::zero());
  EXPECT_EQ(java.lock("L"), std::nullopt) << "it was left to Redisson's waiter";
  EXPECT_TRUE(ours.ask(second).foreign) << "now its channel has to be listened to";

  EXPECT_TRUE(java.unlock("L"));
  const HoldKey held = ours.granted(second);
  ASSERT_GT(held.fence, 0U);
  EXPECT_FALSE(is_gone(ours.release(held)));
  const redis::WakeMessage offer = told();
  EXPECT_EQ(offer.claim, third.owner.claim);
  ASSERT_TRUE(offer.wake.offer) << "the second time it is ours";
  EXPECT_GT(java.lock("L").value_or(0), 0);
}

TEST_F(Redisson, WithoutItsWaitersEveryReleaseIsHandedOver) {
  RedisConnection us(server.socket_path());
  us.ask({"SUBSCRIBE", ours.wake_channel()});
  HoldKey held = ours.granted(ours.claim("L"));
  for (int i = 0; i < 20; ++i) {
    const GrantRequest next = ours.claim("L");
    EXPECT_TRUE(is_refused(ours.ask(next)));
    EXPECT_FALSE(is_gone(ours.release(held)));
    EXPECT_GT(java.lock("L").value_or(0), 0);
    held = ours.granted(next);
  }
}

TEST_F(Redisson, AForeignHolderCanBeFreedAtOnceButNotRevoked) {
  EXPECT_EQ(java.lock("L"), std::nullopt);
  const auto seen = ours.look("L");
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->holds.size(), 1U);
  EXPECT_EQ(seen->holds[0].record.owner, java.owner());
  EXPECT_EQ(seen->holds[0].fence, 0U);
  ForceRequest force{.name = seen->name, .fence = 0};
  EXPECT_TRUE(std::holds_alternative<Rejected>(ours.force(force)));
  EXPECT_EQ(hash("L").count(java.owner()), 1U);
  force.now = true;
  EXPECT_TRUE(std::holds_alternative<Forced>(ours.force(force)));
  EXPECT_FALSE(java.unlock("L"));
  EXPECT_TRUE(std::holds_alternative<ChangedHands>(ours.force(force)));
}

// --- fair ---

TEST_F(Redisson, ItsFairWaitersComeBeforeWhoeverComesLater) {
  const HoldKey held = ours.granted(ours.claim("F"));
  EXPECT_GT(java.fair_lock("F").value_or(0), 0);
  const GrantRequest later = ours.claim("F");
  EXPECT_TRUE(is_refused(ours.ask(later)));
  Listener head(server, "redisson_lock__channel:{F}:" + java.owner());
  EXPECT_FALSE(is_gone(ours.release(held)));
  EXPECT_EQ(head.hears(), "0");
  const redis::GrantAnswer answer = ours.ask(later);
  EXPECT_TRUE(is_refused(answer)) << "it is free, but another one waits longer";
  EXPECT_TRUE(answer.foreign);
  EXPECT_TRUE(is_refused(ours.ask(ours.claim("F"))));
  EXPECT_EQ(java.fair_lock("F"), std::nullopt);
  EXPECT_TRUE(is_refused(ours.ask(later)));
  EXPECT_TRUE(java.fair_unlock("F"));
  EXPECT_GT(ours.granted(later).fence, 0U);
}

TEST_F(Redisson, ItsFairWaitersComeAfterWhoeverWasThereBefore) {
  RedisConnection us(server.socket_path());
  us.ask({"SUBSCRIBE", ours.wake_channel()});
  const HoldKey held = ours.granted(ours.claim("F"));
  const GrantRequest earlier = ours.claim("F");
  EXPECT_TRUE(is_refused(ours.ask(earlier)));
  EXPECT_GT(java.fair_lock("F").value_or(0), 0);
  EXPECT_TRUE(is_refused(ours.ask(earlier))) << "asking again does not cost the place";
  EXPECT_FALSE(is_gone(ours.release(held)));
  EXPECT_GT(java.fair_lock("F").value_or(0), 0);
  EXPECT_GT(ours.granted(earlier).fence, 0U);
}

TEST_F(Redisson, AFairWaiterWhoseTimeIsOverIsPassedOver) {
  EXPECT_EQ(java.lock("F"), std::nullopt);
  EXPECT_TRUE(java.fair_lock("F", 2).has_value());
  server.must({"ZADD", "redisson_lock_timeout:{F}", "1000", java.owner(2)});
  EXPECT_TRUE(java.unlock("F"));
  EXPECT_GT(ours.granted(ours.claim("F")).fence, 0U);
  EXPECT_EQ(server.must({"EXISTS", "redisson_lock_queue:{F}", "redisson_lock_timeout:{F}"}).integer,
            0);
}

// --- readers and writers ---

TEST_F(Redisson, ReadersOfBothReadTogetherAndKeepWritersOut) {
  EXPECT_EQ(java.read_lock("RW"), std::nullopt);
  const HoldKey reader = ours.granted(ours.claim("RW", Kind::shared_mutex, Shape::shared()));
  ASSERT_GT(reader.fence, 0U);
  EXPECT_EQ(hash("RW"), (std::map<std::string, std::string>{
                            {"mode", "read"}, {java.owner(), "1"}, {field(reader), "1"}}));
  EXPECT_GT(java.write_lock("RW").value_or(0), 0);
  GrantRequest writer = ours.claim("RW", Kind::shared_mutex);
  writer.line_up = false;
  EXPECT_TRUE(is_refused(ours.ask(writer)));
  EXPECT_TRUE(java.read_unlock("RW"));
  EXPECT_TRUE(is_refused(ours.ask(writer)));
  EXPECT_FALSE(is_gone(ours.release(reader)));
  EXPECT_GT(ours.granted(writer).fence, 0U);
}

TEST_F(Redisson, OurReadersSurviveItsReadersLeaving) {
  const HoldKey reader = ours.granted(ours.claim("RW", Kind::shared_mutex, Shape::shared()));
  const HoldKey upgradeable =
      ours.granted(ours.claim("RW", Kind::shared_mutex, Shape::upgradeable()));
  EXPECT_EQ(java.read_lock("RW"), std::nullopt);
  EXPECT_TRUE(java.read_unlock("RW"));
  EXPECT_FALSE(is_gone(ours.renew(reader)));
  EXPECT_FALSE(is_gone(ours.renew(upgradeable)));
  EXPECT_GT(java.write_lock("RW").value_or(0), 0);
  EXPECT_FALSE(is_gone(ours.release(reader)));
  EXPECT_FALSE(is_gone(ours.release(upgradeable)));
  EXPECT_EQ(java.write_lock("RW"), std::nullopt);
}

TEST_F(Redisson, WritersExcludeEverybody) {
  const HoldKey writer = ours.granted(ours.claim("RW", Kind::shared_mutex));
  EXPECT_EQ(hash("RW"), (std::map<std::string, std::string>{{"mode", "write"},
                                                            {field(writer) + ":write", "1"}}));
  EXPECT_GT(java.read_lock("RW").value_or(0), 0);
  EXPECT_GT(java.write_lock("RW").value_or(0), 0);
  Listener waiter(server, redis::redisson_channel(Kind::shared_mutex, writer.name));
  EXPECT_FALSE(is_gone(ours.release(writer)));
  EXPECT_EQ(waiter.hears(), "1") << "which wakes all of its readers";
  EXPECT_EQ(java.write_lock("RW"), std::nullopt);
  EXPECT_TRUE(is_refused(ours.ask(ours.claim("RW", Kind::shared_mutex, Shape::shared()))));
  EXPECT_TRUE(is_refused(ours.ask(ours.claim("RW", Kind::shared_mutex))));
  EXPECT_TRUE(java.write_unlock("RW"));
  EXPECT_EQ(waiter.hears(), "1");
}

TEST_F(Redisson, ADowngradeLetsItsReadersIn) {
  const HoldKey writer = ours.granted(ours.claim("RW", Kind::shared_mutex));
  GrantRequest downgrade = ours.claim("RW", Kind::shared_mutex, Shape::shared());
  downgrade.instead_of = writer;
  Listener waiter(server, redis::redisson_channel(Kind::shared_mutex, writer.name));
  EXPECT_GT(ours.granted(downgrade).fence, writer.fence);
  EXPECT_EQ(waiter.hears(), "1");
  EXPECT_EQ(java.read_lock("RW"), std::nullopt);
  EXPECT_GT(java.write_lock("RW").value_or(0), 0);
}

TEST_F(Redisson, AnUpgradeWaitsForItsReaders) {
  const HoldKey old = ours.granted(ours.claim("RW", Kind::shared_mutex, Shape::upgradeable()));
  EXPECT_EQ(java.read_lock("RW"), std::nullopt);
  GrantRequest upgrade = ours.claim("RW", Kind::shared_mutex);
  upgrade.instead_of = old;
  EXPECT_TRUE(is_refused(ours.ask(upgrade)));
  EXPECT_TRUE(java.read_unlock("RW"));
  const HoldKey writer = ours.granted(upgrade);
  ASSERT_GT(writer.fence, 0U);
  EXPECT_EQ(hash("RW"), (std::map<std::string, std::string>{{"mode", "write"},
                                                            {field(writer) + ":write", "1"}}));
}

TEST_F(Redisson, AReaderOfItsThatDiedDoesNotBlockForLongerThanItsLease) {
  EXPECT_EQ(java.read_lock("RW"), std::nullopt);
  const HoldKey reader = ours.granted(ours.claim("RW", Kind::shared_mutex, Shape::shared()));
  // Its own key lapses; the hash lives on because of our reader.
  server.must({"DEL", "{RW}:" + java.owner() + ":rwlock_timeout:1"});
  EXPECT_FALSE(is_gone(ours.renew(reader)));
  EXPECT_EQ(hash("RW").count(java.owner()), 0U);
  EXPECT_FALSE(is_gone(ours.release(reader)));
  EXPECT_GT(ours.granted(ours.claim("RW", Kind::shared_mutex)).fence, 0U);
}

// --- kinds ---

TEST_F(Redisson, WhatIsOfAnotherKindIsRejected) {
  EXPECT_EQ(java.lock("L"), std::nullopt);
  EXPECT_TRUE(is_rejected(ours.ask(ours.claim("L", Kind::shared_mutex))));
  EXPECT_TRUE(is_rejected(ours.ask(ours.claim("L", Kind::shared_mutex, Shape::shared()))));
  EXPECT_TRUE(is_rejected(ours.ask(ours.claim("L", Kind::semaphore, Shape::permits(1, 2)))));
  EXPECT_EQ(java.read_lock("RW"), std::nullopt);
  EXPECT_TRUE(is_rejected(ours.ask(ours.claim("RW"))));
  server.must({"SET", "S", "3"});  // a semaphore or a latch of its
  for (const Kind kind : {Kind::mutex, Kind::shared_mutex}) {
    EXPECT_TRUE(is_rejected(ours.ask(ours.claim("S", kind))));
  }
  EXPECT_TRUE(is_rejected(ours.ask(ours.claim("S", Kind::semaphore, Shape::permits(1, 3)))));
  EXPECT_EQ(server.must({"GET", "S"}).text, "3");
}

}  // namespace
}  // namespace holdfast::test
