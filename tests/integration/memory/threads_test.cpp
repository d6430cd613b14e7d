// A real client on a store behind a socket, with more callers than anybody should have: they lead, they
// park, they are woken by answers, by timers and by each other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/scripted_transport.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class Threads : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    server_ = std::make_unique<ScriptedServer>(clock_, std::move(options));
  }

  Client client(ClientOptions options = {}) {
    return connect_to(
        [this](const runtime::BootClock& clock, runtime::EpollLoop& loop) -> OpenedClient {
          return {new_client_id(), std::make_unique<ScriptedStore>(*server_, loop, clock)};
        },
        std::move(options));
  }

  runtime::BootClock clock_;
  std::unique_ptr<ScriptedServer> server_;
};

// What 64 callers do with a client: one lock that they all want, and some that are nobody else's.
class Crowd {
 public:
  explicit Crowd(std::vector<Client> clients) : clients_(std::move(clients)) {}

  void run(unsigned callers, unsigned rounds) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < callers; ++i) {
      threads.emplace_back([this, i, rounds] { call(i, rounds); });
    }
    for (auto& thread : threads) thread.join();
  }

  long counter = 0;  // guarded by the lock "shared"
  std::atomic<long> counted{0};
  std::atomic<int> errors{0};

 private:
  void call(unsigned caller, unsigned rounds) {
    const Client& client = clients_[caller % clients_.size()];
    const Mutex shared = client.mutex("shared");
    const Mutex own = client.mutex("own/" + std::to_string(caller));
    std::mt19937 random(caller);
    for (unsigned i = 0; i < rounds; ++i) {
      switch (random() % 6) {
        case 0:
          visit(shared.acquire());
          break;
        case 1:
          visit(shared.acquire({.wait = std::chrono::microseconds(random() % 2'000)}));
          break;
        case 2:
          visit(shared.async_acquire().get_for(std::chrono::microseconds(random() % 2'000)));
          break;
        case 3: {
          std::stop_source stop;
          std::thread stopping([&] { stop.request_stop(); });
          visit(shared.acquire({.stop = stop.get_token()}));
          stopping.join();
          break;
        }
        case 4: {
          const auto dropped = shared.async_acquire();
        } break;
        default: {
          auto hold = own.acquire();
          if (!hold || !hold->verify() || !hold->release()) ++errors;
        }
      }
    }
  }

  void visit(Result<Hold> hold) {
    if (!hold) {
      const Errc why = hold.error().errc();
      if (why != Errc::busy && why != Errc::timed_out && why != Errc::cancelled) ++errors;
      return;
    }
    const long seen = counter;
    std::this_thread::yield();
    counter = seen + 1;
    ++counted;
    if (!hold->release()) ++errors;
  }

  std::vector<Client> clients_;
};

TEST_F(Threads, SixtyFourCallersShareOneConnection) {
  start({.script = random_fates(3, {.later = 300})});
  Crowd crowd({client()});
  crowd.run(64, 40);
  EXPECT_EQ(crowd.counter, crowd.counted);
  EXPECT_GT(crowd.counted, 0);
  EXPECT_EQ(crowd.errors, 0);
}

TEST_F(Threads, SixtyFourCallersShareTwoConnections) {
  start({.script = random_fates(4, {.later = 300})});
  Crowd crowd({client(), client()});
  crowd.run(64, 40);
  EXPECT_EQ(crowd.counter, crowd.counted);
  EXPECT_EQ(crowd.errors, 0);
}

// Answers are lost and connections break. Some calls end as unknown then, but nobody holds what another
// holds, and everybody comes back.
TEST_F(Threads, SixtyFourCallersComeBackFromAStoreThatLosesAnswers_F002) {
  start({.script = random_fates(5, {.later = 200, .never = 5, .hang_up = 5})});
  Crowd crowd({client({.answer_within = 100ms}), client({.answer_within = 100ms})});
  crowd.run(64, 20);
  EXPECT_EQ(crowd.counter, crowd.counted);
}

// ---- a caller that reads for all is woken by what does not come over the connection ----

class Reader : public Threads {
 protected:
  void SetUp() override {
    start();
    client_.emplace(client());
    held_.emplace(client_->mutex("lock").acquire({.lease = 1h}).value());
  }

  // Waits on a thread of its own, which reads since nobody else does.
  std::future<Result<Hold>> wait(AcquireOptions options) {
    options.lease = 1h;
    return std::async(std::launch::async,
                      [this, options] { return client_->mutex("lock").acquire(options); });
  }

  // So that a test that failed ends: whatever is answered makes the reader look up.
  void stir(std::future<Result<Hold>>& waiting) {
    while (waiting.wait_for(10ms) != std::future_status::ready) {
      client_->mutex("other").async_acquire().then([](const Result<Hold>&) {});
    }
  }

  std::optional<Client> client_;
  std::optional<Hold> held_;
};

TEST_F(Reader, IsWokenWhenItsTimeIsOver) {
  auto waiting = wait({.wait = 50ms});
  EXPECT_EQ(waiting.wait_for(5s), std::future_status::ready) << "it sits in poll()";
  stir(waiting);
  EXPECT_EQ(waiting.get().error(), Errc::timed_out);
}

TEST_F(Reader, IsWokenByAStop) {
  std::stop_source stop;
  auto waiting = wait({.stop = stop.get_token()});
  EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(waiting.wait_for(5s), std::future_status::ready) << "it sits in poll()";
  stir(waiting);
  EXPECT_EQ(waiting.get().error(), Errc::cancelled);
}

TEST_F(Reader, IsWokenByAHandOff) {
  // Two callers wait, so that the next grant comes with fences for both.
  auto first = wait({});
  EXPECT_EQ(first.wait_for(50ms), std::future_status::timeout);
  auto second = wait({});
  EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout);
  held_.reset();
  ASSERT_EQ(first.wait_for(5s), std::future_status::ready);
  held_.emplace(first.get().value());
  EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout);
  held_.reset();
  EXPECT_EQ(second.wait_for(5s), std::future_status::ready) << "it sits in poll()";
  stir(second);
  EXPECT_TRUE(second.get());
}

}  // namespace
}  // namespace holdfast::test
