#include "store/memory/lock_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "holdfast/fence.hpp"
#include "rules/glob.hpp"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

OwnerId owner(std::uint64_t claim) { return {{1, 2}, claim}; }

LockName name_of_lock(std::string_view bytes) { return LockName::checked(bytes).value(); }

// A table with a hand on its clock.
class LockTableTest : public testing::Test {
 protected:
  GrantRequest request(std::uint64_t who, bool line_up = true) const {
    GrantRequest ask;
    ask.name = name_of_lock("lock");
    ask.owner = owner(who);
    ask.lease = 30s;
    ask.record.owner = to_string(ask.owner);
    ask.line_up = line_up;
    ask.line_for = 20s;
    ask.confirm_within = 1s;
    return ask;
  }
  HoldKey hold(std::uint64_t who, std::uint64_t fence) const {
    HoldKey key;
    static_cast<ClaimKey&>(key) = request(who);
    key.fence = fence;
    return key;
  }
  Renewal renewal(std::uint64_t who, std::uint64_t fence, Duration lease = 30s) const {
    Renewal one;
    static_cast<HoldKey&>(one) = hold(who, fence);
    one.lease = lease;
    return one;
  }
  ForceRequest forcing(std::uint64_t fence, bool at_once) const {
    ForceRequest ask;
    ask.name = name_of_lock("lock");
    ask.fence = fence;
    ask.now = at_once;
    return ask;
  }

  GrantReply ask(const GrantRequest& what) { return table.try_grant(what, now, told); }
  std::uint64_t granted(const GrantRequest& what) {
    const GrantReply reply = ask(what);
    const auto* yes = std::get_if<Granted>(&reply);
    EXPECT_NE(yes, nullptr);
    return yes == nullptr ? 0 : yes->fence;
  }
  std::uint64_t granted(std::uint64_t who) { return granted(request(who)); }
  Refused refused(const GrantRequest& what) {
    const GrantReply reply = ask(what);
    const auto* no = std::get_if<Refused>(&reply);
    EXPECT_NE(no, nullptr);
    return no == nullptr ? Refused{} : *no;
  }
  Refused refused(std::uint64_t who) { return refused(request(who)); }
  bool renews(std::uint64_t who, std::uint64_t fence) {
    return std::holds_alternative<Renewed>(table.renew(renewal(who, fence), now, told));
  }
  bool releases(std::uint64_t who, std::uint64_t fence) {
    return std::holds_alternative<Released>(table.release(hold(who, fence), now, told));
  }
  std::vector<LockView> look(std::string_view pattern = "*") const {
    return std::get<std::vector<LockView>>(table.inspect(pattern, now));
  }

  LockTable table;
  TimePoint now{Duration(1h)};
  std::vector<Told> told;
};

TEST_F(LockTableTest, AHoldLapsesAtTheVeryNanosecondItsLeaseEnds) {
  granted(1);
  now += 30s - 1ns;
  EXPECT_EQ(refused(request(2, false)).lease_left, 1ns);
  now += 1ns;
  granted(2);
}

TEST_F(LockTableTest, AFreeLockLeavesNothingBehind) {
  EXPECT_TRUE(releases(1, granted(1)));
  EXPECT_EQ(table.size(), 0U);
  granted(2);
  table.withdraw(request(2), now, told);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_TRUE(std::holds_alternative<Gone>(table.renew(renewal(1, 1), now, told)));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LockTableTest, NamesLeftToLapseAreForgottenAsOthersCome) {
  for (int i = 0; i < 10'000; ++i) {
    GrantRequest ask_once = request(1);
    ask_once.name = name_of_lock("job " + std::to_string(i));
    granted(ask_once);
    now += 1s;
  }
  EXPECT_LT(table.size(), 100U) << "only 30 of them are held at any time";
}

TEST_F(LockTableTest, OneCounterServesAllNames) {
  const std::uint64_t first = granted(1);
  GrantRequest other = request(2);
  other.name = name_of_lock("other");
  other.spare = 10;
  const std::uint64_t second = granted(other);
  EXPECT_EQ(second, first + 1);
  other.name = name_of_lock("third");
  EXPECT_EQ(granted(other), second + 11);
}

