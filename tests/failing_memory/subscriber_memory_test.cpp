// The connection that listens to channels of Redis, when it lacks memory: the stream may be given up for it, but soon
// all that is wanted is listened to again, and everybody is told.
#include "store/redis/subscriber.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "failing_memory/each_request.hpp"
#include "failing_memory/failing_memory.hpp"
#include "failing_memory/fast_time.hpp"
#include "holdfast/store/random.hpp"
#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "store/redis/dial.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"
#include "transport/socket_io.hpp"

namespace holdfast::store::redis {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::FailingMemory;
using test::with_each_request_failing;
using transport::Stream;

// Takes nothing at first, as if the server were slow to read.
class ReluctantStream final : public Stream {
 public:
  using Stream::Stream;
  Went read(std::string& into) override { return transport::receive_some(fd(), into); }
  Went write(std::string& from) override {
    if (left_-- > 0) return Went::again;
    return transport::send_some(fd(), from);
  }

 private:
  int left_ = 2;
};

// Nobody waits longer than needed before the next attempt.
class NoChance final : public Random {
 public:
  std::uint64_t next() override { return 0; }
};

// Names that do not fit into a string without memory.
const std::array<std::string, 2> kChannels{"the one channel with a long name",
                                           "the other channel with a long name"};

struct Told {
  std::array<std::atomic<int>, kChannels.size()> times{};
  std::atomic<bool> lacks{false};  // memory, the next time that somebody is told

  void tell(const std::string& channel) {
    if (lacks.exchange(false)) throw std::bad_alloc();
    ++times.at(channel == kChannels[0] ? 0 : 1);
  }
  void forget() { times[0] = times[1] = 0; }
  bool all() const { return times[0] > 0 && times[1] > 0; }
};

class RedisSubscriberMemory : public testing::Test {
 protected:
  RedisSubscriberMemory() {
    address_.server.endpoint = {"127.0.0.1", server_.port()};
    begin();
  }
  ~RedisSubscriberMemory() override {
    subscriber_->close();
    redialler_.stop();
  }

  // Another one, which has no connection yet.
  void begin() {
    subscriber_ = std::make_unique<Subscriber>(
        Subscriber::Parts{.clock = clock_,
                          .loop = fast_loop_,
                          .redialler = redialler_,
                          .heard = [this](auto& channel, auto&) { heard_.tell(channel); },
                          .stands = [this](auto& channel) { stood_.tell(channel); }});
    stood_.forget();
  }

  Result<std::unique_ptr<Stream>> dial_reluctant(TimePoint until, int give_up) const {
    auto stream = dial(address_, real_clock_, until, give_up);
    if (stream) {
      *stream = std::make_unique<ReluctantStream>(transport::Fd(::dup((*stream)->fd())));
    }
    return stream;
  }

  void want_all() {
    for (const std::string& each : kChannels) subscriber_->want(each);
  }
  bool all_stand() {
    return eventually([&] {
      return stood_.all() && subscriber_->stands(kChannels[0]) && subscriber_->stands(kChannels[1]);
    });
  }
  bool all_are_heard() {
    heard_.forget();
    return eventually([&] {
      for (const std::string& each : kChannels) server_.must({"PUBLISH", each, "x"});
      return heard_.all();
    });
  }
  bool all_are_left() {
    return eventually([&] { return listeners(kChannels[0]) == 0 && listeners(kChannels[1]) == 0; });
  }
  std::int64_t listeners(const std::string& channel) {
    return server_.must({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
  }
  int pings() {
    constexpr std::string_view kBefore = "cmdstat_ping:calls=";
    const std::string stats = server_.must({"INFO", "commandstats"}).text;
    const auto at = stats.find(kBefore);
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + kBefore.size()));
  }

  template <class Meanwhile>
  void try_all_of_loop(Meanwhile meanwhile, int at_least = 1) {
    test::with_each_request_of_loop_failing(*loop_, meanwhile, at_least);
  }

