#include "torture/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "checker/history_text.hpp"
#include "core/drift.hpp"

namespace holdfast::torture {
namespace {

using check::Acquire;
using check::kNever;
using check::Outcome;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Time kLease = 600'000'000;

// What a worker writes.
class Text {
 public:
  template <class Record>
  Text& add(const Record& record) {
    check::write(text_, record);
    return *this;
  }
  WorkerHistory worker() const { return {.text = text_.str()}; }
  WorkerHistory killed_at(Time time) const { return {.text = text_.str(), .killed = time}; }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

Acquire asked() { return {.client = 1001, .op = 5, .name = "orders", .invoked = 100}; }

Acquire came_back(Time until) {
  Acquire a = asked();
  a.owner = 3;
  a.returned = 200;
  a.outcome = Outcome::granted;
  a.fence = a.grant_fence = 17;
  a.sent = 150;
  a.lease_ns = kLease;
  a.valid_end = until;
  return a;
}

Acquire gave_back(Time at, Time valid_end) {
  Acquire a = came_back(kNever);
  a.released = at;
  a.valid_end = valid_end;
  return a;
}

check::Renewal renewed(Time sent, check::Renewed outcome = check::Renewed::renewed) {
  return {.client = 1001,
          .owner = 3,
          .name = "orders",
          .grant_fence = 17,
          .sent = sent,
          .answered = sent + 10,
          .outcome = outcome,
          .lease_ns = kLease};
}

Time reach(Time sent) { return sent + kLease - core::Drift().allowance(Duration(kLease)).count(); }

check::History merged(const WorkerHistory& worker) {
  check::History history;
  EXPECT_EQ(merge(worker, history), "");
  return history;
}

Acquire only_one(const WorkerHistory& worker) {
  const check::History history = merged(worker);
  EXPECT_THAT(history.acquires, SizeIs(1));
  return history.acquires.empty() ? Acquire{} : history.acquires.front();
}

TEST(TortureMerge, TheLastLineOfAnOperationCounts) {
  const Acquire a =
      only_one(Text().add(asked()).add(came_back(900)).add(gave_back(700, 700)).worker());
  EXPECT_EQ(a.outcome, Outcome::granted);
  EXPECT_EQ(a.valid_end, 700);
  EXPECT_EQ(a.released, 700);
  EXPECT_FALSE(a.crashed);
}

TEST(TortureMerge, OperationsOfTwoClientsDoNotMix) {
  Acquire other = asked();
  other.client = 1002;
  EXPECT_THAT(merged(Text().add(asked()).add(other).worker()).acquires, SizeIs(2));
}

TEST(TortureMerge, AWaitOfAKilledWorkerIsPendingAndCrashed) {
  const Acquire a = only_one(Text().add(asked()).killed_at(500));
  EXPECT_EQ(a.outcome, Outcome::pending);
  EXPECT_EQ(a.returned, kNever);
  EXPECT_TRUE(a.crashed);
}

TEST(TortureMerge, AWaitOfALivingWorkerStillWaits) {
  EXPECT_FALSE(only_one(Text().add(asked()).worker()).crashed);
}

TEST(TortureMerge, AHoldOfAKilledWorkerWasValidUntilItsDeath) {
  const Acquire a = only_one(Text().add(asked()).add(came_back(900)).killed_at(500));
  EXPECT_TRUE(a.crashed);
  EXPECT_EQ(a.valid_end, 500);
}

TEST(TortureMerge, ButNotForLongerThanItsLease) {
  EXPECT_EQ(only_one(Text().add(came_back(900)).killed_at(5'000)).valid_end, 900);
}

TEST(TortureMerge, ForAsLongAsItsRenewalsReached) {
  const Time late = reach(800) + 1'000;
  EXPECT_EQ(only_one(Text().add(came_back(900)).add(renewed(800)).killed_at(late)).valid_end,
            reach(800));
}

TEST(TortureMerge, ARenewalThatCameTooLateBroughtNothingBack) {
  EXPECT_EQ(only_one(Text().add(came_back(900)).add(renewed(895)).killed_at(kLease)).valid_end,
            900);
}

TEST(TortureMerge, AHoldThatWasReleasedOnItsWayOutWasNotValidLonger) {
  const check::ReleaseSent release{
      .client = 1001, .owner = 3, .name = "orders", .grant_fence = 17, .sent = 400};
  EXPECT_EQ(only_one(Text().add(came_back(900)).add(release).killed_at(800)).valid_end, 400);
}

TEST(TortureMerge, AHoldThatWasLostWasValidUntilTheStoreSaidThatItIsGone) {
  const WorkerHistory worker = Text()
                                   .add(came_back(900))
                                   .add(renewed(600, check::Renewed::gone))
                                   .add(gave_back(5'000, kNever))
                                   .worker();
  const Acquire a = only_one(worker);
  EXPECT_EQ(a.valid_end, 600);
  EXPECT_FALSE(a.crashed);
}

TEST(TortureMerge, AHoldThatWasLostInSilenceWasValidToTheEndOfItsLease) {
  EXPECT_EQ(only_one(Text().add(came_back(900)).add(gave_back(5'000, kNever)).worker()).valid_end,
            900);
}

TEST(TortureMerge, AHoldThatWasDeadOnArrivalStaysSo) {
  EXPECT_EQ(only_one(Text().add(came_back(200)).killed_at(5'000)).valid_end, 200);
}

TEST(TortureMerge, AHoldThatIsKeptToTheEndStaysOpen) {
  EXPECT_EQ(only_one(Text().add(came_back(kNever)).worker()).valid_end, kNever);
}

TEST(TortureMerge, AWaitCannotEndWhileItsProcessIsStopped) {
  Acquire limited = asked();
  limited.wait_limit = 300;
  WorkerHistory worker = Text().add(limited).worker();
  worker.pauses = {{250, 800}};
  EXPECT_EQ(only_one(worker).wait_limit, 800);
  worker.pauses = {{400, 800}};
  EXPECT_EQ(only_one(worker).wait_limit, 300);
}

TEST(TortureMerge, ATornLastLineOfAKilledWorkerIsDropped) {
  WorkerHistory worker = Text().add(asked()).add(came_back(900)).killed_at(500);
  worker.text.resize(worker.text.size() - 7);
  EXPECT_EQ(only_one(worker).outcome, Outcome::pending);
}

TEST(TortureMerge, ATornLineElsewhereIsAnError) {
  check::History history;
  WorkerHistory alive = Text().add(asked()).worker();
  alive.text.resize(alive.text.size() - 7);
  EXPECT_THAT(merge(alive, history), HasSubstr("line 1"));
  WorkerHistory inside = Text().add(asked()).killed_at(500);
  inside.text = "acquire 1001\n" + inside.text;
  EXPECT_THAT(merge(inside, history), HasSubstr("line 1"));
}

TEST(TortureMerge, AWorkerThatWroteNothingIsNoTrouble) {
  EXPECT_TRUE(merged({.text = "", .killed = 500}).acquires.empty());
}

}  // namespace
}  // namespace holdfast::torture
