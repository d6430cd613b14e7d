// Until when a session is known to live. The times are those of a session of 12 s: reports every 3 s at the
// most, which is taken for 3.24 s.
#include "store/zookeeper/standing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/seeded_random.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTimeout = 12s;
constexpr Duration kAllowance = 120ms + 2ms;

TimePoint at(Duration since) { return TimePoint(1h) + since; }
// What is left of a session that the leader heard of at that time, or of what was agreed to at that time.
TimePoint heard(Duration since) { return at(since) + kTimeout - kAllowance; }
TimePoint agreed(Duration since) { return at(since) + kTimeout / 2 - kAllowance; }

class ZooKeeperStanding : public testing::Test {
 protected:
  ZooKeeperStanding() { standing.begins(at(0s), kTimeout); }
  // Questions and answers that take 10 ms.
  void ping(Duration sent) { standing.answered(at(sent), at(sent + 10ms)); }
  void agree(Duration sent) { standing.agreed(at(sent), at(sent + 10ms)); }

  Standing standing;
};

TEST(ZooKeeperNoStanding, IsNotValid) {
  Standing standing;
  EXPECT_EQ(standing.valid_until(), TimePoint::min());
  standing.answered(at(0s), at(1s));
  standing.agreed(at(5s), at(6s));
  EXPECT_EQ(standing.valid_until(), TimePoint::min()) << "before any connection";
}

TEST_F(ZooKeeperStanding, BeginsWithTheSendingOfTheHello) {
  EXPECT_EQ(standing.valid_until(), agreed(0s));
}

TEST_F(ZooKeeperStanding, PingsProveNothing_F081) {
  for (int i = 1; i < 30; ++i) ping(i * 1s);
  EXPECT_EQ(standing.valid_until(), agreed(0s));
}

TEST_F(ZooKeeperStanding, GoesOnAsLongAsAMajorityAgrees) {
  for (int i = 1; i <= 50; ++i) {
    agree(i * 2s);
    EXPECT_GE(standing.valid_until(), at(i * 2s) + kTimeout / 3) << i;
  }
}

// There is a leader, but all that it has heard of us for certain is the hello: each answer may be the last thing
// before the end.
TEST_F(ZooKeeperStanding, ALeaderThatAnswersAndMayHaveHadNoReport) {
  for (const Duration sent : {7s, 8s, 9s, 10s}) {
    agree(sent);
    EXPECT_EQ(standing.valid_until(), heard(0s));
  }
  agree(10249ms);
  EXPECT_EQ(standing.valid_until(), heard(0s));
  agree(10250ms);
  EXPECT_EQ(standing.valid_until(), agreed(10250ms)) << "the report about 7 s was before it";
}

// A client that was stopped from 1 s to 11 s, and finds an answer in its socket when it wakes.
TEST_F(ZooKeeperStanding, APauseOfTheClient) {
  standing.answered(at(1s), at(11s));
  agree(11s + 1ms);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "the leader has heard of the hello and no more";
  agree(11s + 3239ms);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "which is over";
  agree(11s + 3240ms);
  EXPECT_EQ(standing.valid_until(), heard(1s)) << "the ping from before the pause was reported";
  agree(11s + 3260ms);
  EXPECT_EQ(standing.valid_until(), agreed(11s + 3260ms)) << "and now the one from after it";
}

TEST_F(ZooKeeperStanding, ABrokenConnectionTakesItsContactsAlong) {
  ping(1s);
  standing.broke();
  EXPECT_EQ(standing.valid_until(), agreed(0s)) << "what was known is still known";
  agree(7s);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "the ping went another way";
  standing.goes_on(at(8s), kTimeout);
  agree(13s);
  EXPECT_EQ(standing.valid_until(), agreed(13s));
  agree(19s);
  EXPECT_EQ(standing.valid_until(), heard(13s));
}

// A leader that was deposed takes in whom it knows, and answers.
TEST_F(ZooKeeperStanding, ASessionThatGoesOnIsNoProofUntilSomethingIsAgreedTo_F081_F089) {
  standing.broke();
  standing.goes_on(at(4s), kTimeout);
  for (int i = 5; i < 30; ++i) ping(i * 1s);
  EXPECT_EQ(standing.valid_until(), agreed(0s));
  standing.broke();
  agree(7s);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "the hello went another way";
  standing.goes_on(at(8s), kTimeout);
  agree(9s);
  EXPECT_EQ(standing.valid_until(), agreed(9s)) << "it is the leader that heard the hello";
  agree(15s);
  EXPECT_EQ(standing.valid_until(), heard(9s));
}

