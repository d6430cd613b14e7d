#include "runtime/endings.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/callback_thread.hpp"
#include "support/forked_child.hpp"
#include "support/soon.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using test::Signal;

const Signal g_exiting;
std::atomic<bool> g_waited{false};

// What is to be done at an exit first is done last.
void tell_whether_it_waited() { std::_Exit(g_waited ? 0 : 2); }

Task nothing() {
  return [] {};
}
Task never_over() {
  return [] { std::promise<void>().get_future().wait(); };
}
Task waits_for_the_exit() {
  return [] { g_waited = g_exiting.comes(); };
}

// Without a wait the process would be gone by then. Not so many turns, of which each may be long on a busy machine: there
// is a second for all of it.
void let_it_come_so_far() {
  const auto end = std::chrono::steady_clock::now() + 20ms;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

void begin(Task end, Duration at_most) {
  Endings::begin({.give_back = nothing(), .end = std::move(end), .at_most = at_most});
}

// F038: each in a process of its own.
class EndingsTest : public testing::Test {
 protected:
  EndingsTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(EndingsTest, TheProcessWaitsForThem_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        begin(waits_for_the_exit(), kForever);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Threads are told apart by what they are for: their ids are used again.
TEST_F(EndingsTest, WhicheverThreadItExitsOn_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        std::thread([] { begin(waits_for_the_exit(), kForever); }).join();
        std::atexit([] { g_exiting.give(); });
        std::thread([] { std::exit(1); }).join();
      },
      testing::ExitedWithCode(0), "");
}

// Whoever was lent a client may just be the last that has it.
TEST_F(EndingsTest, TheProcessWaitsForGuestsFirst_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        const CallbackThread callbacks;
        const Endings::Known client({callbacks});
        const Signal came;
        std::thread([came] {
          const auto guest = std::make_unique<Endings::Guest>();
          came.give();
          const bool exiting = g_exiting.comes();
          let_it_come_so_far();
          begin([exiting] { g_waited = exiting; }, kForever);
        }).detach();
        if (!came.comes()) std::_Exit(3);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// The same of its callbacks, which are told what has happened and may own it.
TEST_F(EndingsTest, AndForCallbacks_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        CallbackThread callbacks;
        const Endings::Known client({callbacks});
        const Signal came;
        callbacks.post([came] {
          came.give();
          const bool exiting = g_exiting.comes();
          let_it_come_so_far();
          begin([exiting] { g_waited = exiting; }, kForever);
        });
        if (!came.comes()) std::_Exit(3);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, ButNotForAGuestThatStays_F038) {
  EXPECT_EXIT(
      {
        const CallbackThread callbacks;
        const Endings::Known client({callbacks});
        const Endings::Guest guest;
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// What a client has under way has it, too, when nobody else has; and what that leads to may be told to its callbacks.
TEST_F(EndingsTest, AndForAClientThatWindsUp_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        CallbackThread callbacks;
        std::atomic<bool> under_way{true};
        const Endings::Known client(
            {.callbacks = callbacks, .winds_up = [&] { return under_way.load(); }, .at_most = 1h});
        std::thread([&] {
          const bool exiting = g_exiting.comes();
          let_it_come_so_far();
          callbacks.post([exiting] {
            let_it_come_so_far();
            begin([exiting] { g_waited = exiting; }, kForever);
          });
          under_way = false;
        }).detach();
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// The callback has it last, and asks it for something yet that it does not wait for.
TEST_F(EndingsTest, AndForAClientThatACallbackLetsGoOf_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        CallbackThread callbacks;
        std::atomic<bool> under_way{false};
        const Endings::Known client(
            {.callbacks = callbacks, .winds_up = [&] { return under_way.load(); }, .at_most = 1h});
        const Signal came;
        callbacks.post([&] {
          came.give();
          const bool exiting = g_exiting.comes();
          let_it_come_so_far();
          under_way = true;
          std::thread([&, exiting] {
            let_it_come_so_far();
            begin([exiting] { g_waited = exiting; }, kForever);
            under_way = false;
          }).detach();
        });
        if (!came.comes()) std::_Exit(3);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, ButNotForOneThatComesToNoEnd_F038) {
  EXPECT_EXIT(
      {
        const CallbackThread callbacks;
        const Endings::Known client(
            {.callbacks = callbacks, .winds_up = [] { return true; }, .at_most = 1ms});
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// What is older than the first client goes when the process has waited for the others.
TEST_F(EndingsTest, OneThatIsLetGoOfLaterIsWaitedForThen_F038) {
  EXPECT_EXIT(
      {
        static CallbackThread& callbacks = *new CallbackThread;
        static std::atomic<bool> under_way{false};
        std::atexit(tell_whether_it_waited);
        std::atexit([] {
          under_way = true;
          std::thread([] {
            let_it_come_so_far();
            g_waited = true;
            under_way = false;
          }).detach();
          Endings::closed(callbacks.id());
        });
        new Endings::Known(
            {.callbacks = callbacks, .winds_up = [] { return under_way.load(); }, .at_most = 1h});
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Among threads at work there may be no moment without a guest.
TEST_F(EndingsTest, NorForGuestsThatComeMeanwhile_F038) {
  EXPECT_EXIT(
      {
        static std::chrono::steady_clock::time_point begun;
        std::atexit([] { std::_Exit(std::chrono::steady_clock::now() - begun < 1s ? 0 : 2); });
        const CallbackThread callbacks;
        const Endings::Known client({callbacks});
        const Signal came;
        std::thread([came] {
          bool told = false;
          for (auto now = std::make_unique<Endings::Guest>();;) {
            auto next = std::make_unique<Endings::Guest>();  // before this one goes
            now = std::move(next);
            if (!std::exchange(told, true)) came.give();
          }
        }).detach();
        if (!came.comes()) std::_Exit(3);
        begun = std::chrono::steady_clock::now();
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

void post_another(CallbackThread& callbacks) {
  callbacks.post([&callbacks] { post_another(callbacks); });
}

TEST_F(EndingsTest, NorForCallbacksThatComeMeanwhile_F038) {
  EXPECT_EXIT(
      {
        static std::chrono::steady_clock::time_point begun;
        std::atexit([] { std::_Exit(std::chrono::steady_clock::now() - begun < 1s ? 0 : 2); });
        CallbackThread callbacks;
        const Endings::Known client({callbacks});
        post_another(callbacks);
        begun = std::chrono::steady_clock::now();
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, NorForLongerThanItMay_F038) {
  EXPECT_EXIT(
      {
        begin(never_over(), 1ms);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// The end of a client waits for its callbacks, one of which ends the process.
TEST_F(EndingsTest, NorForWhatWaitsForTheThreadThatExits_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        auto& callbacks = *new CallbackThread;
        Endings::begin({.give_back = waits_for_the_exit(),
                        .end = [&callbacks] { callbacks.stop(); },
                        .callbacks = callbacks.id(),
                        .at_most = kForever});
        std::atexit([] { g_exiting.give(); });
        callbacks.post([] { std::exit(1); });
        std::promise<void>().get_future().wait();
      },
      testing::ExitedWithCode(0), "");
}

// With a client goes what it was given to keep, which may be somebody who ends the process.
TEST_F(EndingsTest, NorForItselfIfTheProcessExitsInIt_F038) {
  EXPECT_EXIT(
      {
        begin([] { std::exit(0); }, kForever);
        std::promise<void>().get_future().wait();
      },
      testing::ExitedWithCode(0), "");
}

// A static object lets go of its client when the handler has been called already.
TEST_F(EndingsTest, OneThatTheExitItselfBeginsIsWaitedForOnTheSpot_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        std::atexit([] { begin([] { g_waited = true; }, kForever); });
        begin(nothing(), kForever);
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Nobody joins it, which ThreadSanitizer would complain of.
TEST_F(EndingsTest, OneThatBeginsBehindTheWaitIsLeftToItself_F038) {
  EXPECT_EXIT(
      {
        static const Signal begun;
        std::atexit([] {
          g_exiting.give();
          if (!begun.comes()) std::_Exit(3);
        });
        std::thread([] {
          if (g_exiting.comes()) begin(nothing(), 1s);
          begun.give();
        }).detach();
        const CallbackThread callbacks;
        const Endings::Known client({callbacks});
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, AProcessExitsAlsoIfTheyGoOnBeginning_F038) {
  EXPECT_EXIT(
      {
        // ThreadSanitizer looks for threads that nobody has joined, and there is always one that is just about to be.
        std::atexit([] { std::_Exit(0); });
        for (int i = 0; i < 3; ++i) {
          std::thread([] {
            for (;;) begin(nothing(), 1s);
          }).detach();
        }
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, ThousandsOfThemLeaveNothingBehind) {
  constexpr int kMany = 2'000;
  const auto all = [] {
    for (int i = 0; i < kMany; ++i) {
      const Signal over;
      begin([over] { over.give(); }, 1s);
      ASSERT_TRUE(over.comes());
    }
  };
  all();  // what the allocator keeps
  const auto before = mallinfo2().uordblks;
  all();
  EXPECT_LT(mallinfo2().uordblks, before + 16 * kMany);
}

TEST_F(EndingsTest, AChildHasNoneOfItsParents_F023_F038) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  const Signal go;
  const Signal over;
  begin(
      [go, over] {
        static_cast<void>(go.comes());
        over.give();
      },
      kForever);
  EXPECT_TRUE(test::holds_in_child([]() -> bool { std::exit(0); }));
  go.give();
  EXPECT_TRUE(over.comes());
}

// It has inherited its parent's handler.
TEST_F(EndingsTest, AChildWaitsForItsOwn_F023_F038) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        begin(nothing(), kForever);
        const bool held = test::holds_in_child([]() -> bool {
          begin(waits_for_the_exit(), kForever);
          std::atexit([] { g_exiting.give(); });
          std::exit(1);
        });
        std::_Exit(held ? 0 : 3);
      },
      testing::ExitedWithCode(0), "");
}

// One that was forked while others began and ended hung, with a mutex of the C library's that nobody gives back there.
TEST_F(EndingsTest, AChildMayBeForkedAtAnyMoment_F023_F038) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  std::atomic<bool> enough{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i) {
    busy.emplace_back([&] {
      while (!enough) {
        const CallbackThread callbacks;
        const Endings::Known client({callbacks});
        begin(nothing(), 1s);
      }
    });
  }
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    EXPECT_TRUE(test::holds_in_child([]() -> bool {
      const CallbackThread callbacks;
      const Endings::Known client({callbacks});
      begin(nothing(), 1s);
      std::exit(0);
    }));
  }
  enough = true;
  for (auto& each : busy) each.join();
}

}  // namespace
}  // namespace holdfast::runtime
