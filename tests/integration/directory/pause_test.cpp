// F017, F033: a holder that is stopped, for longer than its lease or not.
#include <signal.h>

#include <thread>

#include "directory_test.hpp"
#include "support/processes/holder.hpp"
#include "support/processes/pauses.hpp"

namespace holdfast::test {
namespace {

using DirectoryPause = DirectoryTest;

TEST_F(DirectoryPause, PastTheLeaseServesTheNextAndTellsTheStoppedHolder_F017_F033) {
  expect_served_past_the_lease(url());
}

TEST_F(DirectoryPause, ShorterThanTheLeaseChangesNothing) {
  expect_short_pause_changes_nothing(url());
}

// Whoever waits may be stopped as well: it only waits longer.
TEST_F(DirectoryPause, OfAWaiterNeverMakesALivingHolderLookDead) {
  const Client client = open();
  const Hold hold = client.mutex("lock").acquire({.lease = 2s}).value();
  ChildProcess waiter(kHolder, {url(), "2000"});
  std::this_thread::sleep_for(300ms);
  waiter.stop();
  std::this_thread::sleep_for(4500ms);
  waiter.signal(SIGCONT);
  EXPECT_EQ(waiter.hear(500ms), "") << "it is still refused";
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(hold.verify());
}

}  // namespace
}  // namespace holdfast::test
