// acquire_all: several locks as one, or none of them.
#include "holdfast/multi_hold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/effort.hpp"
#include "support/forked_child.hpp"
#include "support/soon.hpp"
#include "support/temp_folder.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Force = HandBench::Force;

static_assert(!std::is_copy_constructible_v<MultiHold> && !std::is_copy_assignable_v<MultiHold>);
static_assert(std::is_nothrow_move_constructible_v<MultiHold> &&
              std::is_nothrow_move_assignable_v<MultiHold>);

// An acquire_all on a thread of its own, which is told to give up should its test end before.
struct Started {
  std::stop_source stop;
  std::future<Result<MultiHold>> result;
  ~Started() { stop.request_stop(); }
};

class Multi : public testing::Test {
 protected:
  std::vector<Mutex> mutexes(std::initializer_list<const char*> names) {
    std::vector<Mutex> all;
    for (const char* name : names) all.push_back(alice_.mutex(name));
    return all;
  }
  std::vector<std::string> held() {
    std::vector<std::string> names;
    for (const auto& lock : bench_.look()) {
      if (!lock.holds.empty()) names.push_back(lock.name.bytes());
    }
    return names;
  }
  Started start(std::vector<Mutex> all, AcquireOptions options) {
    std::stop_source stop;
    options.stop = stop.get_token();
    return {stop, std::async(std::launch::async, [all = std::move(all), how = std::move(options)] {
              return acquire_all(all, how);
            })};
  }
  Started start(std::initializer_list<const char*> names, AcquireOptions options) {
    return start(mutexes(names), std::move(options));
  }
  // In line, and asleep: a claim asks once more behind its watch. Time that passes before would find it
  // in the middle of a question.
  bool waits_for(const char* name) { return waits_for(name, alice_); }
  bool waits_for(const char* name, HandBench::Seat& who) {
    const auto lock = store::LockName::checked(name).value();
    return eventually([&] {
      const auto seen = bench_.look(name);
      return !seen.empty() && !seen[0].line.empty() && who.link().asked(lock) >= 2;
    });
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
  HandBench::Seat& bob_ = bench_.client();
};

TEST_F(Multi, S30_HoldsAllOfThemInTheOrderGiven) {
  auto all = acquire_all(mutexes({"c", "a", "b"}));
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->valid());
  EXPECT_FALSE(all->lost().stop_requested());
  ASSERT_EQ(all->holds().size(), 3U);
  EXPECT_EQ(all->holds()[0].name(), "c");
  EXPECT_EQ(all->holds()[1].name(), "a");
  EXPECT_EQ(all->holds()[2].name(), "b");
  for (const Hold& hold : all->holds()) EXPECT_TRUE(hold.verify());
  EXPECT_THAT(held(), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(all->release());
  EXPECT_FALSE(all->valid());
  EXPECT_EQ(all->remaining(), 0s);
  EXPECT_FALSE(all->lost().stop_requested());
  EXPECT_TRUE(bench_.is_empty());
  EXPECT_EQ(all->release().error(), Errc::not_owner);
}

TEST_F(Multi, GoesWithItsDestructorAndMoves) {
  std::optional<MultiHold> first(acquire_all(mutexes({"a", "b"})).value());
  MultiHold second = std::move(*first);
  EXPECT_FALSE(first->valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first->remaining(), 0s);
  first.reset();
  EXPECT_TRUE(second.valid());
  second = acquire_all(mutexes({"c"})).value();
  bench_.settle();
  EXPECT_THAT(held(), ElementsAre("c"));
}

TEST_F(Multi, RefusesNoLocksAndOneLockTwice) {
  const auto none = acquire_all({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), Errc::invalid_argument);

  for (const auto& twice :
       {mutexes({"a", "b", "a"}), std::vector{alice_.mutex("a"), bob_.mutex("a")}}) {
    const auto all = acquire_all(twice);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error(), Errc::invalid_argument);
    EXPECT_EQ(all.error().detail().lock, "a");
    EXPECT_THAT(all.error().text(), HasSubstr("\"a\""));
  }
  EXPECT_EQ(alice_.link().counts().all(), 0U) << "nobody was asked";
}

// ---- all or nothing ----

TEST_F(Multi, S30_OneIsBusyNoneIsKept) {
  for (const char* busy : {"a", "b", "c"}) {
    const auto held_by_bob = bob_.mutex(busy).acquire();
    const auto all = acquire_all(mutexes({"b", "c", "a"}), {.wait = 0s});
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error(), Errc::busy);
    EXPECT_EQ(all.error().detail().lock, busy);
    EXPECT_TRUE(all.error().detail().holder.has_value());
    EXPECT_THAT(held(), ElementsAre(busy));
  }
}

