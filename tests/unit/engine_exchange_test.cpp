#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_probe.hpp"

// One hold is exchanged for another of the same lock: what each of them is worth meanwhile.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using store::Kind;
using store::Shape;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

Want wanting(const Shape& shape, HoldCellPtr instead_of = {}) {
  return {.kind = Kind::shared_mutex, .shape = shape, .instead_of = std::move(instead_of)};
}

// Claim 1 holds with fence 100, claim 2 is to take its place.
struct Exchange {
  Exchange(const Shape& from, const Shape& to)
      : old(probe.take(wanting(from), 100)), op(probe.acquire(wanting(to, old))) {}

  bool old_is_valid() const { return probe.now < old->until(); }

  EngineProbe probe;
  HoldCellPtr old;
  OpId op;
};

struct Downgrade : Exchange {
  Downgrade() : Exchange(Shape::exclusive(), Shape::shared()) {}
};
struct Upgrade : Exchange {
  Upgrade() : Exchange(Shape::upgradeable(), Shape::exclusive()) {}
};

TEST(EngineExchange, TheStoreIsToldWhichHoldIsReplaced) {
  Upgrade upgrade;
  const auto& request = upgrade.probe.asked().request;
  ASSERT_TRUE(request.instead_of);
  EXPECT_EQ(request.instead_of->owner.claim, 1u);
  EXPECT_EQ(request.instead_of->fence, 100u);
}

TEST(EngineExchange, TheOldHoldEndsWithTheGrantAndIsNotReleased) {
  Upgrade upgrade;
  EXPECT_TRUE(upgrade.old_is_valid()) << "the reader reads on";
  upgrade.probe.said();
  upgrade.probe.grant(2, 101);
  EXPECT_EQ(upgrade.probe.outcome(upgrade.op), "held");
  EXPECT_FALSE(upgrade.old_is_valid());
  EXPECT_EQ(upgrade.probe.holds(), 1u);
  EXPECT_THAT(upgrade.probe.said(), IsEmpty()) << "neither released nor told lost";
}

// The store may let readers in before we hear of it.
TEST(EngineExchange, AWriterIsNoWriterFromTheMomentItsDowngradeLeaves) {
  Downgrade downgrade;
  EXPECT_FALSE(downgrade.old_is_valid());
  downgrade.probe.pass(11s);
  downgrade.probe.renewed(1);
  EXPECT_FALSE(downgrade.old_is_valid()) << "not even a renewal changes that";
}

TEST(EngineExchange, ADowngradeThatIsCertainlyNotDoneLeavesTheWriter) {
  Downgrade downgrade;
  downgrade.probe.reject(2, Errc::store_full);
  EXPECT_EQ(downgrade.probe.outcome(downgrade.op), "store_full");
  EXPECT_TRUE(downgrade.old_is_valid());
}

TEST(EngineExchange, AnUpgradeThatIsRefusedLeavesTheReader) {
  Upgrade upgrade;
  upgrade.probe.refuse(2);
  upgrade.probe.refuse(2);
  upgrade.probe.give_up(upgrade.op);
  upgrade.probe.withdrawn(2);
  EXPECT_EQ(upgrade.probe.outcome(upgrade.op), "cancelled");
  EXPECT_TRUE(upgrade.old_is_valid());
}

// The store may have done it. Then the withdraw frees the lock, and somebody else may write while the
// old hold looks as good as ever.
TEST(EngineExchange, AnUpgradeThatMayHaveBeenDoneAndIsGivenUpCostsTheOldHold) {
  Upgrade upgrade;
  upgrade.probe.silence(2);
  upgrade.probe.said();
  upgrade.probe.give_up(upgrade.op);
  EXPECT_FALSE(upgrade.old_is_valid()) << "before the withdraw leaves";
  const auto said = upgrade.probe.said();
  EXPECT_THAT(said, Contains("release #1"));
  EXPECT_THAT(said, Contains("withdraw #2"));
  EXPECT_THAT(said, Contains("lost 100"));
}

