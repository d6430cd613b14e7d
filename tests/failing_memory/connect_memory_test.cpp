// Dialling by a name, which is looked up on a thread of its own, when a request for memory fails.
#include <gtest/gtest.h>

#include <chrono>
#include <new>

#include "failing_memory/failing_memory.hpp"
#include "runtime/boot_clock.hpp"
#include "support/effort.hpp"
#include "support/net/address.hpp"
#include "transport/connect.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

TEST(ConnectMemory, ANameThatCannotBeLookedUpIsAnError_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  const transport::Fd server = listening_socket(Address::any_port());
  const transport::Target target{.endpoint = {"localhost", own_address(server).port()}};
  const runtime::BootClock clock;
  const auto dial = [&] {
    return transport::connect_stream(target, {.clock = clock, .until = later(clock.now(), 30s)});
  };
  ASSERT_TRUE(dial());
  bool failed = true;
  int n = 0;
  while (failed && n < 200) {
    FailingMemory memory(++n, FailingMemory::Whose::all_threads);
    try {
      const auto stream = dial();
      memory.stop();
      EXPECT_TRUE(stream || stream.error() == Errc::unavailable) << "request " << n;
    } catch (const std::bad_alloc&) {
    }
    memory.stop();
    failed = memory.failed();
  }
  EXPECT_FALSE(failed) << "it never ends";
  EXPECT_GT(n, 3) << "nothing has failed";
}

}  // namespace
}  // namespace holdfast::test
