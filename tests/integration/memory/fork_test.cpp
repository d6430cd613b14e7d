// F023: what a child inherits does nothing there and says so; the parent does not notice.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "coroutines.hpp"
#include "holdfast/holdfast.hpp"
#include "support/forked_child.hpp"
#include "support/soon.hpp"

namespace {
std::atomic<bool> in_child{false};
}

#if defined(__SANITIZE_ADDRESS__)
// What a child inherits of threads that it does not have cannot be told from a leak.
extern "C" int __lsan_is_turned_off() { return in_child ? 1 : 0; }
#endif

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// What a child finds wrong.
class Findings {
 public:
  void expect(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "in the child: not true that %s\n", what);
    good_ = false;
  }
  bool good() const { return good_; }

 private:
  bool good_ = true;
};

enum class Leave { at_once, through_exit };

// Runs the checks in a child, which is given a minute. Says whether all was well there.
template <class Checks>
bool in_a_child(Checks checks, Leave leave = Leave::at_once) {
  const pid_t child = fork();
  if (child == 0) {
    in_child = true;
    alarm(60);
    Findings findings;
    checks(findings);
    if (leave == Leave::through_exit) std::exit(findings.good() ? 0 : 1);
    _exit(findings.good() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) {
    ADD_FAILURE() << (WTERMSIG(status) == SIGALRM ? "the child hung" : "the child crashed");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class ForkTest : public testing::Test {
 protected:
  std::optional<Client> client_{connect("memory:fork").value()};
  std::optional<Mutex> mutex_{client_->mutex("lock")};
  std::optional<Hold> hold_{mutex_->acquire().value()};
  std::optional<Pending<Hold>> waiting_{mutex_->async_acquire()};
  std::optional<Pending<Hold>> ready_{client_->mutex("ready").async_acquire()};

  void expect_parent_unharmed() {
    EXPECT_TRUE(hold_->valid());
    EXPECT_TRUE(hold_->verify());
    EXPECT_FALSE(waiting_->ready());
    EXPECT_TRUE(hold_->release());
    EXPECT_TRUE(std::move(*waiting_).get_for(kSoon));
    EXPECT_TRUE(std::move(*ready_).get());
  }
};

TEST_F(ForkTest, EveryCallAnswersForkedInTheChild_F023) {
  EXPECT_TRUE(in_a_child([this](Findings& findings) {
    const auto forked = [&](const auto& result, const char* what) {
      findings.expect(!result && result.error() == Errc::forked, what);
    };
    forked(mutex_->acquire(), "acquire says forked");
    forked(mutex_->try_acquire(), "try_acquire says forked");
    forked(client_->mutex("other").acquire({.wait = 1s}), "a new name says forked");
    forked(client_->mutex("").acquire(), "a bad name says forked");
    forked(mutex_->async_acquire().get(), "async_acquire says forked");
    forked(run_locked(*mutex_, {}, [](Hold&) {}), "run_locked says forked");
    findings.expect(!hold_->valid(), "the hold is not valid");
    findings.expect(hold_->remaining() == 0s, "nothing remains of it");
    findings.expect(hold_->name() == "lock", "it has its name");
    findings.expect(hold_->fence().value() > 0, "it has its fence");
    findings.expect(!hold_->lost().stop_requested(), "it was not lost");
    forked(hold_->verify(), "verify says forked");
    forked(hold_->release(), "release says forked");
    forked(hold_->release(), "and again");
    waiting_->cancel();
    forked(std::move(*waiting_).get(), "a waiting result says forked");
    forked(std::move(*ready_).get_for(1s), "a result that is there says forked");
  }));
  expect_parent_unharmed();
}

TEST_F(ForkTest, AWaitThatHasATimeAnswersForkedAtOnceInTheChild_F023) {
  EXPECT_TRUE(in_a_child([this](Findings& findings) {
    const auto result = std::move(*waiting_).get_for(1h);
    findings.expect(result.error() == Errc::forked, "get_for says forked");
  }));
  expect_parent_unharmed();
}

TEST_F(ForkTest, WhatTheChildDestroysStaysInTheParent_F023) {
  EXPECT_TRUE(in_a_child([this](Findings&) {
    waiting_.reset();
    ready_.reset();
    client_.reset();
    hold_.reset();
    mutex_.reset();
  }));
  expect_parent_unharmed();
}

TEST_F(ForkTest, AChildThatExitsHarmsNothing_F023) {
  static std::optional<Hold> known_at_exit;
  known_at_exit.emplace(client_->mutex("static").acquire().value());
  EXPECT_TRUE(in_a_child([](Findings&) {}, Leave::through_exit));
  EXPECT_TRUE(known_at_exit->verify());
  known_at_exit.reset();
  expect_parent_unharmed();
}

TEST_F(ForkTest, TheLossOfTheParentsHoldIsNoConcernOfTheChild_F023) {
  const auto brief = client_->mutex("brief").acquire({.lease = 100ms, .renew = false});
  bool told = false;
  const std::stop_callback lost(brief->lost(), [&told] { told = true; });
  EXPECT_TRUE(in_a_child([&](Findings& findings) {
    std::this_thread::sleep_for(150ms);
    findings.expect(!told, "nobody is called back");
    findings.expect(!brief->valid(), "it is not valid all the same");
  }));
  EXPECT_TRUE(eventually([&] { return brief->lost().stop_requested(); }));
}

TEST_F(ForkTest, ThenInTheChildIsCalledWithForked_F023) {
  EXPECT_TRUE(in_a_child([this](Findings& findings) {
    int called = 0;
    const auto count = [&](const Result<Hold>& result) {
      findings.expect(!result && result.error() == Errc::forked, "then() says forked");
      ++called;
    };
    mutex_->async_acquire().then(count);
    findings.expect(called == 1, "then() of a new request is called");
    std::move(*waiting_).then(count);
    findings.expect(called == 2, "then() of a waiting result is called");
    std::move(*ready_).then(count);
    findings.expect(called == 3, "then() of a result that is there is called");
  }));
  expect_parent_unharmed();
}

TEST_F(ForkTest, ACoroutineInTheChildGoesOnWithForked_F023) {
  EXPECT_TRUE(in_a_child([this](Findings& findings) {
    int resumed = 0;
    const auto await = [](Pending<Hold> pending, Findings& to, int& count) -> Detached {
      const auto result = co_await std::move(pending);
      to.expect(!result && result.error() == Errc::forked, "co_await says forked");
      ++count;
    };
    await(std::move(*waiting_), findings, resumed);
    findings.expect(resumed == 1, "one that awaits a waiting result goes on");
    await(std::move(*ready_), findings, resumed);
    findings.expect(resumed == 2, "one that awaits a result that is there goes on");
  }));
  expect_parent_unharmed();
}

// Whatever a client is used for.
void use(const Client& client, Findings& findings) {
  auto hold = client.mutex("mine").acquire({.lease = 100ms});
  findings.expect(hold && hold->valid(), "a new client gets a lock");
  findings.expect(client.mutex("mine").try_acquire().error() == Errc::busy, "and keeps it");
  const Signal called;
  client.mutex("other").async_acquire().then([called](const Result<Hold>&) { called.give(); });
  findings.expect(called.comes(), "it calls back");
  findings.expect(hold && hold->release(), "it releases");
  const auto brief = client.mutex("brief").acquire({.lease = 100ms, .renew = false});
  findings.expect(eventually([&] { return brief->lost().stop_requested(); }), "it tells the loss");
}

TEST_F(ForkTest, TheChildMayConnectAnew_F023) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  EXPECT_TRUE(in_a_child([](Findings& findings) {
    const auto client = connect("memory:child");
    findings.expect(client.has_value(), "it connects");
    use(*client, findings);
  }));
  expect_parent_unharmed();
}

TEST_F(ForkTest, TheChildMayConnectAnewToTheSameStore_F023) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  EXPECT_TRUE(in_a_child([](Findings& findings) {
    const auto client = connect("memory:fork");
    findings.expect(client.has_value(), "it connects");
    use(*client, findings);
  }));
  expect_parent_unharmed();
}

TEST_F(ForkTest, AChildsChildIsNoDifferent_F023) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  EXPECT_TRUE(in_a_child([this](Findings& outer) {
    const auto own = connect("memory:child");
    const auto held = own->mutex("lock").acquire();
    outer.expect(
        in_a_child([&](Findings& inner) {
          inner.expect(mutex_->acquire().error() == Errc::forked, "the parent's is forked");
          inner.expect(own->mutex("x").acquire().error() == Errc::forked, "and so is this");
          inner.expect(!held->valid(), "its hold is not valid");
        }),
        "the grandchild is content");
    outer.expect(held->valid() && held->verify(), "the hold stays");
  }));
  expect_parent_unharmed();
}

