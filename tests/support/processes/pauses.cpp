#include "support/processes/pauses.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "holdfast/holdfast.hpp"
#include "support/outcome.hpp"
#include "support/processes/holder.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

void expect_served_past_the_lease(const std::string& url, const Pause& pause) {
  ChildProcess holder(kHolder, {url, std::to_string(pause.lease.count())});
  const FencingToken fence = fence_from(holder.hear());
  const Client client = connect(url).value();
  auto pending = client.mutex("lock").async_acquire();
  std::this_thread::sleep_for(pause.lease * 5 / 4);
  EXPECT_FALSE(pending.ready()) << "it is renewed";
  pause.stop(holder);
  const Stopwatch watch;
  const auto hold = std::move(pending).get_for(kSoon);
  ASSERT_TRUE(hold) << hold.error().text();
  std::printf("served %lld ms after the stop\n", static_cast<long long>(watch.elapsed().count()));
  EXPECT_GT(watch.elapsed(), pause.lease * 3 / 10) << "a third of the lease was left at least";
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

void expect_short_pause_changes_nothing(const std::string& url, const Pause& pause) {
  ChildProcess holder(kHolder, {url, "30000"});
  ASSERT_NE(holder.hear(), "");
  pause.stop(holder);
  const Client client = connect(url).value();
  EXPECT_TRUE(fails_with(Errc::timed_out, client.mutex("lock").acquire({.wait = 700ms})));
  holder.tell("valid");
  holder.tell("release");
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.hear(), "yes");
  EXPECT_EQ(holder.hear(), "released");
  EXPECT_TRUE(client.mutex("lock").acquire({.wait = kSoon}));
}

}  // namespace holdfast::test
