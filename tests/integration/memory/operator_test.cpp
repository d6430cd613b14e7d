// What Client offers to the people who operate a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "holdfast/holdfast.hpp"
#include "store/memory/memory_store.hpp"
#include "support/forked_child.hpp"
#include "support/forwarding_store.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Operator : public testing::Test {
 protected:
  Client client_ = connect("memory:operator").value();
  Client other_ = connect("memory:operator").value();
};

TEST_F(Operator, SeesNothingOfFreeLocks) {
  const auto locks = client_.inspect();
  ASSERT_TRUE(locks);
  EXPECT_TRUE(locks->empty());
}

TEST_F(Operator, SeesWhoHoldsAndWhoWaits) {
  const Hold hold = client_.mutex("orders/42").acquire({.reason = "nightly"}).value();
  const Hold unrelated = client_.mutex("users").acquire().value();
  auto waiting = other_.mutex("orders/42").async_acquire();
  const auto locks = client_.inspect("orders/*").value();
  ASSERT_EQ(locks.size(), 1U);
  const LockInfo& lock = locks[0];
  EXPECT_EQ(lock.name, "orders/42");
  EXPECT_EQ(lock.mode, "exclusive");
  ASSERT_EQ(lock.holders.size(), 1U);
  EXPECT_EQ(lock.holders[0].fence, hold.fence());
  EXPECT_EQ(lock.holders[0].record.reason, "nightly");
  EXPECT_EQ(lock.holders[0].record.pid, getpid());
  EXPECT_EQ(lock.holders[0].record.owner, hold.owner());
  EXPECT_GT(lock.holders[0].lease_left, 20s);
  EXPECT_LE(lock.holders[0].lease_left, 30s);
  ASSERT_EQ(lock.line.size(), 1U);
  EXPECT_EQ(lock.line[0].fence, FencingToken());
}

TEST_F(Operator, MayRevokeALock) {
  Hold hold = client_.mutex("lock").acquire({.lease = 300ms}).value();
  ASSERT_TRUE(other_.force_release("lock", {.fence = hold.fence()}));
  EXPECT_TRUE(other_.inspect().value()[0].holders[0].revoked);
  EXPECT_TRUE(other_.mutex("lock").acquire({.wait = 5s}))
      << "its holder was told, or its lease ended";
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(eventually([&] { return hold.lost().stop_requested(); })) << "as soon as it can";
}

TEST_F(Operator, MayFreeALockAtOnce) {
  const Hold hold = client_.mutex("lock").acquire().value();
  ASSERT_TRUE(other_.force_release("lock", {.fence = hold.fence(), .now = true}));
  EXPECT_TRUE(other_.mutex("lock").try_acquire());
}

TEST_F(Operator, CannotTakeAwayWhatHasChangedHands_F145) {
  Hold before = client_.mutex("lock").acquire().value();
  const FencingToken seen = before.fence();
  ASSERT_TRUE(before.release());
  const Hold now = client_.mutex("lock").acquire().value();
  const auto done = other_.force_release("lock", {.fence = seen, .now = true});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), Errc::not_owner);
  EXPECT_THAT(done.error().text(), HasSubstr("nothing was changed"));
  EXPECT_EQ(other_.mutex("lock").try_acquire().error(), Errc::busy);
}

TEST_F(Operator, IsToldOfAReasonThatIsTooLong_F139) {
  const Hold hold = client_.mutex("lock").acquire().value();
  const auto done = other_.force_release(
      "lock", {.fence = hold.fence(), .reason = std::string(kMaxReason + 1, 'x')});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), Errc::invalid_argument);
  EXPECT_TRUE(hold.verify()) << "nothing was done";
}

TEST_F(Operator, IsToldOfABadName) {
  EXPECT_EQ(client_.force_release("", {}).error(), Errc::invalid_name);
  EXPECT_EQ(client_.place_of(std::string(513, 'x')).error(), Errc::invalid_name);
}

TEST_F(Operator, LearnsHowTheStoreCallsALock) {
  EXPECT_EQ(client_.place_of("a\nb").value(), "a\\x0ab");
}

TEST_F(Operator, FindsNoLifelineWhereOnlyLeasesCount) { EXPECT_EQ(client_.lifeline(), -1); }

TEST_F(Operator, IsRefusedInAForkedChild_F023) {
  EXPECT_TRUE(holds_in_child([&] {
    return client_.inspect().error() == Errc::forked && client_.examine().error() == Errc::forked &&
           client_.place_of("x").error() == Errc::forked &&
           client_.force_release("x", {}).error() == Errc::forked && client_.lifeline() == -1;
  }));
}

// A store that keeps its answers back, or has something to say.
class SlowStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  void inspect(std::string_view, store::Call<store::InspectReply> call) override {
    kept_ = std::move(call);
  }
  void examine(store::Call<store::ExamineReply> call) override {
    call.answer(std::vector<Finding>{{Finding::Level::problem, "b", ""},
                                     {Finding::Level::fact, "a", ""},
                                     {Finding::Level::warning, "c", ""}});
  }
  void close() override {
    if (kept_.open()) kept_.answer(std::vector<store::LockView>());
    ForwardingStore::close();
  }

 private:
  store::Call<store::InspectReply> kept_;
};

Client connect_slow(ClientOptions options) {
  return connect_to(
      [](const runtime::BootClock& clock, runtime::EpollLoop&) -> OpenedClient {
        return {new_client_id(), std::make_unique<SlowStore>(std::make_unique<store::MemoryStore>(
                                     std::make_shared<store::MemoryServer>(), clock))};
      },
      std::move(options));
}

TEST(OperatorOfASilentStore, IsToldAfterAnswerWithinAndALateAnswerHarmsNobody) {
  const Client client = connect_slow({.answer_within = 20ms});
  const auto locks = client.inspect();
  ASSERT_FALSE(locks);
  EXPECT_EQ(locks.error(), Errc::unavailable);
}

TEST(OperatorFindings, ComeWithTheWorstLast) {
  const Client client = connect_slow({});
  std::string order;
  const std::vector<Finding> findings = client.examine().value();
  for (const Finding& finding : findings) order += finding.subject;
  EXPECT_EQ(order, "acb");
}

}  // namespace
}  // namespace holdfast::test