TEST_F(LockTableTest, AHandOverTellsTheHeadAndTheSecondInThisOrder) {
  const std::uint64_t fence = granted(1);
  GrantRequest head = request(2);
  head.spare = 4;
  head.confirm_within = 700ms;
  refused(head);
  refused(3);
  refused(4);
  EXPECT_TRUE(told.empty());
  EXPECT_TRUE(releases(1, fence));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].who, owner(2));
  ASSERT_TRUE(told[0].wake.offer);
  EXPECT_EQ(told[0].wake.offer->fence, fence + 1);
  EXPECT_EQ(told[0].wake.offer->spare, 4U);
  EXPECT_EQ(told[1].who, owner(3));
  EXPECT_FALSE(told[1].wake.offer);
  EXPECT_EQ(told[1].wake.look_after, 700ms);
}

TEST_F(LockTableTest, WakesAreAddedToThoseAlreadyThere) {
  told.push_back({owner(9), {}});
  const std::uint64_t fence = granted(1);
  refused(2);
  EXPECT_TRUE(releases(1, fence));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].who, owner(9));
  EXPECT_EQ(told[1].who, owner(2));
}

TEST_F(LockTableTest, ALapsedHeadIsSkippedAndNotTold) {
  const std::uint64_t fence = granted(1);
  GrantRequest brief = request(2);
  brief.line_for = 1s;
  refused(brief);
  refused(3);
  now += 1s;
  EXPECT_TRUE(releases(1, fence));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].who, owner(3));
}

TEST_F(LockTableTest, WhoeverTouchesALapsedHoldHandsItOver) {
  const auto behind_a_lapsed_hold = [&] {
    table = LockTable();
    told.clear();
    granted(1);
    now += 15s;
    refused(2);
    now += 15s;
  };
  behind_a_lapsed_hold();
  EXPECT_FALSE(renews(1, 1));
  EXPECT_EQ(told.size(), 1U) << "by its own late renewal";
  behind_a_lapsed_hold();
  EXPECT_FALSE(releases(1, 1));
  EXPECT_EQ(told.size(), 1U) << "by its own late release";
  behind_a_lapsed_hold();
  table.withdraw(request(3), now, told);
  EXPECT_EQ(told.size(), 1U) << "by somebody who gives up";
  behind_a_lapsed_hold();
  EXPECT_TRUE(
      std::holds_alternative<ChangedHands>(table.force_release(forcing(1, true), now, told)));
  EXPECT_EQ(told.size(), 1U) << "by an operator who came too late";
  behind_a_lapsed_hold();
  refused(request(3, false));
  EXPECT_EQ(told.size(), 1U) << "by a stranger";
  behind_a_lapsed_hold();
  look();
  EXPECT_EQ(told.size(), 0U) << "but not by looking";
}

TEST_F(LockTableTest, TheHeadThatAsksItselfIsNotOfferedButGranted) {
  granted(1);
  now += 15s;
  refused(2);
  now += 15s;
  EXPECT_EQ(granted(2), 2U);
  EXPECT_TRUE(told.empty());
  EXPECT_FALSE(look()[0].holds[0].offered);
  EXPECT_EQ(look()[0].holds[0].lease_left, 30s);
}

TEST_F(LockTableTest, AConfirmedOfferHasTheLeaseOfItsConfirmation) {
  EXPECT_TRUE((granted(1), refused(2), releases(1, 1)));
  EXPECT_EQ(look()[0].holds[0].lease_left, 1s);
  EXPECT_TRUE(look()[0].holds[0].offered);
  table.renew(renewal(2, 2, 12s), now, told);
  EXPECT_EQ(look()[0].holds[0].lease_left, 12s);
  EXPECT_FALSE(look()[0].holds[0].offered);
}

