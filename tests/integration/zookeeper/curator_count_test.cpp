// What a lock is for: threads of Java's and ours raise one number in a file, which is exact in the end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "integration/zookeeper/curator_bench.hpp"
#include "support/temp_folder.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {
namespace {

constexpr int kOurThreads = 4;
constexpr int kJavaThreads = 3;

// Ten digits, read and written without any care, as CuratorPeer's count does.
class NumberInFile {
 public:
  explicit NumberInFile(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}

  int read() const {
    std::array<char, 11> digits{};
    if (::pread(file_.get(), digits.data(), 10, 0) != 10) throw std::runtime_error("no number");
    return std::stoi(digits.data());
  }
  void write(int number) const {
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), "%010d", number);
    if (::pwrite(file_.get(), digits.data(), 10, 0) != 10) throw std::runtime_error("not written");
  }
  void raise() const {
    const int before = read();
    std::this_thread::yield();
    write(before + 1);
  }

 private:
  transport::Fd file_;
};

class CuratorCount : public CuratorBench {
 protected:
  CuratorCount() { number_.write(0); }

  void tell_java(const std::string& lock, int rounds) {
    for (int i = 0; i < kJavaThreads; ++i) {
      java().tell(person(i), "count " + path_ + " " + lock + " " + std::to_string(rounds));
    }
  }
  void hear_java() {
    for (int i = 0; i < kJavaThreads; ++i)
      EXPECT_EQ(java().answer(person(i), std::chrono::minutes(2)), "counted");
  }
  static std::vector<std::thread> start(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kOurThreads; ++i) threads.emplace_back(work, i);
    return threads;
  }

  const TempFolder folder_{};
  const std::string path_ = folder_ / "number";
  const NumberInFile number_{path_};

 private:
  static std::string person(int i) { return "thread" + std::to_string(i); }
};

TEST_F(CuratorCount, IsExactWithThreadsOfJavaAndOursUnderTheLock) {
  constexpr int kRounds = 60;
  const Client one = open(), other = open(), first = open();
  auto begins = first.mutex("lock").try_acquire();
  ASSERT_TRUE(begins) << begins.error().text();

  std::atomic<int> errors = 0;
  FencingToken newest;  // guarded by the lock, like the number
  auto threads = start([&](int i) {
    const Client& client = i % 2 == 0 ? one : other;
    const Order order = i < 2 ? Order::any : Order::fifo;
    for (int round = 0; round < kRounds; ++round) {
      auto hold = client.mutex("lock").acquire({.wait = std::chrono::minutes(2), .order = order});
      if (!hold) {
        ++errors;
        std::fprintf(stderr, "%s\n", hold.error().text().c_str());
        continue;
      }
      number_.raise();
      if (hold->fence() <= newest) ++errors;
      newest = hold->fence();
      if (!hold->release()) ++errors;
    }
  });
  tell_java(lock_, kRounds);
  // They begin together: nobody has had it when all of them stand in the line.
  EXPECT_TRUE(until_there_are(1 + kJavaThreads + kOurThreads));
  EXPECT_TRUE(begins->release());
  hear_java();
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(number_.read(), (kJavaThreads + kOurThreads) * kRounds);
  EXPECT_EQ(errors, 0);
}

// Or the test above would show nothing.
TEST_F(CuratorCount, IsNotExactWithoutTheLock) {
  constexpr int kRounds = 2000;
  java();
  EXPECT_TRUE(eventually([&] {
    number_.write(0);
    tell_java("-", kRounds);
    auto threads = start([&](int) {
      for (int round = 0; round < kRounds; ++round) number_.raise();
    });
    hear_java();
    for (std::thread& each : threads) each.join();
    return number_.read() < (kJavaThreads + kOurThreads) * kRounds;
  }));
}

}  // namespace
}  // namespace holdfast::test