  test::RedisServer server_;
  Address address_;
  const runtime::BootClock real_clock_;
  const test::FastClock clock_;
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  test::FastLoop fast_loop_{*loop_};
  NoChance random_;
  transport::Redialler redialler_{
      {.dial = [this](TimePoint until, int give_up) { return dial_reluctant(until, give_up); },
       .within = address_.connect_within,
       .clock = real_clock_,
       .loop = *loop_,
       .random = random_}};
  Told stood_;
  Told heard_;
  std::unique_ptr<Subscriber> subscriber_;
};

// --- on the loop ---

TEST_F(RedisSubscriberMemory, WhatIsWantedFirstIsListenedTo_F044) {
  try_all_of_loop([this] {
    begin();
    want_all();
    EXPECT_TRUE(all_stand());
    EXPECT_TRUE(all_are_heard());
  });
}

TEST_F(RedisSubscriberMemory, AStreamThatBrokeIsReplaced_F044) {
  want_all();
  ASSERT_TRUE(all_stand());
  try_all_of_loop([this] {
    stood_.forget();
    server_.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(all_stand());
    EXPECT_TRUE(all_are_heard());
  });
}

TEST_F(RedisSubscriberMemory, WhatIsWantedAndLeftLaterIsListenedToAndLeft_F044) {
  subscriber_->want("a channel that stays");
  try_all_of_loop([this] {
    stood_.forget();
    want_all();
    EXPECT_TRUE(all_stand());
    for (const std::string& each : kChannels) subscriber_->leave(each);
    EXPECT_TRUE(all_are_left());
  });
}

TEST_F(RedisSubscriberMemory, WhoeverLacksMemoryWhenItsChannelStandsIsToldAgain_F044) {
  stood_.lacks = true;
  want_all();
  ASSERT_TRUE(all_stand());
  // On the loop, so that it does not come to leave them in between.
  test::on_loop(*loop_, [this] {
    stood_.forget();
    for (const std::string& each : kChannels) subscriber_->leave(each);
    want_all();
    stood_.lacks = true;
  });
  EXPECT_TRUE(all_stand());
}

// Whoever has not heard a message has to look.
TEST_F(RedisSubscriberMemory, AMessageThatCannotBeToldCountsAsNotHeard_F044) {
  want_all();
  ASSERT_TRUE(all_stand());
  stood_.forget();
  heard_.lacks = true;
  server_.must({"PUBLISH", kChannels[0], "x"});
  EXPECT_TRUE(all_stand());
}

TEST_F(RedisSubscriberMemory, WhatNobodyWantsAnyMoreIsLeft_F044) {
  subscriber_->want("a channel that stays");
  try_all_of_loop([this] {
    stood_.forget();
    want_all();
    EXPECT_TRUE(all_stand());
    for (const std::string& each : kChannels) subscriber_->give_up(each);
    EXPECT_TRUE(all_are_left());
  });
}

TEST_F(RedisSubscriberMemory, TheServerIsPingedOnAndOn_F044) {
  want_all();
  ASSERT_TRUE(all_stand());
  const auto is_pinged = [this] {
    return eventually([this, before = pings()] { return pings() > before; });
  };
  try_all_of_loop([&] { EXPECT_TRUE(is_pinged()); });
  EXPECT_TRUE(is_pinged());
}

TEST_F(RedisSubscriberMemory, WhoeverAsksIsToldByItsTime_F044) {
  const auto ask = [this] {
    const test::Signal told;
    subscriber_->when_known("nobody wants it", later(clock_.now(), 1s), [told] { told.give(); });
    EXPECT_TRUE(told.comes());
  };
  try_all_of_loop(ask, 0);  // the loop need not have any
}

TEST_F(RedisSubscriberMemory, WhoeverLacksMemoryWhenToldDoesNotTakeOthersAlong_F044) {
  const test::Signal told;
  const TimePoint soon = later(clock_.now(), 10s);
  subscriber_->when_known("nobody wants it", soon, [] { throw std::bad_alloc(); });
  subscriber_->when_known("nobody wants it", soon, [told] { told.give(); });
  EXPECT_TRUE(told.comes());
}

TEST_F(RedisSubscriberMemory, WhoeverAsksIsToldOfARefusal_F044) {
  server_.must({"ACL", "SETUSER", "default", "resetchannels"});
  try_all_of_loop([this] {
    begin();
    subscriber_->want(kChannels[0]);
    const test::Signal told;
    subscriber_->when_known(kChannels[0], kNever, [told] { told.give(); });
    EXPECT_TRUE(told.comes());
    EXPECT_NE(subscriber_->refusal(), "");
  });
}

// --- on the threads of callers ---

// Who was refused memory has not wanted it: as often as it was wanted it is given up.
TEST_F(RedisSubscriberMemory, WantingLacksMemoryAsIfItHadNotBegun_F044) {
  subscriber_->want("a channel that stays");
  with_each_request_failing([this](int n, int in_a_row) {
    stood_.forget();
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    for (const std::string& each : kChannels) {
      try {
        subscriber_->want(each);
      } catch (const std::bad_alloc&) {
        memory.stop();
        subscriber_->want(each);
      }
    }
    memory.stop();
    EXPECT_TRUE(all_stand());
    for (const std::string& each : kChannels) subscriber_->give_up(each);
    EXPECT_TRUE(all_are_left());
    return memory.failed();
  });
}

// Destructors do so.
TEST_F(RedisSubscriberMemory, GivingUpAndLeavingNeedNoMemory_F044) {
  subscriber_->want("a channel that stays");
  with_each_request_failing([this](int n, int in_a_row) {
    stood_.forget();
    want_all();
    EXPECT_TRUE(all_stand());
    test::on_loop(*loop_, [] {});
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    EXPECT_NO_THROW(subscriber_->give_up(kChannels[0]));
    EXPECT_NO_THROW(subscriber_->leave(kChannels[1]));
    memory.stop();
    EXPECT_TRUE(all_are_left());
    return memory.failed();
  });
}

TEST_F(RedisSubscriberMemory, WhoeverAsksIsRefusedOrTold_F044) {
  with_each_request_failing([this](int n, int in_a_row) {
    const test::Signal told;
    Task then = [told] { told.give(); };
    const std::string channel = "nobody wants it, long as its name is";
    const TimePoint until = later(clock_.now(), 1s);
    bool taken = true;
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    try {
      subscriber_->when_known(channel, until, std::move(then));
    } catch (const std::bad_alloc&) {
      taken = false;
    }
    memory.stop();
    EXPECT_TRUE(!taken || told.comes());
    return memory.failed();
  });
}

TEST_F(RedisSubscriberMemory, ClosingEnds_F044) {
  with_each_request_failing([this](int n, int in_a_row) {
    begin();
    want_all();
    EXPECT_TRUE(all_stand());
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    EXPECT_NO_THROW(subscriber_->close());
    memory.stop();
    EXPECT_TRUE(all_are_left());
    return memory.failed();
  });
}

}  // namespace
}  // namespace holdfast::store::redis
