// What only the memory store has: its URLs, and answers inside the verb.
#include "store/memory/memory_store.hpp"

#include <gtest/gtest.h>

#include "support/answer.hpp"
#include "support/manual_clock.hpp"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using test::ManualClock;

struct NoLoop final : Loop {
  void post(Task) override { ADD_FAILURE() << "the memory store needs no loop"; }
  TimerId call_at(TimePoint, Task) override { return 0; }
  void cancel(TimerId) override {}
  void watch_fd(int, std::uint32_t, Ready*) override {}
};
struct NoRandom final : Random {
  std::uint64_t next() override { return 4; }
};

class MemoryStoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Store>> open(std::string rest, std::string option = {}) {
    Url url;
    url.scheme = "memory";
    url.rest = std::move(rest);
    if (!option.empty()) url.options[option] = "1";
    return k_memory_factory.open(url, {clock, loop, random, {1, ++clients}});
  }
  static GrantRequest request(std::uint64_t client) {
    GrantRequest ask;
    ask.name = LockName::checked("lock").value();
    ask.owner = {{1, client}, 1};
    ask.lease = 30s;
    ask.line_up = true;
    ask.line_for = 20s;
    ask.confirm_within = 1s;
    return ask;
  }
  static bool is_granted(Store& store, std::uint64_t client) {
    Answer<GrantReply> answer;
    store.try_grant(request(client), answer.call());
    return answer.get<Granted>() != nullptr;
  }

  ManualClock clock;
  NoLoop loop;
  NoRandom random;
  std::uint64_t clients = 0;
};

TEST_F(MemoryStoreTest, ClientsOfOneUrlShareTheirLocks) {
  auto first = open("");
  auto second = open("");
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(is_granted(**first, 1));
  EXPECT_FALSE(is_granted(**second, 2));
}

TEST_F(MemoryStoreTest, ClientsOfOtherNamesDoNot) {
  auto first = open("");
  auto second = open("other");
  EXPECT_TRUE(is_granted(**first, 1));
  EXPECT_TRUE(is_granted(**second, 2));
}

TEST_F(MemoryStoreTest, TheLocksGoWithTheLastClient) {
  auto first = open("brief").value();
  auto second = open("brief").value();
  EXPECT_TRUE(is_granted(*first, 1));
  first.reset();
  EXPECT_FALSE(is_granted(*second, 2));
  second.reset();
  auto third = open("brief").value();
  EXPECT_TRUE(is_granted(*third, 3));
}

TEST_F(MemoryStoreTest, AnUnknownOptionIsAnInvalidArgumentAndIsNamed) {
  const auto refused = open("", "lease");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().errc(), Errc::invalid_argument);
  EXPECT_NE(refused.error().text().find("lease"), std::string::npos);
}

TEST_F(MemoryStoreTest, ServesTheSchemeMemoryOnly) {
  ASSERT_EQ(k_memory_factory.schemes.size(), 1U);
  EXPECT_EQ(k_memory_factory.schemes[0], "memory");
}

TEST_F(MemoryStoreTest, ABatchAboveTheLimitIsNotExecuted) {
  auto store = open("batch").value();
  Answer<RenewReply> answer;
  store->renew(std::vector<Renewal>(Store::kMaxBatch + 1), answer.call());
  ASSERT_NE(answer.get<NoAnswer>(), nullptr);
  EXPECT_EQ(answer.get<NoAnswer>()->why, Errc::invalid_argument);
  EXPECT_FALSE(answer.get<NoAnswer>()->executed);
}

TEST_F(MemoryStoreTest, EveryVerbOfAClosedStoreAnswersThatNothingWasDone) {
  auto store = open("closed").value();
  store->close();
  const auto not_executed = [](const auto& answer) {
    const auto* none = answer.template get<NoAnswer>();
    return none != nullptr && !none->executed;
  };
  Answer<GrantReply> grant;
  store->try_grant(request(1), grant.call());
  EXPECT_TRUE(not_executed(grant));
  Answer<RenewReply> renew;
  store->renew({}, renew.call());
  EXPECT_TRUE(not_executed(renew));
  Answer<ReleaseReply> release;
  store->release({}, release.call());
  EXPECT_TRUE(not_executed(release));
  Answer<WithdrawReply> withdraw;
  store->withdraw(request(1), withdraw.call());
  EXPECT_TRUE(not_executed(withdraw));
  Answer<InspectReply> inspect;
  store->inspect("*", inspect.call());
  EXPECT_TRUE(not_executed(inspect));
  Answer<ForceReply> force;
  store->force_release({}, force.call());
  EXPECT_TRUE(not_executed(force));
}

// Whoever is woken may use the store at once, and end its own watch.
TEST_F(MemoryStoreTest, AWakeMayCallTheStore) {
  auto store = open("wakes").value();
  Answer<GrantReply> held;
  store->try_grant(request(1), held.call());
  Answer<RenewReply> confirmed;
  WatchPtr watch;
  watch = store->watch(request(2), [&](const Wake& wake) {
    Renewal renewal;
    static_cast<ClaimKey&>(renewal) = request(2);
    renewal.fence = wake.offer->fence;
    renewal.lease = 30s;
    store->renew({&renewal, 1}, confirmed.call());
    watch.reset();
  });
  EXPECT_FALSE(is_granted(*store, 2));
  HoldKey key;
  static_cast<ClaimKey&>(key) = request(1);
  key.fence = held.get<Granted>()->fence;
  Answer<ReleaseReply> released;
  store->release(key, released.call());
  EXPECT_NE(released.get<Released>(), nullptr);
  ASSERT_TRUE(confirmed.there());
  EXPECT_TRUE(std::holds_alternative<Renewed>(confirmed.get<std::vector<RenewalReply>>()->front()));
}

// Whoever is answered may close and destroy the store at once.
TEST_F(MemoryStoreTest, AnAnswerMayDestroyTheStore) {
  struct Destroyer final : Answers<GrantReply> {
    void answered(CallId, GrantReply) override {
      store->close();
      store.reset();
    }
    std::unique_ptr<Store> store;
  } last;
  last.store = open("destroyed").value();
  Store& store = *last.store;
  store.try_grant(request(1), Call<GrantReply>(last, 1, kNever));
  EXPECT_EQ(last.store, nullptr);
}

TEST_F(MemoryStoreTest, AWatchMayOutliveItsStore) {
  auto store = open("outlived").value();
  const WatchPtr watch = store->watch(request(1), [](const Wake&) {});
  store->close();
  store.reset();
}

}  // namespace
}  // namespace holdfast::store
