// The connection that listens, on a real loop and server.
#include "store/redis/subscriber.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "store/redis/dial.hpp"
#include "support/seeded_random.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "transport/socket_io.hpp"

namespace holdfast::store::redis {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using transport::Stream;

// Takes a part of what it is given and says that all is well, as TLS does: a record is no longer than 16 KB.
class StreamInParts final : public Stream {
 public:
  using Stream::Stream;
  Went read(std::string& into) override { return transport::receive_some(fd(), into); }
  Went write(std::string& from) override {
    std::string part = from.substr(0, 1000);
    const std::size_t before = part.size();
    const Went how = transport::send_some(fd(), part);
    from.erase(0, before - part.size());
    return how;
  }
};

// Says when it is told to that the kernel does not watch a descriptor.
class LoopThatMayRefuse final : public Loop {
 public:
  explicit LoopThatMayRefuse(Loop& loop) : loop_(loop) {}
  void refuse_next() { refuses_ = true; }
  void post(Task task) override { loop_.post(std::move(task)); }
  TimerId call_at(TimePoint when, Task task) override {
    return loop_.call_at(when, std::move(task));
  }
  void cancel(TimerId id) override { loop_.cancel(id); }
  void watch_fd(int fd, std::uint32_t events, Ready* ready) override {
    if (events == 0 || !refuses_.exchange(false)) return loop_.watch_fd(fd, events, ready);
    loop_.post([ready] { ready->on_ready(POLLNVAL); });
  }

 private:
  Loop& loop_;
  std::atomic<bool> refuses_ = false;
};

class RedisSubscriber : public testing::Test {
 protected:
  RedisSubscriber() { address_.server.endpoint = {"127.0.0.1", server_.port()}; }

  Result<std::unique_ptr<Stream>> dial_one(TimePoint until, int give_up) const {
    auto stream = dial(address_, clock_, until, give_up);
    if (stream && in_parts_) {
      *stream = std::make_unique<StreamInParts>(transport::Fd(::dup((*stream)->fd())));
    }
    return stream;
  }

  std::atomic<bool> in_parts_ = false;
  test::RedisServer server_;
  Address address_;
  const runtime::BootClock clock_;
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  test::SeededRandom random_{1};
  transport::Redialler redialler_{
      {.dial = [this](TimePoint until, int give_up) { return dial_one(until, give_up); },
       .within = address_.connect_within,
       .clock = clock_,
       .loop = *loop_,
       .random = random_}};
  std::atomic<int> stood_ = 0;
  std::atomic<int> heard_ = 0;
  LoopThatMayRefuse subscribers_loop_{*loop_};
  Subscriber subscriber_{{.clock = clock_,
                          .loop = subscribers_loop_,
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

TEST_F(RedisSubscriber, ManyChannelsStandAlsoIfTheStreamTakesThemInParts) {
  constexpr int kMany = 500;
  in_parts_ = true;
  for (int i = 0; i < kMany; ++i)
    subscriber_.want("a channel with a long name " + std::to_string(i));
  EXPECT_TRUE(eventually([&] { return stood_ == kMany; })) << stood_;
}

// It would be noticed as silence after ten seconds and more.
TEST_F(RedisSubscriber, AStreamThatTheKernelDoesNotWatchIsReplacedAtOnce) {
  subscribers_loop_.refuse_next();
  const test::Stopwatch watch;
  subscriber_.want("channel");
  EXPECT_TRUE(eventually([&] { return stood_ == 1; }));
  EXPECT_LT(watch.elapsed(), 8s);
}

}  // namespace
}  // namespace holdfast::store::redis
