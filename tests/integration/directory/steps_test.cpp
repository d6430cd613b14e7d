// The races that decide whether two can hold one lock, each stopped at its worst moment.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <thread>

#include "directory_test.hpp"
#include "runtime/boot_clock.hpp"

namespace holdfast::test {
namespace {

using store::Granted;
using store::GrantReply;
using store::Refused;
using Step = Steps::Step;

// Does something the first time a store comes to a step.
class OnceAt final : public Steps {
 public:
  OnceAt(Step step, std::function<void()> action) : step_(step), action_(std::move(action)) {}
  void at(Step step) override {
    if (step != step_ || done_) return;
    done_ = true;
    action_();
  }
  bool done() const { return done_; }

 private:
  const Step step_;
  std::function<void()> action_;
  bool done_ = false;
};

// Says what it likes about link(2).
class LyingLink final : public Steps {
 public:
  explicit LyingLink(int error) : error_(error) {}
  int link_said(int) override { return error_; }

 private:
  const int error_;
};

bool is_refused(const GrantReply& reply) { return std::holds_alternative<Refused>(reply); }

class DirectorySteps : public DirectoryTest {
 protected:
  ManualClock clock;
  OneStore bob{folder(), clock, 2};
};

// ---- taking ----

TEST_F(DirectorySteps, ALinkThatWasAskedForTwiceCountsByItsFile) {
  LyingLink retried(EEXIST);  // it was ours, and the answer of the first try was lost
  OneStore alice(folder(), clock, 1, &retried);
  const std::uint64_t fence = alice.granted();
  EXPECT_NE(fence, 0U);
  EXPECT_TRUE(is_refused(bob.ask()));
  EXPECT_TRUE(alice.renews(fence));
  EXPECT_TRUE(files('.').empty());
}

TEST_F(DirectorySteps, ALinkThatClaimsSuccessCountsByItsFileToo) {
  class Liar final : public Steps {
   public:
    explicit Liar(OneStore& other) : other_(other) {}
    void at(Step step) override {
      if (step == Step::decided && fence == 0) fence = other_.granted();
    }
    int link_said(int) override { return 0; }
    std::uint64_t fence = 0;

   private:
    OneStore& other_;
  } liar(bob);
  OneStore alice(folder(), clock, 1, &liar);
  EXPECT_TRUE(is_refused(alice.ask()));
  EXPECT_NE(liar.fence, 0U);
  EXPECT_TRUE(bob.renews(liar.fence));
}

TEST_F(DirectorySteps, AClaimThatSleptWhileItsNumberCameAndWentIsRefused) {
  bob.pass(1);
  std::uint64_t held = 0;
  OnceAt sleeps(Step::decided, [&] {
    bob.pass(150);  // its number was taken, released and cleaned away: link(2) will succeed
    held = bob.granted();
  });
  OneStore alice(folder(), clock, 1, &sleeps);
  EXPECT_TRUE(is_refused(alice.ask()));
  ASSERT_TRUE(sleeps.done());
  EXPECT_TRUE(bob.renews(held));
}

TEST_F(DirectorySteps, TwoWhoFindTheHolderDeadDoNotBothTakeOver) {
  OneStore dead(folder(), clock, 3);
  const std::uint64_t old = dead.granted();
  std::uint64_t taken = 0;
  OnceAt sleeps(Step::decided, [&] { taken = bob.granted(); });
  OneStore alice(folder(), clock, 1, &sleeps);
  EXPECT_TRUE(is_refused(alice.ask()));
  EXPECT_TRUE(is_refused(bob.ask()));
  clock.advance(OneStore::kSilence);
  EXPECT_TRUE(is_refused(alice.ask()));
  EXPECT_GT(taken, old);
  EXPECT_TRUE(bob.renews(taken));
}

TEST_F(DirectorySteps, ALastLookPrecedesATakeOver) {
  OneStore dead(folder(), clock, 3);
  ASSERT_NE(dead.granted(), 0U);
  class Counting final : public Steps {
   public:
    explicit Counting(OneStore& other) : other_(other) {}
    void at(Step step) override {
      if (step == Step::prepared) taken = other_.granted();
      if (step == Step::decided) ++decided;
    }
    std::uint64_t taken = 0;
    int decided = 0;

   private:
    OneStore& other_;
  } steps(bob);
  OneStore alice(folder(), clock, 1, &steps);
  EXPECT_TRUE(is_refused(alice.ask()));
  EXPECT_TRUE(is_refused(bob.ask()));
  clock.advance(OneStore::kSilence);
  EXPECT_TRUE(is_refused(alice.ask()));
  EXPECT_EQ(steps.decided, 0) << "it saw that somebody else was quicker";
  EXPECT_TRUE(bob.renews(steps.taken));
  EXPECT_TRUE(files('.').empty()) << "the private file is gone";
}

// Its lease stands in the very file that was published.
const Role kDiesOfSuccess("dies of success", [](Parent&, const Words& arguments) {
  const runtime::BootClock clock;
  OnceAt dies(Step::published, [] { ::kill(::getpid(), SIGKILL); });
  OneStore store(arguments.at(0), clock, 7, &dies);
  store::GrantRequest request = store.request(1, "lock");
  request.lease = 1500ms;
  Answer<GrantReply> never;
  store.store().try_grant(request, never.call());
  never.reply();
});

TEST_F(DirectorySteps, AWinnerThatDiesBeforeItsFirstSignOfLifeLapses_F028_F030) {
  ChildProcess dead(kDiesOfSuccess, {folder()});
  EXPECT_EQ(dead.exit_code(), -1);
  EXPECT_EQ(files('g').size(), 2U) << "it did publish";
  const Stopwatch watch;
  const Client client = open();
  const auto next = client.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GE(watch.elapsed(), 1500ms);
}

TEST_F(DirectorySteps, OfManyFirstClaimsOneIsGranted) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = "new-" + std::to_string(round);
    std::deque<OneStore> stores;
    for (std::uint64_t i = 0; i < 8; ++i) stores.emplace_back(folder(), clock, 10 + i);
    std::atomic<int> granted = 0;
    std::vector<std::thread> threads;
    for (OneStore& each : stores) {
      threads.emplace_back([&] {
        if (each.granted(1, name) != 0) ++granted;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(granted, 1);
  }
}

// ---- keeping ----

TEST_F(DirectorySteps, ASignOfLifeThatIsCompletedTooLateCountsForNothing_F006) {
  OnceAt sleeps(Step::beaten, [&] { clock.advance(OneStore::kLease); });
  OneStore alice(folder(), clock, 1, &sleeps);
  const std::uint64_t fence = alice.granted();
  EXPECT_FALSE(alice.renews(fence)) << "somebody may have decided before it was written";
  EXPECT_GT(alice.granted(), fence) << "the old generation is burned";
}

TEST_F(DirectorySteps, ASignOfLifeThatBeginsTooLateCountsForNothing_F022) {
  OneStore alice(folder(), clock, 1);
  const std::uint64_t fence = alice.granted();
  EXPECT_TRUE(is_refused(bob.ask()));
  clock.advance(OneStore::kLease);
  EXPECT_TRUE(is_refused(bob.ask())) << "it allows for a clock that runs slower than its own";
  EXPECT_FALSE(alice.renews(fence)) << "but the holder does not count on that";
  EXPECT_GT(bob.granted(), fence) << "and gives up at once";
}

TEST_F(DirectorySteps, AHolderThatWakesAfterATakeOverIsToldSo) {
  std::uint64_t fence = 0, taken = 0;
  OnceAt sleeps(Step::beaten, [&] {
    EXPECT_TRUE(bob.forces(fence, true));
    taken = bob.granted();
  });
  OneStore alice(folder(), clock, 1, &sleeps);
  fence = alice.granted();
  EXPECT_FALSE(alice.renews(fence)) << "it was held when the sign of life was written";
  EXPECT_GT(taken, fence);
  EXPECT_FALSE(alice.renews(fence));
  EXPECT_FALSE(alice.releases(fence));
  EXPECT_TRUE(bob.renews(taken));
}

TEST_F(DirectorySteps, ARevocationThatCrossesASignOfLifeIsSeen) {
  std::uint64_t fence = 0;
  OnceAt sleeps(Step::beaten, [&] { EXPECT_TRUE(bob.forces(fence, false)); });
  OneStore alice(folder(), clock, 1, &sleeps);
  fence = alice.granted();
  EXPECT_FALSE(alice.renews(fence));
  EXPECT_TRUE(is_refused(bob.ask())) << "it is free when it is released, or its lease is over";
  EXPECT_TRUE(alice.releases(fence));
  EXPECT_GT(bob.granted(), fence);
}

TEST_F(DirectorySteps, AGenerationThatSomebodyMayHaveGivenUpIsNotGrantedAgain) {
  std::uint64_t again = 0;
  OneStore alice(folder(), clock, 1);
  const std::uint64_t fence = alice.granted();
  OnceAt sleeps(Step::decided, [&] { again = alice.granted(); });
  OneStore carol(folder(), clock, 3, &sleeps);
  EXPECT_TRUE(is_refused(carol.ask()));
  clock.advance(OneStore::kSilence);
  // Carol has found it dead and sleeps. Its owner, whose first answer was lost, asks again.
  EXPECT_TRUE(is_refused(carol.ask()));
  EXPECT_GT(again, fence);
  EXPECT_TRUE(alice.renews(again));
}

TEST_F(DirectorySteps, OnlyWhatWasWatchedIsBelieved) {
  OneStore alice(folder(), clock, 1);
  const std::uint64_t fence = alice.granted();
  clock.advance(100 * OneStore::kLease);
  const GrantReply first = bob.ask();
  ASSERT_TRUE(is_refused(first)) << "it may have been renewed a moment ago";
  EXPECT_EQ(std::get<Refused>(first).retry_after, OneStore::kSilence);
  clock.advance(OneStore::kSilence - Duration(1));
  const GrantReply second = bob.ask();
  ASSERT_TRUE(is_refused(second));
  EXPECT_EQ(std::get<Refused>(second).retry_after, Duration(1));
  clock.advance(Duration(1));
  EXPECT_GT(bob.granted(), fence);
}

TEST_F(DirectorySteps, ASignOfLifeRestartsTheStopwatchOfWhoeverReadsIt) {
  OneStore alice(folder(), clock, 1);
  const std::uint64_t fence = alice.granted();
  EXPECT_TRUE(is_refused(bob.ask()));
  clock.advance(OneStore::kLease - Duration(1));
  EXPECT_TRUE(alice.renews(fence));
  clock.advance(OneStore::kLease - Duration(1));
  EXPECT_TRUE(is_refused(bob.ask())) << "the fresh look shows another text";
  EXPECT_TRUE(alice.renews(fence));
  clock.advance(OneStore::kSilence);
  EXPECT_TRUE(is_refused(bob.ask())) << "and once more";
  clock.advance(OneStore::kSilence);
  EXPECT_GT(bob.granted(), fence);
}

// ---- cleaning ----

TEST_F(DirectorySteps, AHolderKeepsTheNewestGenerationsOnly) {
  bob.pass(300);
  EXPECT_GE(files('g').size(), 64U);
  EXPECT_LT(files('g').size(), 64U + 16U);
  const std::string oldest = files('g').front().substr(1);
  EXPECT_GE(files('r').front().substr(1), oldest) << "no marker without its generation";
}

TEST_F(DirectorySteps, ACleanerThatWasStoppedRemovesNothingNewer) {
  while (bob.pass(1), files('g').size() < 79) {
  }
  std::uint64_t held = 0;
  std::vector<std::string> newest;
  OnceAt sleeps(Step::cleaning, [&] {
    const std::uint64_t cleaner = std::stoull(files('g').back().substr(1));
    ASSERT_TRUE(bob.forces(cleaner << DirectoryStore::kFenceShift, true));
    bob.pass(200);
    held = bob.granted();
    newest = files('g');
  });
  OneStore alice(folder(), clock, 1, &sleeps);
  const std::uint64_t fence = alice.granted();
  ASSERT_TRUE(sleeps.done());
  EXPECT_EQ(files('g'), newest);
  EXPECT_FALSE(alice.renews(fence));
  EXPECT_TRUE(bob.renews(held));
}

}  // namespace
}  // namespace holdfast::test