TEST(EngineExchange, AConfirmationThatIsNotAnsweredMakesItUncertainToo) {
  Upgrade upgrade;
  upgrade.probe.refuse(2);
  upgrade.probe.refuse(2);
  upgrade.probe.offer(2, 101);
  upgrade.probe.silence(2);
  upgrade.probe.refuse(2);
  upgrade.probe.give_up(upgrade.op);
  EXPECT_FALSE(upgrade.old_is_valid());
}

TEST(EngineExchange, AnUpgradeableReaderYieldsWhenItBecomesAPlainOne) {
  const Exchange exchange(Shape::upgradeable(), Shape::shared());
  EXPECT_FALSE(exchange.old_is_valid()) << "another one may become upgradeable any moment";
}

TEST(EngineExchange, TheLeaseIsNotShorterThanBefore) {
  EngineProbe probe;
  const HoldCellPtr old = probe.take(wanting(Shape::upgradeable()), 100);
  Want want = wanting(Shape::exclusive(), old);
  want.lease = 500ms;
  probe.acquire(want);
  EXPECT_EQ(probe.asked().request.lease, 30s) << "the old hold is believed for that long";
}

TEST(EngineExchange, WhatTheStoreDoesNotKnowIsLostAndNotRestored) {
  for (const Errc why : {Errc::lost, Errc::forced}) {
    Downgrade downgrade;
    downgrade.probe.reject(2, why);
    EXPECT_EQ(downgrade.probe.outcome(downgrade.op), name_of(why));
    EXPECT_FALSE(downgrade.old_is_valid());
    EXPECT_EQ(downgrade.probe.holds(), 0u);
  }
}

// The store did both, and the answers cross: that is no loss.
TEST(EngineExchange, AnOldHoldThatIsGoneIsNotToldLostWhileItsExchangeIsUnderWay) {
  Upgrade upgrade;
  upgrade.probe.pass(1s);
  upgrade.probe.verify(upgrade.old);
  upgrade.probe.said();
  upgrade.probe.gone(1);
  EXPECT_FALSE(upgrade.old_is_valid());
  upgrade.probe.grant(2, 101);
  EXPECT_EQ(upgrade.probe.outcome(upgrade.op), "held");
  EXPECT_THAT(upgrade.probe.said(), Not(Contains("lost 100")));
}

TEST(EngineExchange, AnOldHoldThatIsGoneCanBeVerifiedWhileItsExchangeIsUnderWay) {
  Upgrade upgrade;
  upgrade.probe.verify(upgrade.old);
  upgrade.probe.gone(1);
  const OpId again = upgrade.probe.verify(upgrade.old);
  EXPECT_EQ(upgrade.probe.outcome(again), "waiting");
  upgrade.probe.grant(2, 101);
  EXPECT_EQ(upgrade.probe.outcome(again), "not_owner");
}

TEST(EngineExchange, AnOldHoldThatIsGoneIsLostWhenItsExchangeFails) {
  Upgrade upgrade;
  upgrade.probe.refuse(2);
  upgrade.probe.refuse(2);
  upgrade.probe.verify(upgrade.old);
  upgrade.probe.said();
  upgrade.probe.gone(1);
  upgrade.probe.pass(3s);
  EXPECT_THAT(upgrade.probe.said(), Not(Contains("renew #1"))) << "nobody holds it";
  upgrade.probe.give_up(upgrade.op);
  upgrade.probe.withdrawn(2);
  EXPECT_EQ(upgrade.probe.outcome(upgrade.op), "cancelled");
  EXPECT_FALSE(upgrade.old_is_valid());
  EXPECT_THAT(upgrade.probe.said(), Contains("lost 100"));
}

