// The connection that listens, on a real loop and server.
#include "store/redis/subscriber.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "store/redis/dial.hpp"
#include "support/seeded_random.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"

namespace holdfast::store::redis {
namespace {

using test::eventually;

class RedisSubscriber : public testing::Test {
 protected:
  RedisSubscriber() { address_.server.endpoint = {"127.0.0.1", server_.port()}; }

  test::RedisServer server_;
  Address address_;
  const runtime::BootClock clock_;
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  test::SeededRandom random_{1};
  transport::Redialler redialler_{{.dial = dial_to(address_, clock_),
                                   .within = address_.connect_within,
                                   .clock = clock_,
                                   .loop = *loop_,
                                   .random = random_}};
  std::atomic<int> stood_ = 0;
  std::atomic<int> heard_ = 0;
  Subscriber subscriber_{{.clock = clock_,
                          .loop = *loop_,
                          .redialler = redialler_,
                          .heard = [this](auto&, auto&) { ++heard_; },
                          .stands = [this](auto&) { ++stood_; }}};
};

// Something may have been said in between, when nobody cared: who wants it anew has to look.
TEST_F(RedisSubscriber, AChannelThatIsLeftAndWantedAgainStandsAgain) {
  subscriber_.want("channel");
  ASSERT_TRUE(eventually([&] { return stood_ == 1; }));
  // On the loop, so that it does not come to leave the channel in between.
  loop_->post([&] {
    subscriber_.leave("channel");
    subscriber_.want("channel");
  });
  EXPECT_TRUE(eventually([&] { return stood_ == 2; }));
  EXPECT_TRUE(subscriber_.stands("channel"));
  subscriber_.leave("channel");
  ASSERT_TRUE(eventually([&] { return !subscriber_.stands("channel"); }));
  subscriber_.want("channel");
  EXPECT_TRUE(eventually([&] { return stood_ == 3; }));
  server_.must({"PUBLISH", "channel", "x"});
  EXPECT_TRUE(eventually([&] { return heard_ == 1; }));
}

}  // namespace
}  // namespace holdfast::store::redis
