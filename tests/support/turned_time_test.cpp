#include "support/turned_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/hand_loop.hpp"
#include "support/manual_clock.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class TurnedTime : public testing::Test {
 protected:
  Task note(const std::string& what) {
    return [this, what] { done_.push_back(what); };
  }
  store::TimerId in(Duration time, const std::string& what) {
    return loop_.call_at(clock_.now() + time, note(what));
  }
  void settle() {
    while (hand_.run_one(manual_.now())) {
    }
  }

  ManualClock manual_;
  HandLoop hand_;
  TurnedClock clock_{manual_};
  TurnedLoop loop_{hand_, clock_};
  std::vector<std::string> done_;
};

TEST_F(TurnedTime, GoesOnByItself) {
  in(2s, "later");
  in(1s, "soon");
  manual_.advance(1s);
  settle();
  EXPECT_THAT(done_, ElementsAre("soon"));
  manual_.advance(1s);
  settle();
  EXPECT_THAT(done_, ElementsAre("soon", "later"));
}

TEST_F(TurnedTime, RunsWhatIsDueWhenItIsTurned) {
  const TimePoint before = clock_.now();
  in(2s, "later");
  in(1s, "soon");
  EXPECT_EQ(loop_.next(), before + 1s);
  loop_.turn(1s);
  EXPECT_THAT(done_, IsEmpty()) << "on the loop, not here";
  settle();
  EXPECT_THAT(done_, ElementsAre("soon"));
  EXPECT_EQ(clock_.now(), before + 1s);
  loop_.turn(1h);
  settle();
  EXPECT_THAT(done_, ElementsAre("soon", "later"));
  EXPECT_EQ(loop_.next(), kNever);
}

TEST_F(TurnedTime, TimersSetAfterATurnAreDueByTheTurnedClock) {
  loop_.turn(1h);
  in(1s, "soon");
  settle();
  EXPECT_THAT(done_, IsEmpty());
  manual_.advance(1s);
  settle();
  EXPECT_THAT(done_, ElementsAre("soon"));
}

TEST_F(TurnedTime, ForgetsWhatIsCancelled) {
  const store::TimerId id = in(1s, "never");
  loop_.cancel(id);
  EXPECT_EQ(loop_.next(), kNever);
  loop_.turn(2s);
  settle();
  EXPECT_THAT(done_, IsEmpty());
}

}  // namespace
}  // namespace holdfast::test