TEST_F(Multi, OneCannotBeNoneIsKept) {
  const auto all = acquire_all(std::vector{alice_.mutex("a"), alice_.mutex(std::string(513, 'x'))});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error(), Errc::invalid_name);
  EXPECT_TRUE(bench_.is_empty());
  EXPECT_EQ(acquire_all(mutexes({"a"}), {.lease = 1s, .max_hold = 0s}).error(),
            Errc::invalid_argument);
}

TEST_F(Multi, S30_HasOneDeadlineForAll) {
  std::optional<Hold> first(bob_.mutex("a").acquire().value());
  const auto second = bob_.mutex("b").acquire();
  auto all = start({"b", "a"}, {.wait = 10s});
  ASSERT_TRUE(waits_for("a"));
  bench_.let_pass(6s);
  first.reset();
  bench_.settle();
  ASSERT_TRUE(waits_for("b"));
  bench_.let_pass(3900ms);
  EXPECT_EQ(all.result.wait_for(20ms), std::future_status::timeout);
  bench_.let_pass(200ms);
  ASSERT_TRUE(comes(all.result));
  const auto result = all.result.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::timed_out);
  EXPECT_EQ(result.error().detail().lock, "b");
  EXPECT_THAT(held(), ElementsAre("b"));
}

TEST_F(Multi, StopsWaitingWhenItIsTold) {
  const auto busy = bob_.mutex("b").acquire();
  auto all = start({"a", "b"}, {});
  ASSERT_TRUE(waits_for("b"));
  EXPECT_THAT(held(), ElementsAre("a", "b"));
  all.stop.request_stop();
  ASSERT_TRUE(comes(all.result));
  const auto result = all.result.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::cancelled);
  EXPECT_EQ(result.error().detail().lock, "b");
  bench_.settle();
  EXPECT_THAT(held(), ElementsAre("b"));
  EXPECT_EQ(acquire_all(mutexes({"x", "y"}), {.stop = all.stop.get_token()}).error(),
            Errc::cancelled);
}

TEST_F(Multi, DoesNotWaitForTheNextOnceOneIsLost) {
  const auto busy = bob_.mutex("b").acquire();
  auto all = start({"a", "b"}, {.lease = 1s, .max_hold = 5s});
  ASSERT_TRUE(waits_for("b"));
  bench_.let_pass(5s);
  ASSERT_TRUE(comes(all.result));
  const auto result = all.result.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::lost);
  EXPECT_EQ(result.error().detail().lock, "a");
  EXPECT_THAT(result.error().text(), HasSubstr("max_hold"));
  bench_.settle();
  EXPECT_THAT(held(), ElementsAre("b"));
  EXPECT_TRUE(bench_.look("b")[0].line.empty());
}

TEST_F(Multi, IsNotGivenWhatWasLostBeforeTheLastWasHad) {
  std::optional<Hold> busy(bob_.mutex("b").acquire().value());
  auto all = start({"a", "b"}, {.lease = 1s, .renew = false});
  ASSERT_TRUE(waits_for("b"));
  bench_.oversleep(1s);  // nobody runs who could tell
  busy.reset();
  bench_.settle();
  ASSERT_TRUE(comes(all.result));
  const auto result = all.result.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::lost);
  bench_.settle();
  EXPECT_TRUE(bench_.is_empty());
}

// ---- loss ----

TEST_F(Multi, S30_OneMemberIsLostTheWholeIsLost) {
  for (const std::size_t lost : {0U, 1U, 2U}) {
    auto all = acquire_all(mutexes({"c", "a", "b"}), {.lease = 30s});
    ASSERT_TRUE(all);
    int told = 0;
    const std::stop_callback tell(all->lost(), [&] { ++told; });
    ASSERT_TRUE(bench_.force(all->holds()[lost], Force::free_now));
    bench_.let_pass(15s);
    EXPECT_FALSE(all->valid());
    EXPECT_EQ(all->remaining(), 0s);
    EXPECT_EQ(told, 1);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all->holds()[i].valid(), i != lost);
    const auto released = all->release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error(), Errc::lost);
    EXPECT_EQ(released.error().detail().lock, all->holds()[lost].name());
    EXPECT_TRUE(bench_.is_empty()) << "the others were released";
  }
}