TEST_F(LockTableTest, AWaitingClaimIsKeptAsItLastAsked) {
  granted(1);
  GrantRequest changed = request(2);
  refused(changed);
  changed.spare = 7;
  changed.confirm_within = 3s;
  changed.record.reason = "second thoughts";
  refused(changed);
  EXPECT_TRUE(releases(1, 1));
  EXPECT_EQ(told.at(0).wake.offer->spare, 7U);
  EXPECT_EQ(look()[0].holds[0].lease_left, 3s);
  EXPECT_EQ(look()[0].holds[0].record.reason, "second thoughts");
}

TEST_F(LockTableTest, AnImmediateAttemptGivesUpThePlaceItHad) {
  granted(1);
  refused(2);
  EXPECT_EQ(refused(request(2, false)).waiting, 0U);
  EXPECT_TRUE(look()[0].line.empty());
}

TEST_F(LockTableTest, RetryAfterAddsTheOffersAhead) {
  granted(1);
  now += 10s;
  EXPECT_EQ(refused(2).retry_after, 20s);
  EXPECT_EQ(refused(3).retry_after, 21s);
  EXPECT_EQ(refused(4).retry_after, 22s);
  EXPECT_EQ(refused(2).retry_after, 20s);
  EXPECT_EQ(refused(request(5, false)).retry_after, 23s);
}

TEST_F(LockTableTest, TimesThatDoNotFitSaturate_F133_F134) {
  GrantRequest endless = request(1);
  endless.lease = kForever;
  granted(endless);
  GrantRequest patient = request(2);
  patient.line_for = kForever;
  patient.confirm_within = kForever;
  EXPECT_EQ(refused(patient).retry_after, kForever);
  EXPECT_EQ(refused(3).retry_after, kForever);
  now += 24h * 365;
  EXPECT_TRUE(renews(1, 1));
}

TEST_F(LockTableTest, ANegativeLeaseIsOverAtOnce) {
  GrantRequest odd = request(1);
  odd.lease = -1s;
  granted(odd);
  granted(2);
}

TEST_F(LockTableTest, FencesThatRunOutAreRefusedAndNeverWrap) {
  table = LockTable(kMaxFence - 6);
  GrantRequest greedy = request(1);
  greedy.spare = 6;
  GrantReply reply = ask(greedy);
  ASSERT_TRUE(std::holds_alternative<Rejected>(reply));
  EXPECT_EQ(std::get<Rejected>(reply).why, Errc::store_full);
  EXPECT_EQ(table.size(), 0U);
  greedy.spare = ~std::uint64_t{0};
  EXPECT_TRUE(std::holds_alternative<Rejected>(ask(greedy)));
  greedy.spare = 5;
  EXPECT_EQ(granted(greedy), kMaxFence - 5);
  EXPECT_EQ(table.fence_counter(), kMaxFence);
  EXPECT_TRUE(renews(1, kMaxFence - 5)) << "what is held stays held";

  refused(2);
  EXPECT_TRUE(releases(1, kMaxFence - 5));
  EXPECT_TRUE(told.empty());
  EXPECT_TRUE(std::holds_alternative<Rejected>(ask(request(2))));
  EXPECT_TRUE(std::holds_alternative<Rejected>(ask(request(3))));
  now += 20s;
  EXPECT_TRUE(look().empty());
}

TEST_F(LockTableTest, WhatMakesNoSenseIsRejectedAndLeavesNothing) {
  const auto why = [&](const GrantRequest& what) {
    const GrantReply reply = ask(what);
    const auto* no = std::get_if<Rejected>(&reply);
    return no == nullptr ? Errc::busy : no->why;
  };
  GrantRequest odd = request(1);
  odd.kind = Kind::semaphore;
  EXPECT_EQ(why(odd), Errc::invalid_argument) << "without permits";
  odd = request(1);
  odd.shape = Shape::shared();
  EXPECT_EQ(why(odd), Errc::unsupported);
  odd = request(1);
  odd.instead_of = hold(1, 1);
  EXPECT_EQ(why(odd), Errc::unsupported);
  odd = request(1);
  odd.name = LockName();
  EXPECT_EQ(why(odd), Errc::invalid_name);
  odd = request(1);
  odd.kind = Kind::shared_mutex;
  odd.shape = Shape::permits(1, 2);
  EXPECT_EQ(why(odd), Errc::invalid_argument);
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LockTableTest, OtherVerbsOfAnotherKindDoNotTouchTheMutex) {
  const std::uint64_t fence = granted(1);
  Renewal other = renewal(1, fence);
  other.kind = Kind::semaphore;
  EXPECT_TRUE(std::holds_alternative<Gone>(table.renew(other, now, told)));
  EXPECT_TRUE(std::holds_alternative<Gone>(table.release(other, now, told)));
  table.withdraw(other, now, told);
  EXPECT_TRUE(renews(1, fence));
}

