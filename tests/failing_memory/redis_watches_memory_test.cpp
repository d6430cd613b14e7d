// The watches of claims and cells of Redis when there is no memory for them: they are there or they are not, and
// nobody else's are touched.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "failing_memory/each_request.hpp"
#include "failing_memory/failing_memory.hpp"
#include "failing_memory/fast_time.hpp"
#include "runtime/epoll_loop.hpp"
#include "store/redis/claim_watches.hpp"
#include "store/redis/dial.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/redis_cells.hpp"
#include "support/seeded_random.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"

namespace holdfast::store::redis {
namespace {

using test::eventually;
using test::FailingMemory;
using test::with_each_request_failing;

class RedisWatchesMemory : public testing::Test {
 protected:
  ~RedisWatchesMemory() override {
    subscriber_->close();
    connection_.close();
    redialler_.stop();
  }

  ClaimKey claim(std::uint64_t number) const {
    return {.name = name_, .shape = Shape::exclusive(), .owner = {kClient, number}};
  }
  std::int64_t listeners(const std::string& channel) {
    return server_.must({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
  }
  // What was wanted and left before has been said to the server.
  void catch_up() {
    const std::string marker = "marker " + std::to_string(++markers_);
    subscriber_->want(marker);
    EXPECT_TRUE(eventually([&] { return subscriber_->stands(marker); }));
    subscriber_->leave(marker);
  }

  // Somebody watches while there is no memory, and goes; nothing of it may stay.
  template <class Watch>
  void watch_and_go(const std::string& channel, Watch watch) {
    with_each_request_failing([&](int n, int in_a_row) {
      const auto token = std::make_shared<int>();
      FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
      try {
        const WatchPtr made = watch(token);
        memory.stop();
        EXPECT_GT(token.use_count(), 1);
      } catch (const std::bad_alloc&) {
        memory.stop();
      }
      EXPECT_EQ(token.use_count(), 1) << "its function is still there";
      catch_up();
      EXPECT_TRUE(eventually([&] { return listeners(channel) == 0; }));
      return memory.failed();
    });
  }

  static constexpr ClientId kClient{1, 2};
  const LockName name_ = *LockName::checked("a lock with a long name, so that it takes memory");
  test::RedisServer server_;
  const Address address_ = [this] {
    Address address;
    address.server.endpoint = {"127.0.0.1", server_.port()};
    return address;
  }();
  const Settings settings_{};
  const test::FastClock clock_{};
  const runtime::BootClock real_clock_{};
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  test::FastLoop fast_loop_{*loop_};
  test::SeededRandom random_{1};
  transport::Redialler redialler_{{.dial = dial_to(address_, real_clock_),
                                   .within = address_.connect_within,
                                   .clock = real_clock_,
                                   .loop = *loop_,
                                   .random = random_}};
  const std::shared_ptr<Subscriber> subscriber_ =
      std::make_shared<Subscriber>(Subscriber::Parts{.clock = clock_,
                                                     .loop = fast_loop_,
                                                     .redialler = redialler_,
                                                     .heard = [](const auto&, const auto&) {},
                                                     .stands = [](const auto&) {}});
  ClaimWatches watches_{subscriber_, kClient};
  Connection connection_{{address_, real_clock_, *loop_, redialler_},
                         *dial(address_, real_clock_, kNever, -1)};
  RedisCells cells_{{connection_, settings_, subscriber_}};
  int markers_ = 0;
};

TEST_F(RedisWatchesMemory, AClaimIsWatchedOrNot_F044) {
  watch_and_go(wake_channel(kClient), [this](const auto& token) {
    return watches_.watch(claim(1), [token](const Wake&) {});
  });
}

TEST_F(RedisWatchesMemory, ACellIsWatchedOrNot_F044) {
  const CellKey cell{.name = name_};
  watch_and_go(cell_channel(cell),
               [&](const auto& token) { return cells_.watch(cell, [token] {}); });
}

// Destructors end them, and must not throw.
TEST_F(RedisWatchesMemory, WatchesEndWithoutMemory_F044) {
  const auto token = std::make_shared<int>();
  const auto ends = [&](auto watch) {
    const auto once = [&](int n, int in_a_row) {
      WatchPtr made = watch();
      FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
      made.reset();
      memory.stop();
      EXPECT_EQ(token.use_count(), 1);
      return memory.failed();
    };
    with_each_request_failing(once, 0);
  };
  ends([&] { return cells_.watch({.name = name_}, [token] {}); });
  ends([&] {
    WatchPtr made = watches_.watch(claim(1), [token](const Wake&) {});
    watches_.wait_for_another(claim(1));
    return made;
  });
}

TEST_F(RedisWatchesMemory, WhoeverCouldNotListenForJavaTakesNobodysPlace_F044) {
  const std::vector<std::string> channels = redisson_channels(Kind::mutex, name_);
  with_each_request_failing([&](int n, int in_a_row) {
    WatchPtr first = watches_.watch(claim(1), [](const Wake&) {});
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    try {
      watches_.wait_for_another(claim(1));
    } catch (const std::bad_alloc&) {
      // Before it tries again it gives up.
    }
    memory.stop();
    const WatchPtr second = watches_.watch(claim(2), [](const Wake&) {});
    watches_.wait_for_another(claim(2));
    first.reset();
    catch_up();
    for (const std::string& each : channels) EXPECT_EQ(listeners(each), 1) << each;
    return memory.failed();
  });
}

TEST_F(RedisWatchesMemory, WhoeverCouldNotListenForJavaDoesWithItsNextRefusal_F044) {
  const std::vector<std::string> channels = redisson_channels(Kind::mutex, name_);
  with_each_request_failing([&](int n, int in_a_row) {
    WatchPtr watch = watches_.watch(claim(1), [](const Wake&) {});
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    try {
      watches_.wait_for_another(claim(1));
    } catch (const std::bad_alloc&) {
      memory.stop();
      watches_.wait_for_another(claim(1));
    }
    memory.stop();
    catch_up();
    for (const std::string& each : channels) EXPECT_EQ(listeners(each), 1) << each;
    watch.reset();
    catch_up();
    for (const std::string& each : channels) EXPECT_EQ(listeners(each), 0) << each;
    return memory.failed();
  });
}

// One of ours is woken and listens on; what the others listened to is left, or they listen on, too.
TEST_F(RedisWatchesMemory, WhoeverNeedNotListenForJavaAnyMoreLeavesNothingBehind_F044) {
  const std::vector<std::string> channels = redisson_channels(Kind::mutex, name_);
  const auto once = [&](int n, int in_a_row) {
    std::vector<WatchPtr> waiting;
    for (std::uint64_t number = 1; number <= 4; ++number) {
      waiting.push_back(watches_.watch(claim(number), [](const Wake&) {}));
      watches_.wait_for_another(claim(number));
    }
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    try {
      watches_.heard(channels.front(), "0");
    } catch (const std::bad_alloc&) {
      // Then the stream is given up, and all are told that the next one stands.
    }
    memory.stop();
    waiting.clear();
    catch_up();
    for (const std::string& each : channels) EXPECT_EQ(listeners(each), 0) << each;
    return memory.failed();
  };
  with_each_request_failing(once, 0);
}

}  // namespace
}  // namespace holdfast::store::redis
