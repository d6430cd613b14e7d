// What goes over the wire, compared with what a server of 3.8.0 said and understood.
#include "store/zookeeper/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "store/zookeeper/answers.hpp"
#include "store/zookeeper/jute.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

// "01 ff" and letters between quotes: "0000 0001 'a'".
std::string bytes(std::string_view text) {
  std::string out;
  std::string digits;
  bool quoted = false;
  for (const char each : text) {
    if (each == '\'') {
      quoted = !quoted;
    } else if (quoted) {
      out += each;
    } else if (each != ' ') {
      digits += each;
      if (digits.size() < 2) continue;
      out += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    }
  }
  return out;
}

const std::string kStat = bytes(
    "0000000000000003 0000000000000007 000001a1ec28eaf0 000001a1ec28eb0d 00000001 00000002 00000000"
    "0100000b0c9c0000 00000002 00000004 0000000000000005");

Stat stat() {
  return {.czxid = 3,
          .mzxid = 7,
          .pzxid = 5,
          .ctime_ms = 0x1a1ec28eaf0,
          .mtime_ms = 0x1a1ec28eb0d,
          .version = 1,
          .cversion = 2,
          .ephemeral_owner = 0x100000b0c9c0000,
          .data_length = 2,
          .num_children = 4};
}

std::string question(const Request& request, Owners owners = Owners::anyone) {
  std::string out;
  append_question(out, 5, request, owners);
  return out;
}

std::vector<std::string> frames_in(const std::string& out) {
  FrameReader reader;
  reader.feed(out);
  std::vector<std::string> frames;
  while (const auto frame = reader.next()) frames.emplace_back(frame->bytes);
  return frames;
}

TEST(ZooKeeperMessages, Hello) {
  std::string out;
  append_hello(out, {.last_zxid = 9, .timeout_ms = 4000, .session = 0x1234, .password = "pw"});
  EXPECT_EQ(out, bytes("0000001f 00000000 0000000000000009 00000fa0 0000000000001234 00000002 'pw' "
                       "00"));
}

TEST(ZooKeeperMessages, Welcome) {
  const auto it = welcome_in(
      bytes("00000000 00000fa0 0100000b0c9c0000 00000010 2672154fbbef4cec74e0888efc1182c2 00"));
  ASSERT_TRUE(it);
  EXPECT_EQ(it->timeout_ms, 4000);
  EXPECT_EQ(it->session, 0x100000b0c9c0000);
  EXPECT_EQ(it->password, bytes("2672154fbbef4cec74e0888efc1182c2"));
  const auto ended = welcome_in(bytes("00000000 00000000 0000000000000000 00000000"));
  ASSERT_TRUE(ended) << "servers before 3.4 do not say whether they can only be read from";
  EXPECT_EQ(ended->timeout_ms, 0);
  EXPECT_FALSE(welcome_in(bytes("00000000 00000000 000000000000")));
  EXPECT_FALSE(welcome_in(bytes("00000000 ffffffff 0000000000000001 00000000")));
}

TEST(ZooKeeperMessages, WhatIsSaidBesidesQuestions) {
  std::string out;
  append_ping(out);
  append_identity(out, "u", "p");
  append_goodbye(out, 3);
  EXPECT_THAT(frames_in(out),
              ElementsAre(bytes("fffffffe 0000000b"),
                          bytes("fffffffc 00000064 00000000 00000006 'digest' 00000003 'u:p'"),
                          bytes("00000003 fffffff5")));
}

