// Other processes with clocks of our own. What is measured is compared with what the kernel says before
// and after, so that it does not matter how long anything takes.
#include "support/clock_shim/clock_shim.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <array>
#include <chrono>
#include <sstream>
#include <string>

#include "support/child_process.hpp"
#include "support/net/address.hpp"
#include "support/soon.hpp"
#include "support/temp_folder.hpp"
#include "talk.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::array<clockid_t, 3> kClocks{CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};
enum Which { wall, mono, boot };

nanoseconds kernel(Which which) {
  timespec time{};
  ::clock_gettime(kClocks[which], &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

class ClockShimTest : public testing::Test {
 protected:
  struct Told {
    std::array<nanoseconds, 3> clocks;
    nanoseconds time, timeofday;
  };
  Told ask() {
    teller_.tell("now");
    std::istringstream line(teller_.hear());
    std::array<std::int64_t, 5> all{};
    for (std::int64_t& each : all) line >> each;
    EXPECT_FALSE(line.fail());
    return {{nanoseconds(all[0]), nanoseconds(all[1]), nanoseconds(all[2])},
            nanoseconds(all[3]),
            nanoseconds(all[4])};
  }

  // Whether the process's clock is so much ahead of the kernel's.
  void expect_ahead(Which which, nanoseconds by) {
    const nanoseconds before = kernel(which) + by;
    const nanoseconds told = ask().clocks[which];
    EXPECT_GE(told, before) << which;
    EXPECT_LE(told, kernel(which) + by) << which;
  }

  ClockShim clocks_;
  ChildProcess teller_{Words{HOLDFAST_CLOCK_TELLER}, clocks_.environment()};
};

TEST_F(ClockShimTest, ChangesNothingByItself) {
  for (const Which which : {wall, mono, boot}) expect_ahead(which, 0s);
}

TEST_F(ClockShimTest, StepsTheWallClockAndNoOther) {
  clocks_.step(ShimClock::wall, 60s);
  expect_ahead(wall, 60s);
  expect_ahead(mono, 0s);
  expect_ahead(boot, 0s);
  clocks_.step(ShimClock::wall, -120s);
  expect_ahead(wall, -60s);
}

TEST_F(ClockShimTest, StepsTheSteadyClocksAndNoOther) {
  clocks_.step(ShimClock::steady, 1h);
  expect_ahead(wall, 0s);
  expect_ahead(mono, 1h);
  expect_ahead(boot, 1h);
}

TEST_F(ClockShimTest, StepsAllOfThem) {
  clocks_.step_all(5ms);
  for (const Which which : {wall, mono, boot}) expect_ahead(which, 5ms);
}

TEST_F(ClockShimTest, TellsTheSameToOlderCalls) {
  clocks_.step(ShimClock::wall, 1h);
  const nanoseconds before = kernel(wall) + 1h;
  const Told told = ask();
  EXPECT_GE(told.time, before - 1s);  // whole seconds
  EXPECT_GE(told.timeofday, before - 1us);
  EXPECT_LE(told.timeofday, kernel(wall) + 1h);
}

TEST_F(ClockShimTest, StopsAClock) {
  clocks_.set_rate(ShimClock::steady, -1'000'000);
  const Told first = ask();
  const Told second = ask();
  EXPECT_LT(first.clocks[wall], second.clocks[wall]);
  // The kernel's two readings behind it are not of one moment, so a stopped clock may tremble.
  EXPECT_LT(second.clocks[mono] - first.clocks[mono], second.clocks[wall] - first.clocks[wall]);
}

TEST_F(ClockShimTest, RunsAClockAHundredTimesAsFast) {
  clocks_.set_rate(ShimClock::steady, 99'000'000);
  const nanoseconds began = kernel(mono);  // before: the two may be far apart on a busy machine
  const Told first = ask();
  ASSERT_TRUE(eventually([&] { return ask().clocks[mono] - first.clocks[mono] >= 10s; }));
  EXPECT_GE(kernel(mono) - began, 99ms) << "it runs even faster";
  EXPECT_LT(kernel(mono) - began, 10s) << "it runs no faster than the kernel's";
  clocks_.set_rate(ShimClock::steady, 0);  // what it has gained stays
  EXPECT_GE(ask().clocks[mono] - kernel(mono), 9s);
}

// ---- a server ----

// redis-server at a socket of its own, alone in the world and gone with the test.
class ShimmedRedis : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(eventually([&] {
      try {
        connected_socket(address_);
        return true;
      } catch (const std::exception&) {
        return !server_.running();
      }
    }));
    ASSERT_TRUE(server_.running()) << "is redis-server installed?";
  }

  // One command with a one-line answer.
  std::string ask(const std::string& command) const {
    const Talk talk(address_);
    EXPECT_TRUE(talk.say(command + "\r\n"));
    std::string answer;
    while (!answer.ends_with("\r\n")) {
      const std::string next = talk.hear(1);
      if (next.empty()) break;
      answer += next;
    }
    return answer.substr(0, answer.find('\r'));
  }

  TempFolder folder_;
  ClockShim clocks_;
  const Address address_ = Address::unix_socket(folder_ / "redis");
  ChildProcess server_{{"setpriv", "--pdeathsig", "KILL", "redis-server", "--port", "0",
                        "--unixsocket", folder_ / "redis", "--save", "", "--dir", folder_.path()},
                       clocks_.environment()};
};

TEST_F(ShimmedRedis, LosesAKeyWhenItsClockIsSetForward) {
  ASSERT_EQ(ask("SET lock me PX 30000"), "+OK");
  ASSERT_EQ(ask("EXISTS lock"), ":1");
  clocks_.step_all(60s);
  EXPECT_TRUE(eventually([&] { return ask("EXISTS lock") == ":0"; }));
}

TEST_F(ShimmedRedis, KeepsAKeyForLongerWhenItsClockIsSetBack) {
  ASSERT_EQ(ask("SET lock me PX 30000"), "+OK");
  clocks_.step(ShimClock::wall, -120s);
  EXPECT_TRUE(eventually([&] {
    const std::string left = ask("PTTL lock");
    return left.starts_with(":") && std::stol(left.substr(1)) > 100'000;
  }));
}

}  // namespace
}  // namespace holdfast::test
