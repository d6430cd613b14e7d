#include "torture/witness_store.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/answer.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;
using namespace store;

constexpr Duration kAnswerWithin = 20s;
constexpr Duration kLease = 90s;

// Answers at once what it was told to.
class ToldStore final : public Store {
 public:
  GrantReply grant;
  RenewalReply renewal;
  WakeFn wake;

  Capabilities capabilities() const override { return {}; }
  void try_grant(const GrantRequest&, Call<GrantReply> call) override { call.answer(grant); }
  void renew(std::span<const Renewal> asked, Call<RenewReply> call) override {
    call.answer(std::vector<RenewalReply>(asked.size(), renewal));
  }
  void release(const HoldKey&, Call<ReleaseReply> call) override { call.answer(Released{}); }
  void withdraw(const ClaimKey&, Call<WithdrawReply> call) override { call.answer(Withdrawn{}); }
  WatchPtr watch(const ClaimKey&, WakeFn told) override {
    wake = std::move(told);
    return nullptr;
  }
  void inspect(std::string_view, Call<InspectReply>) override {}
  void force_release(const ForceRequest&, Call<ForceReply>) override {}
  void close() override {}
};

class TortureWitness : public testing::Test {
 protected:
  TortureWitness() {
    auto told = std::make_unique<ToldStore>();
    told_ = told.get();
    witness_.emplace(std::move(told), seen_);
  }

  static GrantRequest request() {
    GrantRequest ask;
    ask.name = LockName::checked("orders").value();
    ask.owner = {{1, 2}, 3};
    ask.lease = kLease;
    ask.line_up = true;
    ask.confirm_within = 30s;
    return ask;
  }
  static TimePoint now() { return runtime::BootClock().now(); }

  // As if the engine had decided to ask at that time.
  void ask(TimePoint sent, GrantReply reply) {
    told_->grant = std::move(reply);
    Answer<GrantReply> answer;
    witness_->try_grant(request(), answer.call(sent + kAnswerWithin));
    EXPECT_TRUE(answer.there());
  }
  void renew(TimePoint sent, Duration within, std::uint64_t fence, RenewalReply reply,
             Duration lease = kLease) {
    told_->renewal = reply;
    Renewal asked;
    static_cast<ClaimKey&>(asked) = request();
    asked.fence = fence;
    asked.lease = lease;
    Answer<RenewReply> answer;
    witness_->renew({&asked, 1}, answer.call(sent + within));
    EXPECT_TRUE(answer.there());
  }
  check::Acquire filled_in(std::uint64_t fence) const {
    check::Acquire acquire{.owner = 3, .fence = fence};
    seen_->fill_in(acquire);
    return acquire;
  }
  check::History history() const {
    check::History read;
    std::ifstream file(path());
    EXPECT_EQ(check::read(file, read), "");
    return read;
  }
  std::string path() const { return folder_ / "history"; }

  template <class Reply>
  using Answer = test::Answer<Reply>;

  test::TempFolder folder_;
  Log log_{path()};
  std::shared_ptr<Sightings> seen_ = std::make_shared<Sightings>(log_, 1001, kAnswerWithin);
  ToldStore* told_ = nullptr;
  std::optional<WitnessStore> witness_;
};

Time count(TimePoint time) { return time.time_since_epoch().count(); }

TEST_F(TortureWitness, KnowsAGrantAndItsHandOffs) {
  const TimePoint sent = now();
  ask(sent, Granted{.fence = 40, .spare = 16, .lease = kLease});
  const check::Acquire grant = filled_in(40), hand_off = filled_in(43);
  EXPECT_EQ(grant.grant_fence, 40U);
  EXPECT_EQ(grant.sent, count(sent)) << "when the engine says, not when it passed here";
  EXPECT_EQ(grant.lease_ns, Duration(kLease).count());
  EXPECT_EQ(hand_off.grant_fence, 40U);
  EXPECT_EQ(hand_off.spare, 16U);
  EXPECT_EQ(hand_off.sent, kNever);
}

