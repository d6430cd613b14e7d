// A connection that broke is made anew, whichever request for memory fails meanwhile.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "failing_memory/failing_memory.hpp"
#include "runtime/boot_clock.hpp"
#include "store/redis/dial.hpp"
#include "support/effort.hpp"
#include "support/hand_loop.hpp"
#include "support/seeded_random.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "transport/fd.hpp"
#include "transport/stream.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using transport::Redialler;
using transport::Stream;

// False: it cannot even be asked for it.
bool ask(Redialler& redialler, bool& done) {
  try {
    redialler.dial({.done = [&done](const std::unique_ptr<Stream>&) { done = true; },
                    .failed = [](const Error&) {}});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

TEST(RedialledMemory, WhatLacksMemoryIsTriedAgain_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  RedisServer server;
  store::redis::Address address;
  address.server.endpoint = {"127.0.0.1", server.port()};
  const runtime::BootClock clock;
  SeededRandom random(1);
  bool failed = true;
  int n = 0;
  while (failed && n < 1000) {
    HandLoop loop;
    Redialler redialler({.dial = dial_to(address, clock),
                         .within = address.connect_within,
                         .clock = clock,
                         .loop = loop,
                         .random = random});
    bool done = false;
    FailingMemory memory(++n, FailingMemory::Whose::all_threads);
    const bool asked = ask(redialler, done);
    const Stopwatch watch;
    while (asked && !done && watch.elapsed() < 10s) {
      if (!loop.run_one(clock.now())) std::this_thread::sleep_for(1ms);
    }
    memory.stop();
    failed = memory.failed();
    ASSERT_TRUE(done || !asked) << "request " << n;
  }
  EXPECT_FALSE(failed) << "it never ends";
  EXPECT_GT(n, 10) << "nothing has failed";
}

// Neither for the attempt nor for a timer that would make it later.
TEST(RedialledMemory, AnAttemptThatIsDueIsMadeThoughMemoryIsMissingForLonger_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  const runtime::BootClock clock;
  SeededRandom random(1);
  bool failed = true;
  for (int n = 1; failed && !testing::Test::HasFailure(); ++n) {
    HandLoop loop;
    Redialler redialler({.dial = [](TimePoint, int) -> Result<std::unique_ptr<Stream>> {
                           return transport::plain_stream(transport::Fd());
                         },
                         .within = 1s,
                         .clock = clock,
                         .loop = loop,
                         .random = random});
    bool done = false;
    redialler.dial({.done = [&done](const std::unique_ptr<Stream>&) { done = true; },
                    .failed = [](const Error&) {},
                    .failures = 1});
    FailingMemory memory(n, FailingMemory::Whose::this_thread, 5);
    EXPECT_NO_THROW(loop.run_one(loop.next())) << "request " << n;
    memory.stop();
    failed = memory.failed();
    EXPECT_TRUE(eventually([&] {
      loop.run_one(loop.next());
      return done;
    })) << "request "
        << n;
  }
}

}  // namespace
}  // namespace holdfast::test