// The parent's threads hold its mutexes at any moment of which a fork may take a picture.
TEST_F(ForkTest, NothingHangsInTheChildrenOfABusyParent_F023) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's own allocator may be locked in the child of a busy parent";
#endif
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  std::atomic<bool> over{false};
  std::vector<std::thread> busy;
  for (int t = 0; t < 3; ++t) {
    busy.emplace_back([this, &over, t] {
      while (!over) {
        static_cast<void>(client_->mutex("busy").acquire({.wait = 1ms}));
        client_->mutex("then" + std::to_string(t)).async_acquire().then([](const Result<Hold>&) {});
        static_cast<void>(connect("memory:fork")->mutex("busy").try_acquire());
      }
    });
  }
  bool all_well = true;
  for (int i = 0; i < 200 && all_well; ++i) {
    all_well = in_a_child([this](Findings& findings) {
      alarm(20);
      findings.expect(mutex_->acquire().error() == Errc::forked, "acquire says forked");
      findings.expect(hold_->release().error() == Errc::forked, "release says forked");
      waiting_.reset();
      findings.expect(std::move(*ready_).get().error() == Errc::forked, "get says forked");
      const auto anew = connect("memory:fork");
      findings.expect(anew && anew->mutex("of the child").try_acquire(), "it connects anew");
      client_.reset();
    });
  }
  over = true;
  for (auto& thread : busy) thread.join();
  EXPECT_TRUE(all_well);
  expect_parent_unharmed();
}

}  // namespace
}  // namespace holdfast::test
