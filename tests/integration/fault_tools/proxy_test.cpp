// The proxy with real sockets: every test talks to an echo server through it. What a direction does to
// its bytes, and when, is shown without sockets in tests/support/net/pipe_test.cpp.
#include "support/net/proxy.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "echo_server.hpp"
#include "support/stopwatch.hpp"
#include "support/temp_folder.hpp"
#include "talk.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class ProxyTest : public testing::Test {
 protected:
  EchoServer server_;
  Proxy proxy_{server_.address()};
};

TEST_F(ProxyTest, CarriesBytesBothWaysAndCountsThem) {
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("hello"));
  EXPECT_EQ(talk.hear(5), "hello");
  EXPECT_EQ(proxy_.connections(), 1U);
  EXPECT_EQ(proxy_.open(), 1U);
  EXPECT_EQ(proxy_.traffic(Way::to_server).passed, 5U);
  EXPECT_EQ(proxy_.traffic(Way::to_client).came, 5U);
}

TEST_F(ProxyTest, CarriesMoreThanAnySocketKeeps) {
  const std::string much(8 << 20, 'x');
  const Talk talk(proxy_.address());
  proxy_.hold(Way::to_client);  // so that a client that does not read yet does not stop the server
  ASSERT_TRUE(talk.say(much));
  ASSERT_TRUE(proxy_.until_came(Way::to_client, much.size()));
  proxy_.release(Way::to_client);
  EXPECT_EQ(talk.hear(much.size()).size(), much.size());
}

TEST_F(ProxyTest, PassesTheEndOfEachDirectionOn) {
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("bye"));
  talk.say_no_more();
  EXPECT_EQ(talk.hear(3), "bye");
  EXPECT_EQ(talk.ending(), "end");
  EXPECT_TRUE(proxy_.until_open(0));
}

TEST_F(ProxyTest, CountsConnectionsAlsoWhenTheyAreOver) {
  for (int i = 0; i < 3; ++i) {
    const Talk talk(proxy_.address());
    ASSERT_TRUE(talk.say("one"));
    ASSERT_EQ(talk.hear(3), "one");
  }
  EXPECT_TRUE(proxy_.until_connections(3));
  EXPECT_TRUE(proxy_.until_open(0));
  EXPECT_EQ(proxy_.traffic(Way::to_client).passed, 9U);
}

TEST_F(ProxyTest, DelaysEachDirection) {
  proxy_.set(Way::to_server, {.delay = 30ms});
  proxy_.set(Way::to_client, {.delay = 30ms, .jitter = 5ms});
  const Talk talk(proxy_.address());
  const Stopwatch took;
  ASSERT_TRUE(talk.say("hello"));
  EXPECT_EQ(talk.hear(5), "hello");
  EXPECT_GE(took.elapsed(), 60ms);
}

TEST_F(ProxyTest, LosesOneDirectionWhileTheOtherWorks) {
  const Talk talk(proxy_.address());
  proxy_.set(Way::to_client, {.drop = true});
  ASSERT_TRUE(talk.say("lost"));
  ASSERT_TRUE(proxy_.until_came(Way::to_client, 4));
  proxy_.set(Way::to_client, {});
  ASSERT_TRUE(talk.say("seen"));
  EXPECT_EQ(talk.hear(4), "seen");
}

TEST_F(ProxyTest, HoldsAQuestionUntilItIsReleased) {
  const Talk talk(proxy_.address());
  proxy_.hold(Way::to_server);
  ASSERT_TRUE(talk.say("late"));
  ASSERT_TRUE(proxy_.until_came(Way::to_server, 4));
  EXPECT_EQ(proxy_.traffic(Way::to_server).passed, 0U);
  EXPECT_TRUE(talk.quiet());
  proxy_.release(Way::to_server);
  EXPECT_EQ(talk.hear(4), "late");
}

TEST_F(ProxyTest, CarriesWhatWasHeldAfterItsSenderHasGone) {
  proxy_.hold(Way::to_server);
  {
    const Talk talk(proxy_.address());
    ASSERT_TRUE(talk.say("testament"));
    ASSERT_TRUE(proxy_.until_came(Way::to_server, 9));
  }
  proxy_.release(Way::to_server);
  EXPECT_TRUE(proxy_.until_passed(Way::to_server, 9));
  EXPECT_TRUE(proxy_.until_open(0));
}

TEST_F(ProxyTest, ClosesHalfOfAConnection) {
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("before"));
  ASSERT_EQ(talk.hear(6), "before");
  proxy_.half_close(Way::to_client);
  EXPECT_EQ(talk.ending(), "end");
  ASSERT_TRUE(talk.say("still heard"));
  EXPECT_TRUE(proxy_.until_passed(Way::to_server, 17));
}

TEST_F(ProxyTest, ResetsConnectionsAndTakesNewOnes) {
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("hello"));
  ASSERT_EQ(talk.hear(5), "hello");
  proxy_.reset();
  EXPECT_EQ(talk.ending(), "reset");
  EXPECT_TRUE(proxy_.until_open(0));
  const Talk next(proxy_.address());
  ASSERT_TRUE(next.say("again"));
  EXPECT_EQ(next.hear(5), "again");
}