TEST_F(TortureWitness, KnowsAnOfferThatWasConfirmed) {
  ask(now(), Refused{});
  static_cast<void>(witness_->watch(request(), [](const Wake&) {}));
  told_->wake(Wake{.offer = Wake::Offer{.fence = 50, .spare = 16}});
  const TimePoint sent = now();
  renew(sent, kAnswerWithin, 50, Renewed{kLease});
  const check::Acquire acquire = filled_in(50);
  EXPECT_EQ(acquire.spare, 16U);
  EXPECT_EQ(acquire.sent, count(sent));
  EXPECT_NE(acquire.lined_up, kNever);
  EXPECT_FALSE(acquire.lost_place);
  ASSERT_EQ(history().renewals.size(), 1U);
  EXPECT_TRUE(history().renewals.front().confirming);
}

TEST_F(TortureWitness, WritesDownRenewalsOfAHold) {
  ask(now(), Granted{.fence = 40, .lease = kLease});
  const TimePoint sent = now();
  renew(sent, kLease / 6, 40, Renewed{kLease});
  renew(sent, kLease / 6, 40, Gone{});
  renew(sent - kLease, kLease / 6, 40, Renewed{kLease});
  const auto renewals = history().renewals;
  ASSERT_EQ(renewals.size(), 3U);
  EXPECT_FALSE(renewals[0].confirming);
  EXPECT_EQ(renewals[0].sent, count(sent));
  EXPECT_EQ(renewals[0].outcome, check::Renewed::renewed);
  EXPECT_EQ(renewals[1].outcome, check::Renewed::gone);
  EXPECT_EQ(renewals[2].outcome, check::Renewed::no_answer) << "the engine had given it up";
}

TEST_F(TortureWitness, KnowsWhenTheLastRenewalBeforeMaxHoldWasSent) {
  ask(now(), Granted{.fence = 40, .lease = kLease});
  const TimePoint sent = now();
  renew(sent, kLease / 6, 40, Renewed{kLease / 2}, kLease / 2);
  renew(sent, kLease / 12, 40, Renewed{kLease / 3}, kLease / 3);
  const auto renewals = history().renewals;
  ASSERT_EQ(renewals.size(), 2U);
  EXPECT_EQ(renewals[0].sent, count(sent)) << "by the lease that it had, not by what it asked for";
  EXPECT_EQ(renewals[1].sent, count(sent));
}

TEST_F(TortureWitness, WritesDownAReleaseBeforeTheStoreHearsOfIt) {
  HoldKey key{request(), 40};
  Answer<ReleaseReply> answer;
  witness_->release(key, answer.call(now() + kAnswerWithin));
  ASSERT_EQ(history().releases.size(), 1U);
  EXPECT_EQ(history().releases.front().grant_fence, 40U);
}

TEST_F(TortureWitness, APlaceInLineIsKeptByAskingInTime) {
  ask(now(), Refused{.ahead = 2});
  ask(now(), Refused{.ahead = 1});
  ask(now(), Granted{.fence = 40, .lease = kLease});
  EXPECT_FALSE(filled_in(40).lost_place);
}

TEST_F(TortureWitness, APlaceInLineMayBeLostBySilence) {
  ask(now() - 40s, Refused{});
  ask(now(), Granted{.fence = 40, .lease = kLease});
  EXPECT_TRUE(filled_in(40).lost_place);
}

// Its next question may have been put at the end of the line, and its answer lost.
TEST_F(TortureWitness, APlaceInLineMayBeLostBySilenceBeforeAnOffer) {
  ask(now() - 40s, Refused{});
  static_cast<void>(witness_->watch(request(), [](const Wake&) {}));
  ask(now(), NoAnswer{});
  told_->wake(Wake{.offer = Wake::Offer{.fence = 50}});
  renew(now(), kAnswerWithin, 50, Renewed{kLease});
  EXPECT_TRUE(filled_in(50).lost_place);
}

TEST_F(TortureWitness, APlaceInLineWasLostIfMoreAreAhead) {
  ask(now(), Refused{.ahead = 1});
  ask(now(), Refused{.ahead = 2});
  ask(now(), Granted{.fence = 40, .lease = kLease});
  EXPECT_TRUE(filled_in(40).lost_place);
}

TEST_F(TortureWitness, APlaceInLineWasLostIfTheOfferIsGone) {
  ask(now(), Refused{});
  static_cast<void>(witness_->watch(request(), [](const Wake&) {}));
  told_->wake(Wake{.offer = Wake::Offer{.fence = 50}});
  renew(now(), kAnswerWithin, 50, Gone{});
  ask(now(), Granted{.fence = 60, .lease = kLease});
  EXPECT_TRUE(filled_in(60).lost_place);
}

}  // namespace
}  // namespace holdfast::torture