TEST(EngineExchange, WhatIsLostCannotBeExchanged) {
  EngineProbe probe;
  const HoldCellPtr old = probe.take(wanting(Shape::upgradeable()), 100);
  probe.drop(old);
  probe.said();
  const OpId op = probe.acquire(wanting(Shape::exclusive(), old));
  EXPECT_EQ(probe.outcome(op), "lost");
  EXPECT_THAT(probe.said(), IsEmpty());
}

// ---- questions from before the hold, which the store sees after the exchange ----

// Claim 1 was granted at its second question, then claim 2 is to take its place; the first question
// is still open.
struct LateQuestion {
  LateQuestion() {
    probe.acquire(wanting(Shape::upgradeable()));
    late = probe.call(1);
    probe.pass(3s);  // given up, and asked again
    probe.grant(1, 100);
    op = probe.acquire(wanting(Shape::shared(), probe.hold(1)));
    probe.said();
  }
  void answered(const store::GrantReply& reply) { probe.answer(late, reply); }

  EngineProbe probe;
  store::CallId late = 0;
  OpId op = 0;
};

TEST(EngineExchange, APlaceInLineThatALateQuestionTookForTheOldHoldIsGivenBack) {
  LateQuestion question;
  question.answered(EngineProbe::refusal());
  EXPECT_THAT(question.probe.said(), IsEmpty()) << "it may have been refused before the grant";
  question.probe.grant(2, 101);
  EXPECT_THAT(question.probe.said(), ElementsAre("withdraw #1"));
}

TEST(EngineExchange, AGrantThatALateQuestionGotForTheOldHoldIsGivenBack) {
  LateQuestion question;
  question.answered(store::Granted{102, 0, 30s});
  question.probe.grant(2, 101);
  EXPECT_THAT(question.probe.said(), ElementsAre("withdraw #1"));
}

TEST(EngineExchange, ALateAnswerThatNamesTheOldHoldLeavesNothingBehind) {
  LateQuestion question;
  question.answered(store::Granted{100, 0, 30s});
  question.probe.grant(2, 101);
  EXPECT_THAT(question.probe.said(), IsEmpty());
}

TEST(EngineExchange, WhatALateQuestionLeftIsGivenBackAlsoIfTheHoldIsLost) {
  LateQuestion question;
  question.answered(EngineProbe::refusal());
  question.probe.reject(2, Errc::lost);
  EXPECT_THAT(question.probe.said(), Contains("withdraw #1"));
}

// An operator took the hold away, then the slow question came.
TEST(EngineExchange, WhatALateQuestionLeftIsGivenBackAlsoIfTheReleaseFindsNothing) {
  EngineProbe probe;
  const OpId op = probe.acquire();
  const store::CallId late = probe.call(1);
  probe.pass(3s);
  probe.grant(1, 100);
  probe.answer(late, store::GrantReply(store::Granted{102, 0, 30s}));
  probe.said();
  const OpId release = probe.release(probe.hold(op));
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
  probe.release_gone(1);
  EXPECT_THAT(probe.said(), ElementsAre("withdraw #1"));
  EXPECT_EQ(probe.outcome(release), "lost");
}

// ---- whose turn it is ----

TEST(EngineExchange, ReadersOfOneClientHaveAClaimEach) {
  EngineProbe probe;
  probe.acquire(wanting(Shape::shared()));
  probe.acquire(wanting(Shape::shared()));
  EXPECT_THAT(probe.said(), ElementsAre("ask #1", "ask #2"));
}

TEST(EngineExchange, ATaskThatReadsCannotWaitToWrite) {
  EngineProbe probe;
  Want mine = wanting(Shape::shared());
  mine.owner = 7;
  probe.take(mine, 100);
  mine.shape = Shape::exclusive();
  EXPECT_EQ(probe.outcome(probe.acquire(mine)), "would_deadlock");
  mine.shape = Shape::shared();
  EXPECT_EQ(probe.outcome(probe.acquire(mine)), "waiting") << "it may read twice";
}

}  // namespace
}  // namespace holdfast::core
