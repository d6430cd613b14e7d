#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_probe.hpp"

// A released lock goes to the next waiter of this client without asking the store, within limits.
namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// A hold with spares, and somebody who waits for it.
struct Contended {
  explicit Contended(EngineProbe& engine, std::uint64_t spare = 16, const Want& holder = {},
                     const Want& waiter = {})
      : probe(engine), hold(engine.take(holder, 100, spare)), next(engine.acquire(waiter)) {}

  bool handed_on() {
    probe.said();
    const OpId done = probe.release(hold);
    const std::vector<std::string> said = probe.said();
    if (probe.outcome(next) == "held") {
      EXPECT_EQ(probe.outcome(done), "done") << "nobody has to be asked";
      EXPECT_THAT(said, IsEmpty());
      return true;
    }
    EXPECT_THAT(said, ElementsAre("release #1", "ask #2"));
    EXPECT_EQ(probe.outcome(done), "waiting");
    return false;
  }

  EngineProbe& probe;
  HoldCellPtr hold;
  OpId next;
};

TEST(EngineHandoff, TheNextWaiterGetsTheNextFenceAndTheSameLease) {
  EngineProbe probe;
  Contended lock(probe);
  const TimePoint until = lock.hold->until();
  probe.events();
  ASSERT_TRUE(lock.handed_on());
  EXPECT_EQ(probe.hold(lock.next)->fence.value(), 101u);
  EXPECT_EQ(probe.hold(lock.next)->until(), until);
  EXPECT_EQ(lock.hold->until(), kEnded);
  EXPECT_THAT(probe.events(), ElementsAre(LockEvent::What::released, LockEvent::What::handed_off));
  EXPECT_EQ(probe.holds(), 1u);
}

TEST(EngineHandoff, TheStoreIsAlwaysToldItsOwnFence) {
  EngineProbe probe;
  Contended lock(probe);
  ASSERT_TRUE(lock.handed_on());
  probe.pass(11s);
  EXPECT_EQ(probe.renewal().renewals.front().fence, 100u);
  probe.renewed(1);
  probe.drop(probe.hold(lock.next));
  EXPECT_EQ(probe.release_asked().key.fence, 100u);
}

TEST(EngineHandoff, AnOfferBringsItsSpares) {
  EngineProbe probe;
  const OpId a = probe.acquire();
  probe.refuse(1);
  probe.refuse(1);
  const OpId b = probe.acquire();
  probe.offer(1, 100, 4);
  probe.renewed(1);
  probe.drop(probe.hold(a));
  EXPECT_EQ(probe.hold(b)->fence.value(), 101u);
}

TEST(EngineHandoff, GoesOnUntilTheBudgetIsUsedUp) {
  EngineProbe probe;
  HoldCellPtr hold = probe.take({}, 100, 1000);
  for (std::uint64_t i = 1; i <= 16; ++i) {
    const OpId next = probe.acquire();
    probe.drop(hold);
    ASSERT_EQ(probe.outcome(next), "held");
    hold = probe.hold(next);
    EXPECT_EQ(hold->fence.value(), 100 + i);
  }
  EXPECT_THAT(probe.said(), IsEmpty());
  probe.acquire();
  probe.drop(hold);
  EXPECT_THAT(probe.said(), ElementsAre("release #1", "ask #2"));
}

TEST(EngineHandoff, GoesOnUntilTheTimeIsUp) {
  EngineProbe probe;
  Contended in_time(probe);
  probe.pass(20ms - 1ns);
  EXPECT_TRUE(in_time.handed_on());
  EngineProbe other;
  Contended too_late(other);
  other.pass(20ms);
  EXPECT_FALSE(too_late.handed_on());
}

TEST(EngineHandoff, TheTimeCountsFromTheStoresGrant) {
  EngineProbe probe;
  Contended lock(probe);
  probe.pass(15ms);
  ASSERT_TRUE(lock.handed_on());
  const OpId third = probe.acquire();
  probe.pass(15ms);
  probe.drop(probe.hold(lock.next));
  EXPECT_EQ(probe.outcome(third), "waiting");
}

TEST(EngineHandoff, NeedsAReservedFence) {
  EngineProbe none;
  Contended without(none, 0);
  EXPECT_FALSE(without.handed_on());

  EngineProbe probe;
  Contended lock(probe, 1);
  ASSERT_TRUE(lock.handed_on());
  const OpId third = probe.acquire();
  probe.drop(probe.hold(lock.next));
  EXPECT_EQ(probe.outcome(third), "waiting");
  EXPECT_THAT(probe.said(), ElementsAre("release #1", "ask #2"));
}