TEST_F(ProxyTest, BreaksAConnectionInTheMiddleOfAnAnswer) {
  proxy_.set(Way::to_client, {.break_after = 2});
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("answer"));
  EXPECT_EQ(talk.hear(6), "an");
  EXPECT_TRUE(proxy_.until_open(0));
}

TEST_F(ProxyTest, BreaksAConnectionBeforeTheAnswerIsSeen) {
  proxy_.set(Way::to_client, {.break_after = 0});
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("question"));
  EXPECT_EQ(talk.ending(), "reset");
  EXPECT_EQ(proxy_.traffic(Way::to_server).passed, 8U);
}

TEST_F(ProxyTest, RefusesNewConnectionsAndAdmitsThemAtTheSamePort) {
  const Talk old(proxy_.address());
  ASSERT_TRUE(proxy_.until_connections(1));
  proxy_.refuse();
  EXPECT_THROW(Talk(proxy_.address()), std::runtime_error);
  ASSERT_TRUE(old.say("old"));
  EXPECT_EQ(old.hear(3), "old");
  proxy_.admit();
  const Talk next(proxy_.address());
  ASSERT_TRUE(next.say("next"));
  EXPECT_EQ(next.hear(4), "next");
}

TEST_F(ProxyTest, WritesOneByteAtATime) {
  proxy_.set(Way::to_client, {.chunk = 1});
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("in pieces"));
  EXPECT_EQ(talk.hear(9), "in pieces");
  EXPECT_EQ(proxy_.traffic(Way::to_client).writes, 9U);
}

TEST_F(ProxyTest, RewritesBytes) {
  proxy_.set(Way::to_client, {.rewrite = replace_occurrence(2, "yes", "no")});
  const Talk talk(proxy_.address());
  ASSERT_TRUE(talk.say("yes"));
  EXPECT_EQ(talk.hear(3), "yes");
  ASSERT_TRUE(talk.say("yes"));
  EXPECT_EQ(talk.hear(2), "no");
  ASSERT_TRUE(talk.say("yes"));
  EXPECT_EQ(talk.hear(3), "yes");
}

TEST_F(ProxyTest, HasRulesForOneConnectionOnly) {
  const Talk first(proxy_.address());
  ASSERT_TRUE(proxy_.until_connections(1));
  const Talk second(proxy_.address());
  ASSERT_TRUE(proxy_.until_connections(2));
  proxy_.set(Way::to_client, {.rewrite = [](std::string& bytes) { bytes = "two"; }}, 2);
  ASSERT_TRUE(first.say("one"));
  ASSERT_TRUE(second.say("one"));
  EXPECT_EQ(first.hear(3), "one");
  EXPECT_EQ(second.hear(3), "two");
}

TEST_F(ProxyTest, ResetsAClientWhoseServerCannotBeReached) {
  const Address nowhere = [] {
    return own_address(listening_socket(Address::any_port()));  // closed again by now
  }();
  Proxy proxy(nowhere);
  const Talk talk(proxy.address());
  EXPECT_EQ(talk.ending(), "reset");
}

TEST_F(ProxyTest, KeepsAClientWaitingForAServerThatComes) {
  const transport::Fd place = bound_socket(Address::any_port());  // nobody listens there
  Proxy proxy(own_address(place));
  proxy.await_server(kSoon);
  const Talk talk(proxy.address());
  ASSERT_TRUE(talk.say("hello"));
  const EchoServer server(own_address(place));
  EXPECT_EQ(talk.hear(5), "hello");
  EXPECT_EQ(proxy.connections(), 1U);

  Proxy nowhere(own_address(bound_socket(Address::any_port())));
  nowhere.await_server(50ms);
  EXPECT_EQ(Talk(nowhere.address()).ending(), "reset");
}

TEST_F(ProxyTest, SpeaksUnixSocketsOnBothSides) {
  const TempFolder folder;
  const EchoServer server(Address::unix_socket(folder / "server"));
  {
    Proxy proxy(server.address(), Address::unix_socket(folder / "proxy"));
    const Talk talk(proxy.address());
    ASSERT_TRUE(talk.say("hello"));
    EXPECT_EQ(talk.hear(5), "hello");
    proxy.refuse();
    EXPECT_THROW(Talk(proxy.address()), std::runtime_error);
    proxy.admit();
    const Talk next(proxy.address());
    ASSERT_TRUE(next.say("next"));
    EXPECT_EQ(next.hear(4), "next");
    proxy.reset();
    EXPECT_NE(talk.ending(), "silence");
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "proxy"));
}

TEST(ProxyEnd, ResetsConnectionsAndLeavesNoDescriptors) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto threads = [] {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
  };
  std::thread([] {}).join();  // a sanitizer starts one of its own with the first of ours
  const auto fds_before = descriptors();
  const auto threads_before = threads();
  {
    const EchoServer server;
    auto proxy = std::make_unique<Proxy>(server.address());
    const Talk talk(proxy->address());
    const Talk idle(proxy->address());
    proxy->hold(Way::to_client);
    ASSERT_TRUE(talk.say("hello"));
    ASSERT_TRUE(proxy->until_came(Way::to_client, 5));
    proxy.reset();
    EXPECT_EQ(talk.ending(), "reset");
  }
  EXPECT_EQ(descriptors(), fds_before);
  EXPECT_TRUE(eventually([&] { return threads() == threads_before; }));  // the kernel is done later
}

}  // namespace
}  // namespace holdfast::test