TEST_F(LockTableTest, ARevokedHolderThatAsksAgainIsNotLinedUp) {
  const std::uint64_t fence = granted(1);
  table.force_release(forcing(fence, false), now, told);
  EXPECT_EQ(refused(1).waiting, 0U);
  EXPECT_TRUE(releases(1, fence));
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LockTableTest, LocksAreShownInTheOrderOfTheirNames) {
  for (const char* name : {"b", "c", "a"}) {
    GrantRequest each = request(1);
    each.name = name_of_lock(name);
    granted(each);
  }
  const auto seen = look();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].name.bytes(), "a");
  EXPECT_EQ(seen[2].name.bytes(), "c");
}

// A walk of random verbs. The test keeps, for each owner, the time until which it has been promised
// the lock, and believes nothing else.
class RandomWalk {
 public:
  explicit RandomWalk(std::uint64_t seed) : random_(seed) {}

  void step() {
    now_ += Duration(below(400)) * 1'000'000;
    const std::uint64_t who = 1 + below(5);
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        return ask(who);
      case 3:
        return renew(who);
      case 4:
        return release(who);
      case 5:
        return withdraw(who);
      case 6:
        return force();
      default:
        return look();
    }
  }

  void end() {
    now_ += 10s;
    EXPECT_TRUE(seen().empty());
  }

 private:
  struct Promise {
    std::uint64_t fence = 0;
    TimePoint until{};
  };

  std::uint64_t below(std::uint64_t bound) {  // splitmix64
    std::uint64_t z = (random_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31U)) % bound;
  }
  std::vector<LockView> seen() const {
    return std::get<std::vector<LockView>>(table_.inspect("*", now_));
  }
  HoldKey key(std::uint64_t who) {
    HoldKey made;
    made.name = name_of_lock("lock");
    made.owner = owner(who);
    made.fence = promises_[made.owner].fence;
    return made;
  }
  // A lock that is given to somebody is promised to nobody else, and the fence is a new one.
  void given(const OwnerId& to, std::uint64_t fence, std::uint64_t spare, Duration lease) {
    for (const auto& [other, promise] : promises_) {
      EXPECT_TRUE(other == to || promise.until <= now_) << "two holders";
    }
    Promise& mine = promises_[to];
    if (mine.until <= now_) {
      EXPECT_GT(fence, newest_) << "an old fence";
      newest_ = fence + spare;
    } else {
      EXPECT_EQ(fence, mine.fence) << "the same owner, another fence";
    }
    mine = {fence, later(now_, lease)};
  }
  void hear() {
    for (const Told& each : told_) {
      if (each.wake.offer) given(each.who, each.wake.offer->fence, each.wake.offer->spare, 300ms);
    }
    told_.clear();
  }

  void ask(std::uint64_t who) {
    GrantRequest request;
    static_cast<ClaimKey&>(request) = key(who);
    request.lease = 1s;
    request.spare = below(3);
    request.line_up = below(3) != 0;
    request.line_for = 700ms;
    request.confirm_within = 300ms;
    const GrantReply reply = table_.try_grant(request, now_, told_);
    hear();
    if (const auto* yes = std::get_if<Granted>(&reply)) {
      given(request.owner, yes->fence, yes->spare, 1s);
    } else {
      const auto& no = std::get<Refused>(reply);
      EXPECT_GT(no.lease_left, 0s) << "refused, though nobody holds it";
      EXPECT_GE(no.retry_after, no.lease_left);
      EXPECT_EQ(no.fence_counter, newest_);
    }
  }
  void renew(std::uint64_t who) {
    Renewal renewal;
    static_cast<HoldKey&>(renewal) = key(who);
    renewal.lease = 1s;
    const RenewalReply reply = table_.renew(renewal, now_, told_);
    Promise& mine = promises_[renewal.owner];
    if (std::holds_alternative<Renewed>(reply)) {
      EXPECT_GT(mine.until, now_) << "renewed what had lapsed";
      mine.until = now_ + 1s;
    } else {
      const bool forced = std::get<Gone>(reply).forced;
      EXPECT_EQ(mine.until > now_, forced) << "gone, though it was promised";
    }
    hear();
  }
  void release(std::uint64_t who) {
    const HoldKey mine = key(who);
    const ReleaseReply reply = table_.release(mine, now_, told_);
    EXPECT_EQ(std::holds_alternative<Released>(reply), promises_[mine.owner].until > now_);
    promises_[mine.owner].until = now_;
    hear();
  }
  void withdraw(std::uint64_t who) {
    const HoldKey mine = key(who);
    table_.withdraw(mine, now_, told_);
    promises_[mine.owner].until = now_;
    hear();
    for (const LockView& lock : seen()) {
      for (const ClaimView& hold : lock.holds) EXPECT_NE(hold.owner, mine.owner);
      for (const ClaimView& waiting : lock.line) EXPECT_NE(waiting.owner, mine.owner);
    }
  }
  void force() {
    const std::vector<LockView> locks = seen();
    if (locks.empty() || locks[0].holds.empty()) return;
    ForceRequest request;
    request.name = locks[0].name;
    request.fence = locks[0].holds[0].fence;
    request.now = below(2) == 0;
    EXPECT_TRUE(std::holds_alternative<Forced>(table_.force_release(request, now_, told_)));
    if (request.now) promises_[locks[0].holds[0].owner].until = now_;
    hear();
  }
  void look() {
    for (const LockView& lock : seen()) {
      EXPECT_LE(lock.holds.size(), 1U);
      for (const ClaimView& hold : lock.holds) {
        for (const ClaimView& waiting : lock.line) EXPECT_NE(waiting.owner, hold.owner);
        EXPECT_EQ(promises_[hold.owner].fence, hold.fence);
        EXPECT_EQ(promises_[hold.owner].until, now_ + hold.lease_left);
      }
    }
  }

  std::uint64_t random_;
  LockTable table_;
  TimePoint now_{Duration(1h)};
  std::vector<Told> told_;
  std::map<OwnerId, Promise> promises_;
  std::uint64_t newest_ = 0;
};