TEST(EngineHandoff, CanBeSwitchedOff) {
  EngineSettings settings = EngineProbe::usual();
  settings.handoff_count = 0;
  EngineProbe probe(settings);
  Contended lock(probe);
  EXPECT_FALSE(lock.handed_on());
}

TEST(EngineHandoff, NeedsTheSameLeaseAndRenewal) {
  const auto handed_on = [](const Want& holder, const Want& waiter) {
    EngineProbe probe;
    Contended lock(probe, 16, holder, waiter);
    return lock.handed_on();
  };
  EXPECT_FALSE(handed_on({}, {.lease = 10s}));
  EXPECT_FALSE(handed_on({.lease = 10s}, {}));
  EXPECT_FALSE(handed_on({}, {.renew = false}));
  EXPECT_FALSE(handed_on({.renew = false}, {}));
  EXPECT_FALSE(handed_on({.renew = false}, {.renew = false}));
  EXPECT_TRUE(handed_on({.lease = 10s}, {.lease = 10s}));
  EXPECT_TRUE(handed_on({.wait = 0s}, {})) << "how the holder got it does not matter";
}

// Where sessions count, no store gives as much as is asked for by default.
TEST(EngineHandoff, EnoughIsAThirdOfWhatTheStoreGives) {
  EngineProbe probe;
  const OpId first = probe.acquire();
  probe.grant(1, 100, 16, 8s);
  const OpId next = probe.acquire();
  probe.drop(probe.hold(first));
  ASSERT_EQ(probe.outcome(next), "held");
  EXPECT_EQ(probe.hold(next)->fence.value(), 101u);
}

TEST(EngineHandoff, NeedsEnoughOfTheLease) {
  EngineSettings settings = EngineProbe::usual();
  settings.handoff_time = 60s;
  EngineProbe probe(settings);
  Contended fresh(probe);
  probe.pass(11s);
  probe.silence(1);
  probe.freeze(8698ms);  // a third is left
  EXPECT_TRUE(fresh.handed_on());

  EngineProbe other(settings);
  Contended stale(other);
  other.pass(11s);
  other.silence(1);
  other.freeze(8698ms + 1ns);
  EXPECT_FALSE(stale.handed_on());
}

TEST(EngineHandoff, AnExpiredHoldIsNotHandedOn) {
  EngineProbe probe;
  Contended lock(probe);
  probe.freeze(60s);
  const OpId done = probe.release(lock.hold);
  EXPECT_EQ(probe.outcome(done), "lost");
  EXPECT_EQ(probe.outcome(lock.next), "waiting");
  EXPECT_THAT(probe.said(), ElementsAre("lost 100", "release #1", "ask #2"));
}

TEST(EngineHandoff, TheRenewalUnderWayServesTheNextHolder) {
  EngineSettings settings = EngineProbe::usual();
  settings.handoff_time = 60s;
  EngineProbe probe(settings);
  Contended lock(probe);
  probe.pass(11s);
  EXPECT_THAT(probe.said(), ElementsAre("renew #1"));
  const TimePoint sent = probe.now;
  ASSERT_TRUE(lock.handed_on());
  probe.renewed(1);
  EXPECT_EQ(probe.hold(lock.next)->until(), sent + 30s - 302ms);
  EXPECT_EQ(lock.hold->until(), kEnded) << "the first holder's stays over";
}

TEST(EngineHandoff, MaxHoldCountsForEachHolder) {
  EngineProbe probe;
  Contended lock(probe, 16, {.max_hold = 20s}, {.max_hold = 15s});
  probe.pass(10ms);
  ASSERT_TRUE(lock.handed_on());
  EXPECT_EQ(probe.hold(lock.next)->until(), probe.now + 15s);
  const OpId third = probe.acquire();
  probe.drop(probe.hold(lock.next));
  EXPECT_EQ(probe.hold(third)->until(), TimePoint(1000s) + 30s - 302ms);
}

// The holder verifies, so the store is asked for the rest of max_hold only. It may see that question
// after later ones, so nobody goes on with this lease.
TEST(EngineHandoff, NobodyGoesOnWithALeaseThatTheStoreWasAskedToShorten) {
  EngineProbe probe;
  Contended lock(probe, 16, {.max_hold = 20s});
  probe.verify(lock.hold);
  EXPECT_FALSE(lock.handed_on());
}