TEST_F(Multi, IsValidUntilTheEarliestOfItsMembers) {
  const auto busy = bob_.mutex("b").acquire();
  auto started = start({"a", "b"}, {.lease = 30s, .renew = false});
  ASSERT_TRUE(waits_for("b"));
  bench_.let_pass(10s);
  ASSERT_TRUE(bench_.force(*busy, Force::free_now));
  bench_.let_pass(5s);
  ASSERT_TRUE(comes(started.result));
  const auto all = started.result.get();
  ASSERT_TRUE(all);
  EXPECT_LT(all->holds()[0].valid_until(), all->holds()[1].valid_until());
  EXPECT_EQ(all->valid_until(), all->holds()[0].valid_until());
  EXPECT_EQ(all->remaining(), all->holds()[0].remaining());
  bench_.oversleep(all->remaining() - 1ns);
  EXPECT_TRUE(all->valid());
  bench_.oversleep(1ns);
  EXPECT_FALSE(all->valid());
  EXPECT_TRUE(all->holds()[1].valid());
}

TEST_F(Multi, MayBeDestroyedByItsLostCallback_F040) {
  std::optional<MultiHold> all(acquire_all(mutexes({"a", "b"}), {.lease = 1s}).value());
  bool told = false;
  std::optional<std::stop_callback<std::function<void()>>> tell;
  tell.emplace(all->lost(), [&] {
    all.reset();
    told = true;
  });
  ASSERT_TRUE(bench_.force(all->holds()[0], Force::free_now));
  bench_.let_pass(1s);
  EXPECT_TRUE(told);
  EXPECT_TRUE(bench_.is_empty());
}

TEST_F(Multi, SaysSoIfItCouldNotGiveBackWhatItHad) {
  const auto busy = bob_.mutex("b").acquire();
  HandBench::Seat& carol = bench_.client();
  auto all = start(std::vector{alice_.mutex("a"), carol.mutex("b")}, {.wait = 10s});
  ASSERT_TRUE(waits_for("b", carol));
  alice_.link().set(Link::down);
  bench_.let_pass(10s);  // "b" is given up, and then "a" is to be released
  ASSERT_TRUE(eventually([&] { return alice_.link().counts().release >= 1; }));
  bench_.let_pass(5s);
  ASSERT_TRUE(comes(all.result));
  const auto result = all.result.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Outcome::maybe_held);
  EXPECT_EQ(result.error().detail().lock, "b") << "that could not be had";
  EXPECT_THAT(result.error().text(), testing::StartsWith("unknown: \"a\""));
  EXPECT_THAT(result.error().text(), HasSubstr("timed_out: \"b\""));
  alice_.link().set(Link::up);
  bench_.let_pass(5s);
  EXPECT_THAT(held(), ElementsAre("b"));
}

// ---- the order ----

class Recorder final : public Observer {
 public:
  void on_event(const LockEvent& event) override {
    if (event.what == LockEvent::What::acquired) taken.push_back(event.lock);
    if (event.what == LockEvent::What::released) released.push_back(event.lock);
  }
  std::vector<std::string> taken;
  std::vector<std::string> released;
};

TEST_F(Multi, TakesByNameAndReleasesInReverse) {
  const auto recorder = std::make_shared<Recorder>();
  HandBench::Seat& seat = bench_.client({.observer = recorder});
  auto all = acquire_all(std::vector{seat.mutex("b"), seat.mutex("c"), seat.mutex("a")});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->release());
  bench_.settle();
  EXPECT_THAT(recorder->taken, ElementsAre("a", "b", "c"));
  EXPECT_THAT(recorder->released, ElementsAre("c", "b", "a"));
}

// ---- several stores ----

// Three clients of three stores, seen by others of the same.
class MultiStores : public testing::Test {
 protected:
  std::vector<Mutex> mutexes(std::initializer_list<std::size_t> order) {
    std::vector<Mutex> all;
    for (const std::size_t i : order) all.push_back(clients_[i].mutex("lock"));
    return all;
  }
  bool is_held(std::size_t i) { return !others_[i].inspect().value().empty(); }

  TempFolder folder_;
  std::array<std::string, 3> urls_{"memory:multi", "sqlite:" + folder_ / "one.db",
                                   "sqlite:" + folder_ / "two.db"};
  std::array<Client, 3> clients_{connect(urls_[0]).value(), connect(urls_[1]).value(),
                                 connect(urls_[2]).value()};
  std::array<Client, 3> others_{connect(urls_[0]).value(), connect(urls_[1]).value(),
                                connect(urls_[2]).value()};
};

