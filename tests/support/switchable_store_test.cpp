#include "support/switchable_store.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "support/answer.hpp"
#include "support/manual_clock.hpp"
#include "support/wake_box.hpp"

namespace holdfast::test {
namespace {

using namespace store;
using namespace std::chrono_literals;

class SwitchableStoreTest : public testing::Test {
 protected:
  ~SwitchableStoreTest() override { store.close(); }

  GrantRequest request(std::uint64_t claim) const {
    GrantRequest ask;
    ask.name = LockName::checked("lock").value();
    ask.owner = {{1, 1}, claim};
    ask.lease = 30s;
    ask.line_up = true;
    ask.line_for = 20s;
    ask.confirm_within = 1s;
    return ask;
  }
  HoldKey hold(std::uint64_t claim, std::uint64_t fence) const {
    HoldKey key;
    static_cast<ClaimKey&>(key) = request(claim);
    key.fence = fence;
    return key;
  }
  bool is_held() {
    Answer<InspectReply> answer;
    direct.inspect("*", answer.call());
    return !answer.get<std::vector<LockView>>()->empty();
  }

  ManualClock clock;
  std::shared_ptr<MemoryServer> server = std::make_shared<MemoryServer>();
  MemoryStore direct{server, clock};
  SwitchableStore store{std::make_unique<MemoryStore>(server, clock)};
};

TEST_F(SwitchableStoreTest, PassesEverythingOnWhileTheLinkIsUp) {
  Answer<GrantReply> answer;
  store.try_grant(request(1), answer.call());
  EXPECT_NE(answer.get<Granted>(), nullptr);
  EXPECT_TRUE(is_held());
}

TEST_F(SwitchableStoreTest, ALinkThatIsDownExecutesNothing) {
  store.set(Link::down);
  Answer<GrantReply> answer;
  store.try_grant(request(1), answer.call());
  ASSERT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_FALSE(answer.get<NoAnswer>()->executed);
  EXPECT_FALSE(is_held());
}

TEST_F(SwitchableStoreTest, ADeafLinkExecutesAndLosesTheReply) {
  store.set(Link::deaf);
  Answer<GrantReply> answer;
  store.try_grant(request(1), answer.call());
  ASSERT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_TRUE(answer.get<NoAnswer>()->executed);
  EXPECT_TRUE(is_held());
}

TEST_F(SwitchableStoreTest, APausedLinkExecutesWhenItIsLetGo) {
  store.set(Link::paused);
  Answer<GrantReply> first;
  Answer<GrantReply> second;
  store.try_grant(request(1), first.call());
  store.try_grant(request(2), second.call());
  EXPECT_FALSE(first.there());
  EXPECT_FALSE(is_held());
  EXPECT_EQ(store.kept(), 2U);
  EXPECT_EQ(store.let_one_go(), 1U);
  EXPECT_NE(first.get<Granted>(), nullptr);
  EXPECT_FALSE(second.there());
  EXPECT_EQ(store.let_go(), 1U);
  EXPECT_NE(second.get<Refused>(), nullptr);
}

TEST_F(SwitchableStoreTest, ALateLinkExecutesAtOnceAndAnswersWhenItIsLetGo) {
  store.set(Link::late);
  Answer<GrantReply> answer;
  store.try_grant(request(1), answer.call());
  EXPECT_TRUE(is_held());
  EXPECT_FALSE(answer.there());
  EXPECT_EQ(store.let_go(), 1U);
  EXPECT_NE(answer.get<Granted>(), nullptr);
}

TEST_F(SwitchableStoreTest, ClosingAnswersWhatIsKept) {
  store.set(Link::paused);
  Answer<GrantReply> question;
  store.try_grant(request(1), question.call());
  store.set(Link::late);
  Answer<GrantReply> reply;
  store.try_grant(request(1), reply.call());
  store.close();
  EXPECT_NE(question.get<NoAnswer>(), nullptr);
  EXPECT_NE(reply.get<NoAnswer>(), nullptr);
}

TEST_F(SwitchableStoreTest, WakesPassOnlyOverAGoodLink) {
  WakeBox wakes;
  const WatchPtr watch = store.watch(request(2), wakes.fn());
  const auto hand_over = [&] {
    Answer<GrantReply> holder;
    direct.try_grant(request(1), holder.call());
    Answer<GrantReply> waiter;
    direct.try_grant(request(2), waiter.call());
    Answer<ReleaseReply> released;
    direct.release(hold(1, holder.get<Granted>()->fence), released.call());
    Answer<WithdrawReply> withdrawn;
    direct.withdraw(request(2), withdrawn.call());
  };
  hand_over();
  EXPECT_TRUE(wakes.take_offer());
  store.set(Link::down);
  hand_over();
  EXPECT_FALSE(wakes.take());
}

TEST_F(SwitchableStoreTest, CountsVerbsAndTheRenewalsOfEachHold) {
  Answer<GrantReply> granted;
  store.try_grant(request(1), granted.call());
  Renewal one;
  static_cast<HoldKey&>(one) = hold(1, granted.get<Granted>()->fence);
  one.lease = 30s;
  Renewal two = one;
  two.owner.claim = 2;
  Answer<RenewReply> first;
  store.renew(std::vector{one, two}, first.call());
  store.set(Link::down);
  Answer<RenewReply> second;
  store.renew(std::vector{one}, second.call());
  EXPECT_EQ(store.counts().renew, 2U);
  EXPECT_EQ(store.counts().all(), 3U);
  EXPECT_EQ(store.renewals(one), 2U);
  EXPECT_EQ(store.renewals(two), 1U);
  EXPECT_EQ(store.renewals(hold(3, 3)), 0U);
}

}  // namespace
}  // namespace holdfast::test
