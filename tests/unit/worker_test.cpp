#include "transport/worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/soon.hpp"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::Signal;
using test::Told;

constexpr auto kNothing = [] {};

TEST(Worker, DoesJobsInOrderOnAThreadOfItsOwn) {
  Worker worker("test", kNothing);
  std::vector<int> done;
  Told<std::thread::id> thread;
  for (int i = 0; i < 100; ++i) {
    worker.post([&done, i] { done.push_back(i); });
  }
  EXPECT_FALSE(worker.on_this_thread());
  worker.post([&worker, thread] {
    EXPECT_TRUE(worker.on_this_thread());
    thread.tell(std::this_thread::get_id());
  });
  ASSERT_TRUE(thread.comes());
  EXPECT_NE(thread.get(), std::this_thread::get_id());
  ASSERT_EQ(done.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(Worker, DoesJobsThatAJobPosts) {
  Worker worker("test", kNothing);
  const Signal done;
  worker.post([&worker, done] { worker.post([done] { done.give(); }); });
  EXPECT_TRUE(done.comes());
}

TEST(Worker, WithoutAJobHasNoThread) {
  Worker worker("test", kNothing);
  worker.stop();
}

// What a job owns ends with it, before the next one begins: it may be a question to be answered.
TEST(Worker, EndsAJobBeforeTheNext) {
  Worker worker("test", kNothing);
  auto owned = std::make_shared<int>();
  const std::weak_ptr<int> seen = owned;
  Told<bool> gone;
  worker.post([kept = std::move(owned)] {});
  worker.post([seen, gone] { gone.tell(seen.expired()); });
  ASSERT_TRUE(gone.comes());
  EXPECT_TRUE(gone.get());
}

// ---- bumps ----

TEST(Worker, CallsAfterABumpFromOutside) {
  FutexWord word{0};
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen_to(word);
  worker.listen(1h);
  const Signal there;
  worker.post([there] { there.give(); });
  ASSERT_TRUE(there.comes());
  for (int i = 1; i <= 3; ++i) {
    const int before = calls;
    futex_bump(word);
    EXPECT_TRUE(eventually([&] { return calls > before; }));
  }
}

TEST(Worker, DoesNotCallForItsOwnBumps) {
  FutexWord word{0};
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen_to(word);
  worker.listen(1h);
  for (int i = 0; i < 200; ++i) {
    const Signal done;
    worker.post([done] { done.give(); });
    ASSERT_TRUE(done.comes());
  }
  EXPECT_LE(calls, 1) << "once, when the word is new to it";
}

// Another process may be faster than our thread: its wake must not wait for the next look.
TEST(Worker, HearsABumpThatCameBeforeItListened) {
  FutexWord word{0};
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen_to(word);
  futex_bump(word);
  worker.listen(1h);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
}

// The word is the first thing it looks at, so a bump while it is at work is not lost.
TEST(Worker, HearsABumpThatCameWhileItWorked) {
  FutexWord word{0};
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen_to(word);
  worker.listen(1h);
  ASSERT_TRUE(eventually([&] { return calls == 1; })) << "once, when the word is new to it";
  const Signal working, go_on;
  worker.post([=] {
    working.give();
    EXPECT_TRUE(go_on.comes());
  });
  ASSERT_TRUE(working.comes());
  futex_bump(word);
  EXPECT_EQ(calls, 1);
  go_on.give();
  EXPECT_TRUE(eventually([&] { return calls == 2; }));
}

TEST(Worker, ListensToANewWordWhileItSleeps) {
  FutexWord first{0}, second{0};
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen_to(first);
  worker.listen(1h);
  const Signal there;
  worker.post([there] { there.give(); });
  ASSERT_TRUE(there.comes());
  worker.listen_to(second);
  EXPECT_TRUE(eventually([&] {  // until it has noticed
    futex_bump(second);
    return calls > 0;
  }));
  const Signal done;
  worker.post([done] { done.give(); });
  EXPECT_TRUE(done.comes()) << "and jobs reach it there";
}

// ---- the tick ----

TEST(Worker, CallsByItselfAsOftenAsAsked) {
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen(1ms);
  EXPECT_TRUE(eventually([&] { return calls >= 3; }));
}

TEST(Worker, CallsByItselfAlsoWhileJobsKeepItBusy) {
  std::atomic<int> calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen(20ms);
  // Each job comes sooner than the tick after the job before.
  EXPECT_TRUE(eventually([&] {
    const Signal done;
    worker.post([done] { done.give(); });
    return done.comes() && calls >= 3;
  }));
}

// ---- the end ----

TEST(Worker, DropsJobsThatHaveNotBegunWhenItStops) {
  Worker worker("test", kNothing);
  const Signal working, go_on;
  bool second = false;
  auto owned = std::make_shared<int>();
  const std::weak_ptr<int> seen = owned;
  worker.post([=] {
    working.give();
    EXPECT_TRUE(go_on.comes());
  });
  ASSERT_TRUE(working.comes());
  worker.post([&second, kept = std::move(owned)] { second = true; });
  std::thread stops([&] { worker.stop(); });
  // What is posted after the beginning of stop() is dropped at once: so it has begun.
  EXPECT_TRUE(eventually([&] {
    const auto probe = std::make_shared<int>();
    worker.post([probe] {});
    return probe.use_count() == 1;
  }));
  EXPECT_FALSE(seen.expired()) << "it waits for the job that has begun";
  go_on.give();
  stops.join();
  EXPECT_FALSE(second);
  EXPECT_TRUE(seen.expired()) << "and with it goes what it was to answer";
}

TEST(Worker, MayBeStoppedTwiceAndUsedAfterwards) {
  int calls = 0;
  Worker worker("test", [&] { ++calls; });
  worker.listen(1h);
  worker.stop();
  worker.stop();
  bool ran = false;
  EXPECT_FALSE(worker.post([&] { ran = true; })) << "it says so";
  worker.listen(1ms);
  EXPECT_FALSE(ran);
}

TEST(Worker, StopsWhileOthersPost) {
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> ended = 0;
    int posted = 0;
    {
      Worker worker("test", kNothing);
      std::thread posts([&] {
        for (; posted < 20; ++posted) {
          worker.post([count = std::shared_ptr<void>(nullptr, [&](void*) { ++ended; })] {});
        }
      });
      worker.stop();
      posts.join();
    }
    EXPECT_EQ(ended, posted) << "each is done or dropped";
  }
}

}  // namespace
}  // namespace holdfast::transport