TEST(LockTableWalk, NeverPromisesTheLockToTwo) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWalk walk(seed);
    for (int i = 0; i < 200; ++i) walk.step();
    walk.end();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Glob, ComparesTheWholeName) {
  EXPECT_TRUE(rules::glob_matches("", ""));
  EXPECT_TRUE(rules::glob_matches("*", ""));
  EXPECT_TRUE(rules::glob_matches("a*c", "abbbc"));
  EXPECT_TRUE(rules::glob_matches("a*c", "acbc"));
  EXPECT_TRUE(rules::glob_matches("*?*", "x"));
  EXPECT_TRUE(rules::glob_matches("a\\*b", "a*b"));
  EXPECT_FALSE(rules::glob_matches("a\\*b", "axb"));
  EXPECT_TRUE(rules::glob_matches("\\\\", "\\"));
  EXPECT_TRUE(rules::glob_matches("**a", "*a"));
  EXPECT_TRUE(rules::glob_matches("*", "* and **"));
  EXPECT_FALSE(rules::glob_matches("?", ""));
  EXPECT_FALSE(rules::glob_matches("a*c", "acb"));
  EXPECT_FALSE(rules::glob_matches("a", "ab"));
  EXPECT_FALSE(rules::glob_matches("ab", "a"));
}

TEST(Glob, TakesNoLongerForAWickedPattern) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(rules::glob_matches(pattern + "b", std::string(512, 'a')));
}

}  // namespace
}  // namespace holdfast::store
