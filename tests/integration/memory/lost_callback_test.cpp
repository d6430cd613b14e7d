// What users do in their callbacks, slow, wrong or against us, must not cost anybody else a lock.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// A hold that is lost at once.
Hold doomed(const Client& client, std::string_view name = "doomed") {
  return client.mutex(name).acquire({.lease = 100ms, .renew = false}).value();
}

class LostCallback : public testing::Test {
 protected:
  LinkedClient linked_ = connect_linked(std::make_shared<store::MemoryServer>());
  const Client& client_ = linked_.client;
};

TEST_F(LostCallback, OneOf200MsDelaysNoRenewal_F019) {
  const Hold kept = client_.mutex("kept").acquire({.lease = 500ms}).value();
  const Hold lost = doomed(client_);
  Told<std::uint64_t> renewals;
  const std::stop_callback slow(lost.lost(), [&] {
    const auto before = linked_.link->counts().renew;
    std::this_thread::sleep_for(200ms);  // a period is 167 ms, and 183 at the latest
    EXPECT_TRUE(eventually([&] { return linked_.link->counts().renew > before; }));
    renewals.tell(linked_.link->counts().renew - before);
  });
  ASSERT_TRUE(renewals.comes());
  EXPECT_GE(renewals.get(), 1U);
  EXPECT_TRUE(kept.verify());
}

// F019: the callback does not end before it has seen four periods go by.
TEST_F(LostCallback, OneThatDoesNotEndDelaysNoRenewal_F019) {
  const Hold kept = client_.mutex("kept").acquire({.lease = 1s}).value();
  const Hold lost = doomed(client_);
  Told<bool> renewed;
  const std::stop_callback slow(lost.lost(), [&] {
    const auto before = linked_.link->counts().renew;
    renewed.tell(eventually([&] { return linked_.link->counts().renew >= before + 4; }));
  });
  ASSERT_TRUE(renewed.comes());
  EXPECT_TRUE(renewed.get());
  EXPECT_TRUE(kept.verify());
}

TEST_F(LostCallback, OneThatDoesNotEndDelaysNoDeadline_F019) {
  const Hold second = client_.mutex("second").acquire({.lease = 300ms, .renew = false}).value();
  const Hold lost = doomed(client_);
  Told<bool> ended;
  const std::stop_callback slow(lost.lost(), [&] {
    // Not valid any more, and free for others; only its announcement waits for us.
    const bool invalid = eventually([&] { return !second.valid(); });
    const bool free = client_.mutex("second").acquire().has_value();
    ended.tell(invalid && free && !second.lost().stop_requested());
  });
  ASSERT_TRUE(ended.comes());
  EXPECT_TRUE(ended.get());
  EXPECT_TRUE(eventually([&] { return second.lost().stop_requested(); }));
}

TEST_F(LostCallback, OneThatDoesNotEndDelaysNoWaiter_F019) {
  const Hold lost = doomed(client_);
  const Signal go_on;
  const std::stop_callback slow(lost.lost(), [&] { EXPECT_TRUE(go_on.comes()); });
  const auto waited = client_.mutex("doomed").acquire({.wait = kSoon});
  EXPECT_TRUE(waited);
  EXPECT_EQ(client_.mutex("doomed").acquire({.wait = 20ms}).error(), Errc::timed_out);
  go_on.give();
}

TEST_F(LostCallback, IsCalledOnce) {
  std::atomic<int> calls{0};
  const Hold lost = doomed(client_);
  const std::stop_callback count(lost.lost(), [&] { ++calls; });
  ASSERT_TRUE(eventually([&] { return calls > 0; }));
  EXPECT_FALSE(lost.verify());
  const Signal after;
  client_.mutex("after").async_acquire().then([after](const Result<Hold>&) { after.give(); });
  ASSERT_TRUE(after.comes());
  EXPECT_EQ(calls, 1);
  const std::stop_callback late(lost.lost(), [&] { ++calls; });
  EXPECT_EQ(calls, 2) << "a callback that comes later is called at once";
}

TEST_F(LostCallback, MayReleaseAndAcquire_F040) {
  Hold lost = doomed(client_);
  Told<FencingToken> again;
  const std::stop_callback react(lost.lost(), [&] {
    EXPECT_FALSE(lost.valid());
    EXPECT_EQ(lost.release().error(), Errc::lost);
    const auto hold = client_.mutex("doomed").acquire();
    const auto other = client_.mutex("doomed").async_acquire().get_for(10ms);
    EXPECT_EQ(other.error(), Errc::timed_out);
    again.tell(hold->fence());
  });
  ASSERT_TRUE(again.comes());
  EXPECT_GT(again.get(), lost.fence());
}

TEST_F(LostCallback, MayDestroyItsHold_F040) {
  std::optional<Hold> lost(doomed(client_));
  const Signal done;
  const std::stop_callback react(lost->lost(), [&] {
    lost.reset();
    done.give();
  });
  ASSERT_TRUE(done.comes());
  EXPECT_TRUE(client_.mutex("doomed").acquire());
}

TEST(CallingObserver, MayUseItsClient_F040) {
  class Caller final : public Observer {
   public:
    void on_event(const LockEvent& event) override {
      if (event.lock != "first" || event.what != LockEvent::What::acquired) return;
      const auto hold = client->mutex("second").acquire();
      EXPECT_EQ(client->mutex("second").acquire({.wait = 1ms}).error(), Errc::timed_out);
      done.give();
    }
    std::optional<Client> client;
    Signal done;
  };
  const auto observer = std::make_shared<Caller>();
  const Client client = connect("memory:observer", {.observer = observer}).value();
  observer->client.emplace(client);
  const auto hold = client.mutex("first").acquire();
  EXPECT_TRUE(observer->done.comes());
  observer->client.reset();
}

class Thrower final : public Observer {
 public:
  void on_event(const LockEvent&) override {
    ++calls;
    throw std::runtime_error("the disk of the log is full");
  }
  std::atomic<int> calls{0};
};

TEST(ThrowingObserver, StopsNobody_F039) {
  const auto observer = std::make_shared<Thrower>();
  const auto linked =
      connect_linked(std::make_shared<store::MemoryServer>(), {.observer = observer});
  const Hold kept = linked.client.mutex("kept").acquire({.lease = 300ms}).value();
  ASSERT_TRUE(eventually([&] { return linked.link->counts().renew >= 3; }));
  EXPECT_TRUE(kept.verify());
  EXPECT_TRUE(eventually([&] { return observer->calls >= 4; }));
}

// F039: also if they happened in one moment.
TEST(ThrowingObserver, IsStillToldOfEveryEvent_F039) {
  HandBench bench;
  const auto observer = std::make_shared<Thrower>();
  auto& alice = bench.client({.observer = observer});
  auto& bob = bench.client();
  std::optional<Hold> held(bob.mutex().acquire().value());
  auto first = alice.mutex().async_acquire();
  auto second = alice.mutex().async_acquire();
  bench.let_pass(15s);
  held.reset();
  bench.settle();
  held.emplace(std::move(first).get().value());
  bench.settle();
  const int before = observer->calls;
  held.reset();  // released, and handed off
  bench.settle();
  ASSERT_TRUE(second.ready());
  EXPECT_EQ(observer->calls, before + 2);
}

}  // namespace
}  // namespace holdfast::test
