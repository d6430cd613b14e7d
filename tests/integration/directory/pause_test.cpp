// F016: a holder that is stopped for longer than its lease.
#include <signal.h>

#include <cstdio>
#include <thread>

#include "directory_test.hpp"

namespace holdfast::test {
namespace {

using DirectoryPause = DirectoryTest;

TEST_F(DirectoryPause, PastTheLeaseServesTheNextAndTellsTheStoppedHolder) {
  ChildProcess holder(kHolder, {url(), "2000"});
  const FencingToken fence = fence_from(holder.hear());
  const Client client = open();
  auto pending = client.mutex("lock").async_acquire();
  std::this_thread::sleep_for(2500ms);
  EXPECT_FALSE(pending.ready()) << "it is renewed";
  holder.signal(SIGSTOP);
  const Stopwatch watch;
  const auto hold = std::move(pending).get_for(kSoon);
  ASSERT_TRUE(hold) << hold.error().text();
  std::printf("served %lld ms after the stop\n", static_cast<long long>(watch.elapsed().count()));
  EXPECT_GT(watch.elapsed(), 600ms) << "a third of the lease was left at least";
  EXPECT_GT(hold->fence(), fence);
  holder.tell("valid");
  holder.tell("lost");
  holder.tell("release");
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.hear(), "no") << "at once, before anybody could tell it";
  EXPECT_EQ(holder.hear(), "lost");
  EXPECT_EQ(holder.hear(), "lost") << "so says release()";
  EXPECT_TRUE(hold->verify()) << "and the new holder did not notice";
}

TEST_F(DirectoryPause, ShorterThanTheLeaseChangesNothing) {
  ChildProcess holder(kHolder, {url(), "30000"});
  ASSERT_NE(holder.hear(), "");
  holder.signal(SIGSTOP);
  const Client client = open();
  EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = 700ms})));
  holder.signal(SIGCONT);
  holder.tell("valid");
  EXPECT_EQ(holder.hear(), "yes");
  holder.tell("release");
  EXPECT_EQ(holder.hear(), "released");
  EXPECT_TRUE(client.mutex("lock").acquire({.wait = kSoon}));
}

// Whoever waits may be stopped as well: it only waits longer.
TEST_F(DirectoryPause, OfAWaiterNeverMakesALivingHolderLookDead) {
  const Client client = open();
  const Hold hold = client.mutex("lock").acquire({.lease = 2s}).value();
  ChildProcess waiter(kHolder, {url(), "2000"});
  std::this_thread::sleep_for(300ms);
  waiter.signal(SIGSTOP);
  std::this_thread::sleep_for(4500ms);
  waiter.signal(SIGCONT);
  EXPECT_EQ(waiter.hear(500ms), "") << "it is still refused";
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(hold.verify());
}

}  // namespace
}  // namespace holdfast::test
