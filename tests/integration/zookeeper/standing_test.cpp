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
// What is left of a session that the leader heard of at that time, or answered at that time.
TimePoint heard(Duration since) { return at(since) + kTimeout - kAllowance; }
TimePoint answered(Duration since) { return at(since) + kTimeout / 2 - kAllowance; }

class ZooKeeperStanding : public testing::Test {
 protected:
  ZooKeeperStanding() { standing.opened(at(0s), kTimeout); }
  // Questions and answers that take 10 ms.
  void ping(Duration sent) { standing.answered(at(sent), at(sent + 10ms)); }
  void sync(Duration sent) { standing.leader_answered(at(sent), at(sent + 10ms)); }

  Standing standing;
};

TEST(ZooKeeperNoStanding, IsNotValid) {
  Standing standing;
  EXPECT_EQ(standing.valid_until(), TimePoint::min());
  standing.answered(at(0s), at(1s));
  standing.leader_answered(at(5s), at(6s));
  EXPECT_EQ(standing.valid_until(), TimePoint::min()) << "before any connection";
}

TEST_F(ZooKeeperStanding, BeginsWithTheSendingOfTheHello) {
  EXPECT_EQ(standing.valid_until(), answered(0s));
}

TEST_F(ZooKeeperStanding, PingsProveNothing_F081) {
  for (int i = 1; i < 30; ++i) ping(i * 1s);
  EXPECT_EQ(standing.valid_until(), answered(0s));
}

TEST_F(ZooKeeperStanding, GoesOnAsLongAsTheLeaderAnswers) {
  for (int i = 1; i <= 50; ++i) {
    sync(i * 2s);
    EXPECT_GE(standing.valid_until(), at(i * 2s) + kTimeout / 3) << i;
  }
}

// It answers, but all that it has heard of us for certain is the hello: each answer may be the last thing
// before the end.
TEST_F(ZooKeeperStanding, ALeaderThatAnswersAndMayHaveHadNoReport) {
  for (const Duration sent : {7s, 8s, 9s, 10s}) {
    sync(sent);
    EXPECT_EQ(standing.valid_until(), heard(0s));
  }
  sync(10249ms);
  EXPECT_EQ(standing.valid_until(), heard(0s));
  sync(10250ms);
  EXPECT_EQ(standing.valid_until(), answered(10250ms)) << "the report about 7 s was before it";
}

// A client that was stopped from 1 s to 11 s, and finds an answer in its socket when it wakes.
TEST_F(ZooKeeperStanding, APauseOfTheClient) {
  standing.answered(at(1s), at(11s));
  sync(11s + 1ms);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "the leader has heard of the hello and no more";
  sync(11s + 3239ms);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "which is over";
  sync(11s + 3240ms);
  EXPECT_EQ(standing.valid_until(), heard(1s)) << "the ping from before the pause was reported";
  sync(11s + 3260ms);
  EXPECT_EQ(standing.valid_until(), answered(11s + 3260ms)) << "and now the one from after it";
}

TEST_F(ZooKeeperStanding, ABrokenConnectionTakesItsContactsAlong) {
  ping(1s);
  standing.broke();
  EXPECT_EQ(standing.valid_until(), answered(0s)) << "what was known is still known";
  sync(7s);
  EXPECT_EQ(standing.valid_until(), heard(0s)) << "the ping went another way";
  standing.opened(at(8s), kTimeout);
  EXPECT_EQ(standing.valid_until(), answered(8s));
  sync(13s);
  EXPECT_EQ(standing.valid_until(), answered(13s));
  sync(19s);
  EXPECT_EQ(standing.valid_until(), heard(13s));
}

TEST_F(ZooKeeperStanding, AnotherSessionKnowsNothingOfTheLast_F080) {
  sync(4s);
  standing.end();
  EXPECT_EQ(standing.valid_until(), TimePoint::min());
  standing.opened(at(2s), 6s);
  EXPECT_EQ(standing.valid_until(), at(2s) + 3s - 62ms);
  EXPECT_EQ(standing.timeout(), 6s);
}

TEST_F(ZooKeeperStanding, DoesNotCountEveryAnswer) {
  for (int i = 0; i < 100'000; ++i) ping(i * 1ms);
  sync(100s);
  EXPECT_EQ(standing.valid_until(), answered(100s)) << "what counts is known";
}

// The rule as it stands in the header, with all that was ever said.
class Ledger {
 public:
  explicit Ledger(Duration report_time) : report_time_(report_time) {}

  void opened(TimePoint sent) {
    contacts_.clear();
    heard_ = sent;
    answer_ = sent;
  }
  void answered(TimePoint sent, TimePoint now) { contacts_.push_back({sent, now}); }
  void leader_answered(TimePoint sent, TimePoint now) {
    answer_ = sent;
    for (const auto& [earlier, its_answer] : contacts_) {
      if (its_answer + report_time_ <= sent) heard_ = std::max(heard_, earlier);
    }
    answered(sent, now);
  }
  TimePoint valid_until() const {
    return std::min(heard_ + kTimeout, answer_ + kTimeout / 2) - kAllowance;
  }

 private:
  const Duration report_time_;
  std::vector<std::pair<TimePoint, TimePoint>> contacts_;
  TimePoint heard_{};
  TimePoint answer_{};
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
      const std::uint64_t what = event == 0 ? 0 : random.below(100);
      if (what == 0) {
        standing.broke();
        standing.opened(sent, kTimeout);
        for (Ledger* each : {&most, &least}) each->opened(sent);
      } else if (what < 60) {
        standing.answered(sent, now);
        for (Ledger* each : {&most, &least}) each->answered(sent, now);
      } else {
        standing.leader_answered(sent, now);
        for (Ledger* each : {&most, &least}) each->leader_answered(sent, now);
      }
      ASSERT_LE(standing.valid_until(), most.valid_until()) << run << " " << event;
      ASSERT_GE(standing.valid_until() + kTimeout / 50, least.valid_until()) << run << " " << event;
    }
  }
}

}  // namespace
}  // namespace holdfast::store::zookeeper