TEST_F(MultiStores, S30_LocksOfOneNameAreDifferentOnes) {
  auto all = acquire_all(mutexes({2, 0, 1}));
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->valid());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(is_held(i));
  EXPECT_TRUE(all->release());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(is_held(i));
}

TEST_F(MultiStores, S30_OneIsBusyNoneIsKept) {
  for (std::size_t busy = 0; busy < 3; ++busy) {
    for (const Duration wait : {Duration(0), Duration(30ms)}) {
      auto held = others_[busy].mutex("lock").acquire();
      ASSERT_TRUE(held);
      const auto all = acquire_all(mutexes({0, 1, 2}), {.wait = wait});
      ASSERT_FALSE(all);
      EXPECT_EQ(all.error(), wait > 0s ? Errc::timed_out : Errc::busy);
      EXPECT_EQ(all.error().detail().lock, "lock");
      EXPECT_TRUE(held->release());
      for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(is_held(i)) << i << " of busy " << busy;
    }
  }
}

TEST_F(MultiStores, S30_OneMemberIsLostTheWholeIsLost) {
  auto all = acquire_all(mutexes({0, 1, 2}), {.lease = 300ms});
  ASSERT_TRUE(all);
  const Signal lost;
  const std::stop_callback tell(all->lost(), [&] { lost.give(); });
  ASSERT_TRUE(others_[1].force_release("lock", {.fence = all->holds()[1].fence(), .now = true}));
  ASSERT_TRUE(lost.comes());
  EXPECT_FALSE(all->valid());
  EXPECT_EQ(all->release().error(), Errc::lost);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(is_held(i));
}

TEST_F(MultiStores, FindOneLockOfTwoClientsGivenTwice) {
  const Client same = connect("sqlite://" + folder_ / "one.db?mode=0600").value();
  const auto all = acquire_all(std::vector{clients_[1].mutex("lock"), same.mutex("lock")});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error(), Errc::invalid_argument);
  EXPECT_TRUE(acquire_all(std::vector{clients_[1].mutex("lock"), same.mutex("lock 2")}));
}

// ---- threads ----

// Two threads that want the same locks, named in opposite orders: 10,000 rounds in all.
void expect_no_deadlock(const Mutex& one, const Mutex& two, int rounds) {
  int plain = 0;
  const auto work = [&](const std::array<Mutex, 2>& order) {
    for (int i = 0; i < rounds; ++i) {
      auto both = acquire_all(order, {.wait = kSoon});
      ASSERT_TRUE(both) << both.error().text();
      ++plain;
      ASSERT_TRUE(both->release());
    }
  };
  std::thread thread(work, std::array{one, two});
  work(std::array{two, one});
  thread.join();
  EXPECT_EQ(plain, 2 * rounds);
}

TEST(MultiThreads, S30_OppositeOrdersOfOneClientNeverDeadlock) {
  const Client client = connect("memory:multi threads").value();
  expect_no_deadlock(client.mutex("a"), client.mutex("b"), kSanitized ? 2'000 : 10'000);
  EXPECT_TRUE(client.inspect().value().empty());
}

TEST(MultiThreads, S30_OppositeOrdersOfTwoStoresNeverDeadlock) {
  const Client here = connect("memory:multi here").value();
  const Client there = connect("memory:multi there").value();
  expect_no_deadlock(here.mutex("b"), there.mutex("a"), 1'000);
  EXPECT_TRUE(here.inspect().value().empty());
  EXPECT_TRUE(there.inspect().value().empty());
}

// The parent forks in the middle of a lost() callback, which never ends in the child.
TEST(MultiFork, TheChildHasNothing_F023) {
  const Signal begun;
  const Signal may_end;
  const Client client = connect("memory:multi fork").value();
  std::optional<MultiHold> all(
      acquire_all(std::array{client.mutex("a"), client.mutex("b")}, {.lease = 300ms}).value());
  const std::stop_callback tell(all->lost(), [&] {
    begun.give();
    EXPECT_TRUE(may_end.comes());
  });
  ASSERT_TRUE(client.force_release("a", {.fence = all->holds()[0].fence(), .now = true}));
  ASSERT_TRUE(begun.comes());
  EXPECT_TRUE(holds_in_child([&] {
    const bool nothing = !all->valid() && all->release().error() == Errc::forked &&
                         acquire_all(std::array{client.mutex("c")}).error() == Errc::forked;
    all.reset();
    return nothing;
  }));
  may_end.give();
  EXPECT_TRUE(all->holds()[1].verify());
}

}  // namespace
}  // namespace holdfast::test