TEST(ZooKeeperMessages, Questions) {
  const std::string world = "00000001 0000001f 00000005 'world' 00000006 'anyone'";
  EXPECT_EQ(question({.op = Op::create, .path = "/a", .data = "x", .mode = Mode::ephemeral}),
            bytes("00000032 00000005 0000000f 00000002 '/a' 00000001 'x'" + world + "00000001"));
  EXPECT_EQ(
      question({.op = Op::create, .path = "/a", .mode = Mode::ephemeral_sequential},
               Owners::ourselves),
      bytes("0000002a 00000005 0000000f 00000002 '/a' 00000000 00000001 0000001f 00000004 'auth' "
            "00000000 00000003"));
  EXPECT_EQ(question({.op = Op::create_container, .path = "/a"}),
            bytes("00000031 00000005 00000013 00000002 '/a' 00000000" + world + "00000004"));
  EXPECT_EQ(question({.op = Op::remove, .path = "/a", .version = 7}),
            bytes("00000012 00000005 00000002 00000002 '/a' 00000007"));
  EXPECT_EQ(question({.op = Op::exists, .path = "/a", .watch = true}),
            bytes("0000000f 00000005 00000003 00000002 '/a' 01"));
  EXPECT_EQ(question({.op = Op::get_data, .path = "/a"}),
            bytes("0000000f 00000005 00000004 00000002 '/a' 00"));
  EXPECT_EQ(question({.op = Op::set_data, .path = "/a", .data = "yy"}),
            bytes("00000018 00000005 00000005 00000002 '/a' 00000002 'yy' ffffffff"));
  EXPECT_EQ(question({.op = Op::get_children, .path = "/"}),
            bytes("0000000e 00000005 0000000c 00000001 '/' 00"));
  EXPECT_EQ(question({.op = Op::sync, .path = "/"}),
            bytes("0000000d 00000005 00000009 00000001 '/'"));
}

TEST(ZooKeeperMessages, AQuestionOfSeveralParts) {
  const std::string end = "ffffffff 01 ffffffff";
  const std::string check = "0000000d 00 ffffffff 00000002 '/a' ffffffff";
  EXPECT_EQ(question({.op = Op::check, .path = "/a"}),
            bytes("00000024 00000005 0000000e" + check + end))
      << "a check alone is one as well, for servers do not know it otherwise";
  std::string out;
  append_question(out, 5,
                  std::array{Request{.op = Op::check, .path = "/a"},
                             Request{.op = Op::remove, .path = "/b", .version = 0}},
                  Owners::anyone);
  EXPECT_EQ(out, bytes("00000037 00000005 0000000e" + check +
                       "00000002 00 ffffffff 00000002 '/b' 00000000" + end));
}

TEST(ZooKeeperMessages, Replies) {
  const AnswerHead head{.xid = 5, .zxid = 8, .raw = 0};
  const auto created = reply_in(head, bytes("00000002 '/a'") + kStat, Op::create);
  ASSERT_TRUE(created);
  EXPECT_EQ(created->code, Code::ok);
  EXPECT_EQ(created->zxid, 8);
  EXPECT_EQ(created->path, "/a");
  EXPECT_EQ(created->stat, stat());
  const auto data = reply_in(head, bytes("00000001 'x'") + kStat, Op::get_data);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->data, "x");
  EXPECT_EQ(data->stat, stat());
  EXPECT_EQ(reply_in(head, bytes("ffffffff") + kStat, Op::get_data)->data, "");
  const auto children =
      reply_in(head, bytes("00000002 00000001 'a' 00000002 'bc'") + kStat, Op::get_children);
  ASSERT_TRUE(children);
  EXPECT_THAT(children->children, ElementsAre("a", "bc"));
  EXPECT_EQ(children->stat, stat());
  EXPECT_EQ(reply_in(head, kStat, Op::exists)->stat, stat());
  EXPECT_EQ(reply_in(head, kStat, Op::set_data)->stat, stat());
  EXPECT_EQ(reply_in(head, bytes("00000001 '/'"), Op::sync)->path, "/");
  EXPECT_TRUE(reply_in(head, "", Op::remove));
  EXPECT_FALSE(reply_in(head, "", Op::exists));
  EXPECT_FALSE(reply_in(head, bytes("00000002 '/a'"), Op::create));
}

TEST(ZooKeeperMessages, RepliesThatAreErrors) {
  const auto reply = reply_in({.xid = 5, .zxid = 8, .raw = -101}, "", Op::get_data);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, Code::no_node);
  EXPECT_EQ(reply->raw, -101);
  EXPECT_EQ(code_of(-110), Code::node_exists);
  EXPECT_EQ(code_of(-103), Code::bad_version);
  EXPECT_EQ(code_of(-111), Code::not_empty);
  EXPECT_EQ(code_of(-108), Code::no_children_for_ephemerals);
  EXPECT_EQ(code_of(-102), Code::no_auth);
  EXPECT_EQ(code_of(-8), Code::other);
  EXPECT_TRUE(concerns_the_session(-112) && concerns_the_session(-118));
  EXPECT_TRUE(locks_us_out(-115));
  EXPECT_FALSE(concerns_the_session(-101));
}

