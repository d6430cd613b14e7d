// What a server replies is outside input: whatever it is, it becomes an answer or NoAnswer, and never a crash.
#include <random>

#include "rules/record_text.hpp"
#include "store/redis/cell_questions.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/wake_message.hpp"
#include "support/effort.hpp"

#include "gtest/gtest.h"

namespace holdfast::store::redis {
namespace {

using Type = Reply::Type;

Reply text(std::string words) { return {.type = Type::text, .text = std::move(words)}; }
Reply number(std::int64_t value) { return {.type = Type::integer, .integer = value}; }
Reply array(std::vector<Reply> items) { return {.type = Type::array, .items = std::move(items)}; }

const std::string kOwner = "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:17";

HolderRecord some_record() {
  HolderRecord record;
  record.host = "web 2";
  record.pid = 8123;
  record.program = "billing\n7";
  record.since = WallTime(std::chrono::microseconds(1'700'000'000'000'001));
  record.reason = std::string("a\0b 3 4\n", 8);
  return record;
}

// One of each reply that makes sense.
std::vector<Reply> good_replies() {
  const Reply record = text(rules::text_of(some_record()));
  const Reply claim = array({text(kOwner), number(3), number(2), number(4), record, number(77),
                             number(1000), number(0), number(1)});
  return {
      array({text("granted"), number(77), number(16), number(30'000'000), number(0), number(3)}),
      array({text("refused"), text(kOwner), record, number(5), number(7), number(1), number(2),
             number(77), number(0)}),
      array({text("refused"), text(""), text(""), number(0), number(0), number(0), number(0),
             number(0), number(1)}),
      array({text("rejected"), text("kind"), number(2)}),
      array({text("rejected"), text("size"), number(4), number(5)}),
      array({text("rejected"), text("lost")}),
      array({number(2), array({claim}), array({claim, claim})}),
      array({number(30'000'000), text("gone"), text("forced")}),
      array({text("done"), text("value"), number(3)}),
      array({text("older")}),
      array({text("7"), text("3")}),
      text("released"),
      text("forced"),
      {},
  };
}

// Every reader gets everything.
void read_as_anything(const Reply& reply) {
  grant_in(reply);
  renewals_in(reply, 3);
  release_in(reply);
  withdraw_in(reply);
  force_in(reply);
  view_in(reply, LockName());
  change_in(reply);
  cell_in(reply);
}

void spoil(Reply& reply, std::mt19937& random) {
  if (reply.is(Type::array) && !reply.items.empty() && random() % 3 != 0) {
    const std::size_t at = random() % reply.items.size();
    switch (random() % 4) {
      case 0:
        reply.items.erase(reply.items.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      case 1:
        reply.items.push_back(Reply(reply.items[at]));
        return;
      default:
        return spoil(reply.items[at], random);
    }
  }
  const std::int64_t numbers[] = {-1, 0, 4, 256, INT64_MAX, INT64_MIN, std::int64_t{1} << 40};
  switch (random() % 4) {
    case 0:
      reply = number(numbers[random() % std::size(numbers)]);
      return;
    case 1:
      reply = Reply{};
      return;
    case 2:
      if (!reply.text.empty()) reply.text.resize(random() % reply.text.size());
      return;
    default:
      if (!reply.text.empty())
        reply.text[random() % reply.text.size()] = static_cast<char>(random());
      return;
  }
}

TEST(RedisAnswers, SpoiledRepliesAreNeverACrash_F011) {
  std::mt19937 random(1);
  for (int i = 0; i < (test::kSanitized ? 500 : 10'000); ++i) {
    for (Reply reply : good_replies()) {
      const unsigned times = 1 + static_cast<unsigned>(random() % 3);
      for (unsigned n = 0; n < times; ++n) spoil(reply, random);
      read_as_anything(reply);
    }
  }
}

TEST(RedisAnswers, AReplyThatIsTooShortOrTooLongIsNone) {
  for (const Reply& good : good_replies()) {
    if (good.items.size() < 2 || !good.items[0].is(Type::text)) continue;
    Reply longer = good;
    longer.items.push_back(text("more"));
    EXPECT_TRUE(std::holds_alternative<NoAnswer>(grant_in(longer).reply));
    EXPECT_TRUE(std::holds_alternative<NoAnswer>(change_in(longer)));
  }
  const Reply grant = good_replies()[0];
  for (std::size_t size = 0; size < 4; ++size) {
    const Reply shorter =
        array({grant.items.begin(), grant.items.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_TRUE(std::holds_alternative<NoAnswer>(grant_in(shorter).reply)) << size;
  }
}

TEST(RedisAnswers, AGrantIsRead) {
  const GrantAnswer answer = grant_in(good_replies()[0]);
  const auto& granted = std::get<Granted>(answer.reply);
  EXPECT_EQ(granted.fence, 77U);
  EXPECT_EQ(granted.spare, 16U);
  EXPECT_EQ(granted.lease, std::chrono::seconds(30));
  EXPECT_EQ(granted.slots, (std::vector<std::uint32_t>{0, 3}));
}

TEST(RedisAnswers, ARefusalIsRead) {
  const GrantAnswer answer = grant_in(good_replies()[1]);
  const auto& refused = std::get<Refused>(answer.reply);
  HolderRecord expected = some_record();
  expected.owner = "51db3dfa0c014cd1997620c79a3e7d2c:17";
  EXPECT_EQ(refused.holder, expected);
  EXPECT_EQ(refused.lease_left, std::chrono::microseconds(5));
  EXPECT_EQ(refused.retry_after, std::chrono::microseconds(7));
  EXPECT_EQ(refused.ahead, 1U);
  EXPECT_EQ(refused.waiting, 2U);
  EXPECT_EQ(refused.fence_counter, 77U);
  EXPECT_FALSE(answer.foreign);
  EXPECT_TRUE(grant_in(good_replies()[2]).foreign);
}

TEST(RedisAnswers, RecordsOfAnyBytesComeBack) {
  EXPECT_EQ(rules::record_in(rules::text_of(some_record())), some_record());
  EXPECT_EQ(rules::record_in(rules::text_of({})), HolderRecord());
  for (const std::string_view bad :
       {"", "\n", "1 2 3\n", "1 2 9 0\nabc", "1 2 0 9\nabc", "x 2 0 0\n", "1 2 0 0 0\n",
        "1 2 4294967295 4294967295\nabc"}) {
    EXPECT_FALSE(rules::record_in(bad)) << bad;
  }
}

TEST(RedisAnswers, WakesAreRead) {
  const auto offer = wake_in("offer 17 1700000000000001 16 0,3,11 my lock");
  ASSERT_TRUE(offer && offer->wake.offer);
  EXPECT_EQ(offer->claim, 17U);
  EXPECT_EQ(offer->lock, "my lock");
  EXPECT_EQ(offer->wake.offer->fence, 1'700'000'000'000'001U);
  EXPECT_EQ(offer->wake.offer->spare, 16U);
  EXPECT_EQ(offer->wake.offer->slots, (std::vector<std::uint32_t>{0, 3, 11}));
  const auto look = wake_in("look 17 20000 x");
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->wake.offer);
  EXPECT_EQ(look->wake.look_after, std::chrono::milliseconds(20));
  for (const std::string_view bad :
       {"", "0", "offer", "offer 17 5 0 - ", "offer 17 5 0 -", "offer 17 5 0 1,,2 x",
        "offer x 5 0 - n", "offer 17 -5 0 - n", "look 17 x n", "look 17 99999999999999999999 n",
        "hello 17 5 n"}) {
    EXPECT_FALSE(wake_in(bad)) << bad;
  }
}

TEST(RedisAnswers, ErrorsSayWhatTheyMean) {
  struct Case {
    const char* error;
    Errc why;
    bool executed;
  };
  for (const Case& each : {
           Case{"NOAUTH Authentication required.", Errc::permission, false},
           Case{"WRONGPASS invalid username-password pair or user is disabled.", Errc::permission,
                false},
           Case{"NOPERM User bob has no permissions to run the 'evalsha' command", Errc::permission,
                false},
           Case{"NOPERM No permissions to access a key script: 5f, on @user_script:7.",
                Errc::permission, true},
           Case{
               "ERR The user executing the script can't run this command or subcommand script: 5f, "
               "on @user_script:7.",
               Errc::permission, true},
           Case{"OOM command not allowed when used memory > 'maxmemory'.", Errc::store_full, false},
           Case{"OOM command not allowed when used memory > 'maxmemory'. script: 5f, on "
                "@user_script:7.",
                Errc::store_full, true},
           Case{"LOADING Redis is loading the dataset in memory", Errc::unavailable, false},
           Case{"READONLY You can't write against a read only replica. script: 5f, on "
                "@user_script:7.",
                Errc::unavailable, false},
           Case{"MOVED 1234 10.0.0.1:6379", Errc::unavailable, false},
           Case{"MISCONF Redis is configured to save RDB snapshots", Errc::store_full, false},
           Case{"WRONGTYPE Operation against a key holding the wrong kind of value script: 5f, on "
                "@user_script:7.",
                Errc::store_corrupt, true},
           Case{"ERR something new", Errc::protocol, true},
           Case{"", Errc::protocol, true},
       }) {
    const NoAnswer no = failure_of(each.error);
    EXPECT_EQ(no.why, each.why) << each.error;
    EXPECT_EQ(no.executed, each.executed) << each.error;
    EXPECT_FALSE(no.text.empty());
  }
}

TEST(RedisAnswers, ErrorsKeepSecrets_F060) {
  const NoAnswer no =
      failure_of("ERR unknown command 'AUTH2', with args beginning with: 'bob' 'hunter2' ");
  EXPECT_EQ(no.text.find("hunter2"), std::string::npos) << no.text;
  EXPECT_EQ(failure_of("WRONGPASS hunter2").text.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::store::redis
