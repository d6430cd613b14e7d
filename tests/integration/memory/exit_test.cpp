// F038: a process that exits while its clients are at work.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "api/engine_settings.hpp"
#include "api/machinery.hpp"
#include "holdfast/holdfast.hpp"
#include "runtime/endings.hpp"
#include "support/soon.hpp"
#include "support/switchable_store.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class Exit : public testing::Test {
 protected:
  Exit() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

using Steady = std::chrono::steady_clock;

const Signal g_exiting;
Steady::time_point g_begun;
std::atomic<bool> g_ended{false};

// When all handlers have run. ThreadSanitizer looks for threads that nobody has joined, and where others go on there is
// always one that is just about to be.
void leave_at_once_then() {
  std::atexit([] { std::_Exit(0); });
}

// Is told that its time is up, by a store that answers on the very thread that asks, and stays there.
class Lingers final : public runtime::AcquireSink {
 public:
  explicit Lingers(Signal came, std::shared_ptr<runtime::Driver> client = nullptr)
      : came_(std::move(came)), client_(std::move(client)) {}
  void acquired(Result<core::HoldCellPtr>) override {
    came_.give();
    static_cast<void>(g_exiting.comes());
    std::this_thread::sleep_for(50ms);
  }

 private:
  const Signal came_;
  const std::shared_ptr<runtime::Driver> client_;  // if it has it, too
};

// Goes with its client.
struct Witness final : Observer {
  ~Witness() override { g_ended = true; }
  void on_event(const LockEvent&) override {}
};

SwitchableStore* g_link = nullptr;  // of the client that was made last

std::shared_ptr<runtime::Driver> client_with(std::shared_ptr<Observer> observer) {
  auto machinery = std::make_unique<detail::Machinery>();
  machinery->close_within = 10s;
  machinery->loop = std::move(*runtime::EpollLoop::start());
  OpenedClient opened = open_by_url("memory:exit", machinery->clock, *machinery->loop);
  auto settings = detail::engine_settings({}, {.host = "host", .pid = 1, .program = "test"},
                                          opened.id, opened.store->capabilities());
  auto store = std::make_unique<SwitchableStore>(std::move(opened.store));
  g_link = store.get();
  machinery->driver = std::make_unique<runtime::Driver>(
      std::move(settings),
      runtime::DriverParts{machinery->clock, *machinery->loop, machinery->callbacks,
                           machinery->random, std::move(store), std::move(observer)});
  return detail::Machinery::share(std::move(machinery));
}

core::AcquireWanted lock_wanted() {
  core::AcquireWanted wanted;
  wanted.name = store::LockName::checked("lock").value();
  wanted.wait = kForever;
  wanted.lease = 30s;
  return wanted;
}

TEST_F(Exit, WaitsForAClientThatItsLoopHasLast_F038) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(g_ended ? 0 : 2); });
        auto driver = client_with(std::make_shared<Witness>());
        const Client other = connect("memory:exit").value();
        const Hold held = other.mutex("lock").acquire().value();
        const Signal came;
        const core::OpId op = driver->acquire(lock_wanted(), std::make_shared<Lingers>(came));
        driver->give_up_at(op, driver->now() + 20ms);
        if (!came.comes()) std::_Exit(3);
        driver.reset();
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Nobody else has it any more, and the thread that brings the answer is none of its own.
TEST_F(Exit, WaitsForAClientThatAnAnswerHasLast_F035_F038) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(g_ended ? 0 : 2); });
        auto driver = client_with(std::make_shared<Witness>());
        g_link->set(Link::late);
        const Signal came;
        driver->acquire(lock_wanted(), std::make_shared<Lingers>(came, driver));
        driver->close();
        driver.reset();
        std::thread([] { g_link->let_one_go(); }).detach();
        if (!came.comes()) std::_Exit(3);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

struct Watcher final : Observer {
  void on_event(const LockEvent&) override {}
};

// Nobody has let go of anything: there is nothing to wait for.
TEST_F(Exit, IsNotHeldUpByThreadsAtWork_F038) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(Steady::now() - g_begun < 1s ? 0 : 2); });
        static const Client& client =
            *new Client(connect("memory:", {.observer = std::make_shared<Watcher>()}).value());
        const Signal works;
        for (int i = 0; i < 4; ++i) {
          std::thread([i, works] {
            const Mutex mutex = client.mutex("lock" + std::to_string(i));
            for (bool told = i != 0;;) {
              static_cast<void>(mutex.acquire());
              if (!std::exchange(told, true)) works.give();
            }
          }).detach();
        }
        if (!works.comes()) std::_Exit(3);
        g_begun = Steady::now();
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// All that is left of a client; g_link is its link.
Hold hold_without_client(ClientOptions options) {
  const LinkedClient linked =
      connect_linked(std::make_shared<store::MemoryServer>(), std::move(options));
  g_link = linked.link;
  return linked.client.mutex("lock").acquire().value();
}

// Nobody let go of what it is asked for: another thread has the Hold, and waits.
TEST_F(Exit, IsNotHeldUpByWhatSomebodyElseAsksAHold_F038) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(Steady::now() - g_begun < 3s ? 0 : 2); });
        static const Hold& held =
            *new Hold(hold_without_client({.answer_within = 1min, .close_within = 1min}));
        g_link->set(Link::late);
        std::thread([] { static_cast<void>(held.verify()); }).detach();
        if (!eventually([] { return g_link->kept() != 0; })) std::_Exit(3);
        g_begun = Steady::now();
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Older than the first client, and so let go of when the process has waited for the others.
std::optional<Client> g_client;
std::optional<Hold> g_hold;

TEST_F(Exit, WaitsOnceForAStoreThatSaysNothingMore_F038) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(Steady::now() - g_begun < 3500ms ? 0 : 2); });
        std::atexit([] {
          g_hold.reset();
          g_client.reset();
        });
        LinkedClient linked =
            connect_linked(std::make_shared<store::MemoryServer>(), {.close_within = 2s});
        g_client.emplace(std::move(linked.client));
        g_hold.emplace(g_client->mutex("lock").acquire().value());
        linked.link->set(Link::paused);
        g_begun = Steady::now();
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// A callback of its ends the process, and statics that go before it take their time.
TEST_F(Exit, WaitsForWhatItLetsGoOfLateAsForTheRest_F038) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(g_ended ? 0 : 2); });
        std::atexit([] {
          std::this_thread::sleep_for(2500ms);
          runtime::Endings::begin({.give_back =
                                       [] {
                                         std::this_thread::sleep_for(50ms);
                                         g_ended = true;
                                       },
                                   .end = [] {},
                                   .at_most = 1s});
        });
        const Client client = connect("memory:").value();
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Jobs with a client each, which ends in a callback, and which go on while main() returns.
TEST_F(Exit, ComesToAnEndAlsoIfClientsGoOnEnding_F038) {
  EXPECT_EXIT(
      {
        leave_at_once_then();
        for (int i = 0; i < 3; ++i) {
          std::thread([] {
            for (;;) {
              const Signal over;
              {
                const Client client = connect("memory:").value();
                client.mutex("lock").async_acquire().then(
                    [over](const Result<Hold>&) { over.give(); });
              }
              static_cast<void>(over.comes());
            }
          }).detach();
        }
        std::this_thread::sleep_for(200ms);
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace holdfast::test