// A new leader, or a server that was started again, counts the timeout that the session began with.
TEST_F(ZooKeeperStanding, ATimeoutThatGrewIsNotCountedOn_F081_F089) {
  standing.broke();
  standing.goes_on(at(1s), kTimeout * 2);
  EXPECT_EQ(standing.valid_until(), agreed(0s));
  agree(2s);
  EXPECT_EQ(standing.valid_until(), agreed(2s));
}

TEST_F(ZooKeeperStanding, OfTwoTimeoutsTheSmallerOneCounts) {
  agree(2s);
  standing.broke();
  standing.goes_on(at(3s), 6s);
  EXPECT_EQ(standing.valid_until(), at(2s) + 3s - 62ms) << "the leader may have heard of it";
  agree(4s);
  EXPECT_EQ(standing.valid_until(), at(4s) + 3s - 62ms);
}

TEST_F(ZooKeeperStanding, AnotherSessionKnowsNothingOfTheLast_F080) {
  agree(4s);
  standing.end();
  EXPECT_EQ(standing.valid_until(), TimePoint::min());
  standing.begins(at(2s), 6s);
  EXPECT_EQ(standing.valid_until(), at(2s) + 3s - 62ms);
}

TEST_F(ZooKeeperStanding, DoesNotCountEveryAnswer) {
  for (int i = 0; i < 100'000; ++i) ping(i * 1ms);
  agree(100s);
  EXPECT_EQ(standing.valid_until(), agreed(100s)) << "what counts is known";
}

// The rule as it stands in the header, with all that was ever said.
class Ledger {
 public:
  explicit Ledger(Duration report_time) : report_time_(report_time) {}

  void begins(TimePoint sent) { heard_ = agreed_ = sent; }
  void goes_on(TimePoint sent) {
    contacts_.clear();
    hello_ = sent;
  }
  void answered(TimePoint sent, TimePoint now) { contacts_.push_back({sent, now}); }
  void agreed(TimePoint sent, TimePoint now) {
    agreed_ = sent;
    heard_ = std::max(heard_, hello_);
    for (const auto& [earlier, its_answer] : contacts_) {
      if (its_answer + report_time_ <= sent) heard_ = std::max(heard_, earlier);
    }
    answered(sent, now);
  }
  TimePoint valid_until() const {
    return std::min(heard_ + kTimeout, agreed_ + kTimeout / 2) - kAllowance;
  }

 private:
  const Duration report_time_;
  std::vector<std::pair<TimePoint, TimePoint>> contacts_;
  TimePoint heard_{};
  TimePoint agreed_{};
  TimePoint hello_{};
};

TEST(ZooKeeperStandings, SayNoMoreThanTheRuleAndHardlyLess) {
  test::SeededRandom random(7);
  const auto up_to = [&](Duration most) {
    return Duration(
        static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(most.count()))));
  };
  for (int run = 0; run < 200; ++run) {
    Standing standing;
    Ledger most(kTimeout / 4);
    Ledger least(kTimeout / 4 + kTimeout / 50);
    TimePoint now = at(0s);
    const Duration pause = kTimeout / static_cast<Duration::rep>(1 + random.below(400));
    const Duration trip = kTimeout / static_cast<Duration::rep>(4 + random.below(400));
    for (int event = 0; event < 400; ++event) {
      now += up_to(pause);
      const TimePoint sent = now;
      now += up_to(trip);
      const std::uint64_t what = random.below(100);
      if (event == 0) {
        standing.begins(sent, kTimeout);
        for (Ledger* each : {&most, &least}) each->begins(sent);
      } else if (what == 0) {
        standing.broke();
        standing.goes_on(sent, kTimeout);
        for (Ledger* each : {&most, &least}) each->goes_on(sent);
      } else if (what < 60) {
        standing.answered(sent, now);
        for (Ledger* each : {&most, &least}) each->answered(sent, now);
      } else {
        standing.agreed(sent, now);
        for (Ledger* each : {&most, &least}) each->agreed(sent, now);
      }
      ASSERT_LE(standing.valid_until(), most.valid_until()) << run << " " << event;
      ASSERT_GE(standing.valid_until() + kTimeout / 50, least.valid_until()) << run << " " << event;
    }
  }
}

}  // namespace
}  // namespace holdfast::store::zookeeper
