// The connection of a client's questions, over a stream that takes what it is told to.
#include "store/redis/connection.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "runtime/boot_clock.hpp"
#include "store/redis/dial.hpp"
#include "support/hand_loop.hpp"
#include "support/seeded_random.hpp"

namespace holdfast::store::redis {
namespace {

using transport::Stream;

struct Written {
  std::string bytes;
  int calls = 0;
};

// As TLS does: all that it is given is its own from then on, and not all of it is out yet.
class SlowStream final : public Stream {
 public:
  explicit SlowStream(Written& written)
      : Stream(transport::Fd(::eventfd(0, EFD_CLOEXEC))), written_(written) {}
  Went read(std::string&) override { return Went::again; }
  Went write(std::string& from) override {
    written_.bytes += std::exchange(from, {});
    return ++written_.calls < 3 ? Went::again : Went::well;
  }

 private:
  Written& written_;
};

class NoAsker final : public Asker {
 public:
  NoAsker() : Asker(kNever) {}
  void answered(Reply) override {}
  void failed(NoAnswer) override {}
};

TEST(RedisConnection, WhatAStreamHasTakenAndNotSentIsSentLater) {
  const runtime::BootClock clock;
  test::HandLoop loop;
  test::SeededRandom random(1);
  const Address address;
  transport::Redialler redialler({.dial = dial_to(address, clock),
                                  .within = address.connect_within,
                                  .clock = clock,
                                  .loop = loop,
                                  .random = random});
  Written written;
  Connection connection({address, clock, loop, redialler}, std::make_unique<SlowStream>(written));
  connection.ask(Words{"PING"}, std::make_unique<NoAsker>());
  EXPECT_EQ(written.calls, 1);
  for (int i = 0; i < 20; ++i) loop.run_one(later(clock.now(), std::chrono::milliseconds(100)));
  EXPECT_EQ(written.calls, 3) << "until all of it is out, and not longer";
  EXPECT_EQ(written.bytes, "*1\r\n$4\r\nPING\r\n");
  loop.stop();
}

}  // namespace
}  // namespace holdfast::store::redis