TEST(EngineHandoff, WhoeverLeftTheQueueIsPassedOver) {
  EngineProbe probe;
  Contended lock(probe);
  const OpId third = probe.acquire();
  probe.give_up(lock.next);
  probe.drop(lock.hold);
  EXPECT_EQ(probe.outcome(lock.next), "cancelled");
  EXPECT_EQ(probe.outcome(third), "held");
}

TEST(EngineHandoff, AClosingClientHandsNothingOn) {
  EngineProbe probe;
  Contended lock(probe);
  probe.close();
  EXPECT_EQ(probe.outcome(lock.next), "cancelled");
  probe.drop(lock.hold);
  EXPECT_THAT(probe.said(), ElementsAre("release #1"));
}

// ---- quick hand-offs ----

// Threads that hold a lock for less than it takes to wake one.
struct Quick {
  Quick() : hold(probe.take({.thread = true}, 100, 16)) {
    asleep = probe.acquire({.thread = true});
    next = probe.acquire({.thread = true});
    pass_on(asleep, 50us);  // the first that is known to be quick
    asleep = next;
  }

  // The holder lets go after a while, and this one gets it.
  void pass_on(OpId to, Duration after) {
    probe.pass(after);
    probe.drop(hold);
    ASSERT_EQ(probe.outcome(to), "held");
    hold = probe.hold(to);
    probe.said();
  }

  EngineProbe probe;
  HoldCellPtr hold;
  OpId asleep = 0, next = 0;
};

TEST(EngineHandoff, AQuickLockGoesToWhoIsAwakeBeforeWhoSleeps) {
  Quick lock;
  const OpId awake = lock.probe.acquire({.thread = true});
  EXPECT_THAT(lock.probe.said(), ElementsAre("stay awake " + std::to_string(awake)));
  lock.pass_on(awake, 50us);
  EXPECT_EQ(lock.probe.outcome(lock.asleep), "waiting");
}

TEST(EngineHandoff, OnlyOneStaysAwake) {
  Quick lock;
  const OpId awake = lock.probe.acquire({.thread = true});
  lock.probe.said();
  const OpId another = lock.probe.acquire({.thread = true});
  EXPECT_THAT(lock.probe.said(), IsEmpty());
  lock.pass_on(awake, 50us);
  lock.pass_on(lock.asleep, 50us);
  lock.pass_on(another, 50us);
}

TEST(EngineHandoff, WhoIsNotServedInTimeSleepsAndStandsInLineAsEverybody) {
  Quick lock;
  const OpId awake = lock.probe.acquire({.thread = true});
  lock.pass_on(lock.asleep, 100us);
  lock.pass_on(awake, 50us);
}

TEST(EngineHandoff, AfterALongHoldNobodyStaysAwake) {
  Quick lock;
  lock.pass_on(lock.asleep, 200us);
  lock.probe.acquire({.thread = true});
  EXPECT_THAT(lock.probe.said(), IsEmpty());
}

TEST(EngineHandoff, ARequestWithoutAThreadHasNobodyToStayAwake) {
  Quick lock;
  lock.probe.acquire();
  EXPECT_THAT(lock.probe.said(), IsEmpty());
}

TEST(EngineHandoff, WhoStaysAwakeButDoesNotFitIsPassedOver) {
  Quick lock;
  const OpId other_lease = lock.probe.acquire({.lease = 10s, .thread = true});
  lock.pass_on(lock.asleep, 50us);
  EXPECT_EQ(lock.probe.outcome(other_lease), "waiting");
}

TEST(EngineHandoff, WhoLeftWhileAwakeIsNotServed) {
  Quick lock;
  lock.probe.give_up(lock.probe.acquire({.thread = true}));
  lock.pass_on(lock.asleep, 50us);
}

// Two that are always awake pass it to and fro; the budget ends that.
TEST(EngineHandoff, TheFirstInTheQueueIsServedWhenTheBudgetIsUsedUp) {
  Quick lock;
  for (int i = 0; i < 15; ++i) lock.pass_on(lock.probe.acquire({.thread = true}), 10us);
  const OpId awake = lock.probe.acquire({.thread = true});
  lock.probe.drop(lock.hold);
  lock.probe.grant(2, 200);
  EXPECT_EQ(lock.probe.outcome(lock.asleep), "held");
  EXPECT_EQ(lock.probe.outcome(awake), "waiting");
}

}  // namespace
}  // namespace holdfast::core