TEST(ZooKeeperMessages, RepliesToSeveralParts) {
  const AnswerHead head{.xid = 1, .zxid = 13, .raw = 0};
  const auto all =
      replies_in(head,
                 bytes("0000000d 00 00000000"
                       "00000001 00 00000000 00000003 '/m1'"
                       "00000005 00 00000000") +
                     kStat + bytes("00000002 00 00000000 0000000f 00 00000000 00000003 '/mc'") +
                     kStat + bytes("ffffffff 01 ffffffff"),
                 5);
  ASSERT_TRUE(all);
  for (const Reply& each : *all) EXPECT_EQ(each.code, Code::ok);
  EXPECT_EQ((*all)[1].path, "/m1");
  EXPECT_EQ((*all)[1].stat.czxid, 13) << "what the server leaves out is known";
  EXPECT_EQ((*all)[2].stat, stat());
  EXPECT_EQ((*all)[4].path, "/mc");
  EXPECT_EQ((*all)[4].stat, stat());
}

TEST(ZooKeeperMessages, IfOnePartFailsNoneIsDone) {
  const std::string body = bytes(
      "ffffffff 00 00000000 00000000"
      "ffffffff 00 ffffff92 ffffff92"
      "ffffffff 00 fffffffe fffffffe"
      "ffffffff 01 ffffffff");
  const auto all = replies_in({.xid = 2, .zxid = 14, .raw = 0}, body, 3);
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].code, Code::other);
  EXPECT_EQ((*all)[1].code, Code::node_exists);
  EXPECT_EQ((*all)[2].code, Code::other);
  const AnswerHead head{};
  EXPECT_FALSE(replies_in(head, body, 2));
  EXPECT_FALSE(replies_in(head, body, 4));
  EXPECT_FALSE(replies_in(head, body.substr(0, 20), 3));
  const auto none = replies_in({.xid = 2, .zxid = 14, .raw = -5}, "", 2);
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)[1].code, Code::other);
  EXPECT_EQ((*none)[1].raw, -5);
}

TEST(ZooKeeperMessages, Events) {
  const auto changed = firing_in(bytes("00000003 00000003 00000002 '/a'"));
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->path, "/a");
  EXPECT_EQ(changed->event, Event::data_changed);
  EXPECT_TRUE(changed->ended.data && changed->ended.creation && !changed->ended.children);
  const auto deleted = firing_in(bytes("00000002 00000003 00000002 '/a'"));
  EXPECT_EQ(deleted->event, Event::deleted);
  EXPECT_TRUE(deleted->ended.data && deleted->ended.children);
  const auto children = firing_in(bytes("00000004 00000003 00000002 '/a'"));
  EXPECT_TRUE(!children->ended.data && children->ended.children);
  const auto state = firing_in(bytes("ffffffff 00000003 00000000"));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->path, "");
  EXPECT_FALSE(firing_in(bytes("00000003 00000003 00000003 '/a'")));
}

TEST(ZooKeeperMessages, WatchesAreSetAgainInFramesThatNoServerFindsTooLong) {
  std::string out;
  WatchesAgain few(out, 9);
  few.add("/a", {.data = true});
  few.add("/b", {.creation = true, .children = true});
  few.add("/c", {});
  few.finish();
  few.finish();
  EXPECT_THAT(frames_in(out),
              ElementsAre(bytes("fffffff8 00000065 0000000000000009 00000001 00000002 '/a' "
                                "00000001 00000002 '/b' 00000001 00000002 '/b'")));
  std::string long_out;
  WatchesAgain many(long_out, 9);
  for (int i = 0; i < 12'000; ++i) {
    many.add("/" + std::string(180, 'x') + std::to_string(i), {.data = true});
  }
  many.finish();
  std::size_t paths = 0;
  for (const std::string& frame : frames_in(long_out)) {
    EXPECT_LT(frame.size(), 132'000U);
    JuteReader in(std::string_view(frame).substr(16));
    paths += in.texts().size();
    EXPECT_TRUE(in.texts().empty() && in.texts().empty() && in.ok() && in.rest().empty());
  }
  EXPECT_EQ(paths, 12'000U);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
