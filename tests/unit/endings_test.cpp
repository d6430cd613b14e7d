#include "runtime/endings.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>

#include "support/forked_child.hpp"
#include "support/soon.hpp"

namespace holdfast::runtime {
namespace {

using test::Signal;

const Signal g_exiting;
std::atomic<bool> g_waited{false};

// What is to be done at an exit first is done last.
void tell_whether_it_waited() { std::_Exit(g_waited ? 0 : 2); }

// F038: each in a process of its own.
class EndingsTest : public testing::Test {
 protected:
  EndingsTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // On a thread that is gone when the process exits.
  static void begin_elsewhere(Task end, Duration at_most) {
    std::thread([&] { Endings::begin(std::move(end), at_most); }).join();
  }
  static Task never_over() {
    return [] { std::promise<void>().get_future().wait(); };
  }
};

TEST_F(EndingsTest, TheProcessWaitsForThem_F038) {
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        begin_elsewhere([] { g_waited = g_exiting.comes(); }, kForever);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

// Whoever comes out of a client may just be the last that had it.
TEST_F(EndingsTest, TheProcessWaitsForVisitorsFirst_F038) {
  EXPECT_EXIT(
      {
        static std::atomic<int> visits{1};
        std::atexit(tell_whether_it_waited);
        static const auto& client = *new Endings::Visited([] { return visits != 0; }, kForever);
        static_cast<void>(client);
        std::thread([] {
          const bool exiting = g_exiting.comes();
          Endings::begin([exiting] { g_waited = exiting; }, kForever);
          --visits;
        }).detach();
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, ButNotForAVisitorThatStays_F038) {
  EXPECT_EXIT(
      {
        const Endings::Visited client([] { return true; }, std::chrono::milliseconds(1));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, NorForLongerThanItMay_F038) {
  EXPECT_EXIT(
      {
        begin_elsewhere(never_over(), std::chrono::milliseconds(1));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, NorOnTheThreadThatTheyMayBeWaitingFor_F038) {
  EXPECT_EXIT(
      {
        Endings::begin(never_over(), kForever);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EndingsTest, NorInAChildThatHasNoneOfThem_F023_F038) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  const Signal go;
  const Signal over;
  begin_elsewhere(
      [go, over] {
        static_cast<void>(go.comes());
        over.give();
      },
      kForever);
  EXPECT_TRUE(test::holds_in_child([]() -> bool { std::exit(0); }));
  go.give();
  EXPECT_TRUE(over.comes());
}

// It has inherited its parent's handler, too, and does not trip over what it has waited for already.
TEST_F(EndingsTest, AChildWaitsForItsOwn_F023_F038) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  EXPECT_EXIT(
      {
        std::atexit(tell_whether_it_waited);
        begin_elsewhere([] {}, kForever);
        const bool held = test::holds_in_child([]() -> bool {
          begin_elsewhere([] { g_waited = g_exiting.comes(); }, kForever);
          std::atexit([] { g_exiting.give(); });
          std::exit(1);
        });
        std::_Exit(held ? 0 : 3);
      },
      testing::ExitedWithCode(0), "");
}

// What was made after the first client and before the end of a later one is there until that end is over.
TEST_F(EndingsTest, TheProcessWaitsBeforeItDestroysWhatIsNewerThanTheFirstClient_F038) {
  EXPECT_EXIT(
      {
        begin_elsewhere([] {}, kForever);
        std::atexit(tell_whether_it_waited);
        begin_elsewhere([] { g_waited = g_exiting.comes(); }, kForever);
        std::atexit([] { g_exiting.give(); });
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace holdfast::runtime
