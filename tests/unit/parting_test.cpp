#include "core/parting.hpp"

#include <gtest/gtest.h>

#include <string>

#include "engine_probe.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr OpId kCaller = 5;

// "send", "released", "failed unknown", "ended" and what goes together.
std::string shown(const PartingStep& step) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (step.send) add("send");
  if (step.done_well) add("released");
  if (step.failed) add("failed " + std::string(name_of(*step.failed)));
  if (step.ended) add("ended");
  return text;
}

class PartingTest : public testing::Test {
 protected:
  Parting started(OpId op = kCaller, Duration lease = 30s) {
    store::HoldKey key;
    key.fence = 7;
    Parting parting(pace, random, Parting::Verb::release, key, lease, op, now);
    EXPECT_EQ(shown(parting.start(now)), "send");
    return parting;
  }
  Parting resting(OpId op = kCaller) {
    Parting parting = started(op);
    EXPECT_EQ(shown(parting.on_no_answer(now)), "");
    return parting;
  }
  std::string next(Parting& parting) {
    EXPECT_NE(parting.timer(), kNever);
    now = std::max(now, parting.timer());
    return shown(parting.on_timer(now));
  }

  Pace pace;
  FixedRandom random{5ms};
  TimePoint now{1000s};
};

TEST_F(PartingTest, KnowsWhatItGivesBack) {
  Parting parting = started();
  EXPECT_EQ(parting.verb(), Parting::Verb::release);
  EXPECT_EQ(parting.key().fence, 7u);
  EXPECT_EQ(parting.op(), kCaller);
  EXPECT_EQ(parting.deadline(), now + 2s);
  parting.forget_op();
  EXPECT_EQ(parting.op(), kNobody);
}

TEST_F(PartingTest, WhatWasThereIsReleased) {
  Parting parting = started();
  EXPECT_EQ(shown(parting.on_answer(true, now)), "released, ended");
}

TEST_F(PartingTest, WhatWasGoneAtTheFirstAttemptWasLost) {
  Parting parting = started();
  EXPECT_EQ(shown(parting.on_answer(false, now)), "failed lost, ended");
}

TEST_F(PartingTest, WhatIsGoneAfterASilenceWasReleasedByTheUnansweredAttempt) {
  Parting parting = resting();
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(shown(parting.on_answer(false, now)), "released, ended");
}

TEST_F(PartingTest, ALateAnswerDuringTheRestIsAsGood) {
  Parting parting = resting();
  EXPECT_EQ(shown(parting.on_answer(true, now)), "released, ended");
}

TEST_F(PartingTest, ASilentAttemptIsRepeatedAfterAPause) {
  Parting parting = resting();
  EXPECT_EQ(parting.deadline(), kNever);
  EXPECT_EQ(parting.timer(), now + 5ms);
  EXPECT_EQ(shown(parting.on_timer(now)), "");
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(parting.deadline(), now + 2s);
}

TEST_F(PartingTest, PausesGrow) {
  random.value = 999'999'937;
  Parting parting = started(kNobody, 24h);
  for (const Duration bound : {10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1000ms, 1000ms}) {
    EXPECT_EQ(shown(parting.on_no_answer(now)), "");
    EXPECT_EQ(parting.timer() - now, Duration(999'999'937ns) % bound);
    EXPECT_EQ(next(parting), "send");
  }
}

TEST_F(PartingTest, AnAttemptThatHangsIsGivenUpAtItsDeadline) {
  Parting parting = started();
  EXPECT_EQ(shown(parting.on_timer(now + 2s - 1ns)), "");
  EXPECT_EQ(next(parting), "");
  EXPECT_EQ(parting.timer(), now + 5ms);
}

// A transport answers a question that hung once its deadline has passed: that is the same silence.
TEST_F(PartingTest, AnAttemptIsUnansweredOnce) {
  Parting parting = started();
  EXPECT_EQ(next(parting), "");
  const TimePoint timer = parting.timer();
  EXPECT_EQ(shown(parting.on_no_answer(now + 3ms)), "");
  EXPECT_EQ(parting.timer(), timer);
}

TEST_F(PartingTest, TheCallerIsToldAfterTwoAnswerTimesAndTheRestGoesOn) {
  Parting parting = started();
  const TimePoint began = now;
  EXPECT_EQ(next(parting), "");
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(next(parting), "failed unknown");
  EXPECT_EQ(now, began + 4s);
  EXPECT_EQ(next(parting), "") << "told once";
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(shown(parting.on_answer(true, now)), "released, ended");
}

TEST_F(PartingTest, ALateTimerRepeatsAndTellsAtOnce) {
  Parting parting = resting();
  now += 10s;
  EXPECT_EQ(shown(parting.on_timer(now)), "send, failed unknown");
}

TEST_F(PartingTest, NobodyIsToldIfNobodyWaits) {
  Parting parting = resting(kNobody);
  now += 10s;
  EXPECT_EQ(shown(parting.on_timer(now)), "send");
}

TEST_F(PartingTest, IsRepeatedUntilTheLeaseIsOver) {
  Parting parting = started(kNobody, 30s);
  const TimePoint began = now;
  int sent = 0;
  std::string said;
  while (said != "failed unknown, ended") {
    ASSERT_LT(now, began + 60s);
    said = next(parting);
    sent += said == "send" ? 1 : 0;
  }
  EXPECT_GT(sent, 10);
  EXPECT_GE(now, began + 30s);
  EXPECT_LE(now, began + 36s);
}

TEST_F(PartingTest, IsRepeatedForAnotherLeaseIfTheStoreKeptItForOne) {
  Parting parting = started(kNobody, 30s);
  now += 20s;
  parting.repeat_for(15s, now);
  const TimePoint seen = now;
  std::string said;
  while (said != "failed unknown, ended") {
    ASSERT_LT(now, seen + 60s);
    said = next(parting);
  }
  EXPECT_GE(now, seen + 15s);
  EXPECT_LE(now, seen + 21s);
}

TEST_F(PartingTest, AShorterLeaseDoesNotEndItEarlier) {
  Parting parting = started(kNobody, 30s);
  parting.repeat_for(1s, now);
  EXPECT_EQ(shown(parting.on_no_answer(now + 29s)), "");
}

// A renewal that came late may have begun the lease anew; the client may have been stopped meanwhile.
TEST_F(PartingTest, IsTriedOnceMoreAfterTheLeaseAndThenUnknown) {
  Parting parting = started(kNobody, 100ms);
  EXPECT_EQ(next(parting), "");
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(next(parting), "failed unknown, ended");
}

TEST_F(PartingTest, IsSentAgainIfThereWasNoMemoryForItsEnd_F044) {
  Parting parting = started();
  EXPECT_EQ(shown(parting.on_answer(true, now)), "released, ended");
  parting.try_again(now + 10ms);
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(shown(parting.on_answer(false, now)), "released, ended");
}

TEST_F(PartingTest, RemembersThatItWasLostIfThereWasNoMemoryToSaySo_F044) {
  Parting parting = started();
  EXPECT_EQ(shown(parting.on_answer(false, now)), "failed lost, ended");
  parting.try_again(now + 10ms);
  EXPECT_EQ(next(parting), "send");
  EXPECT_EQ(shown(parting.on_answer(false, now)), "failed lost, ended");
}

}  // namespace
}  // namespace holdfast::core
