#include "support/processes/kills.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/shared_page.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {
namespace {

constexpr std::array kNames{"lock", "other"};

// What the holder of one lock writes down, for everybody to see.
struct Marked {
  std::atomic<std::uint64_t> holder;    // its process, 0: nobody
  std::atomic<std::uint64_t> greatest;  // the resource: refuses a fence not above all before
  std::atomic<std::uint64_t> turns;
};

struct Board {
  Kills plan;
  Marked locks[kNames.size()];
  std::atomic<std::uint64_t> two_holders;
  std::atomic<std::uint64_t> fences_went_back;
  std::atomic<std::uint64_t> lost;
  std::atomic<std::uint64_t> errors;
  char first_error[512];

  void note(const Error& error) {
    if (errors++ == 0) std::strncpy(first_error, error.text().c_str(), sizeof first_error - 1);
  }
};

bool is_dead(std::uint64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string pid, name, state;
  return !(file >> pid >> name >> state) || state == "Z" || state == "X";
}

// Whoever is killed loses its descriptors a moment before it can be seen to be dead.
bool is_dying(std::uint64_t process) {
  const Stopwatch watch;
  while (!is_dead(process)) {
    if (watch.elapsed() >= std::chrono::seconds(5)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Whether the mark that we found is one too many. Where the lease frees a lock, a living process may
// have lost it and not know yet; if it has not, it will find our mark in place of its own.
bool is_holder(std::uint64_t process, Freed freed) {
  if (process == 0) return false;
  if (process == static_cast<std::uint64_t>(::getpid())) return true;
  return freed == Freed::at_death && !is_dying(process);
}

std::chrono::microseconds up_to(std::chrono::microseconds most, std::mt19937& random) {
  return std::chrono::microseconds(random() % static_cast<std::uint64_t>(most.count()));
}

// While the lock is held. The mark of a holder that was killed stays; one that has lost the lock has
// nothing to say any more.
void mark(Board& board, Marked& marked, const Hold& hold, std::mt19937& random) {
  const auto self = static_cast<std::uint64_t>(::getpid());
  const std::uint64_t lost = board.lost;
  const std::uint64_t before = marked.holder.exchange(self);
  const bool met = is_holder(before, board.plan.freed);
  if (hold.fence().value() <= marked.greatest && hold.valid()) ++board.fences_went_back;
  marked.greatest = hold.fence().value();
  ++marked.turns;
  std::this_thread::sleep_for(up_to(board.plan.turn, random));
  std::uint64_t expected = self;
  const bool alone = marked.holder.compare_exchange_strong(expected, 0);
  if (!hold.valid()) {
    ++board.lost;
  } else if ((met || !alone) && board.lost == lost) {
    ++board.two_holders;
  }
}

void take_a_turn(const Client& client, Board& board, std::mt19937& random) {
  const Kills& plan = board.plan;
  const std::size_t which = random() % kNames.size();
  AcquireOptions options{.lease = plan.lease};
  if (random() % 4 == 0) options.wait = up_to(5 * plan.turn, random);
  if (plan.strict_order && random() % 4 == 0) options.order = Order::fifo;
  auto hold = client.mutex(kNames[which]).acquire(options);
  if (!hold) {
    const Error& error = hold.error();
    if (error != Errc::busy && error != Errc::timed_out) board.note(error);
    return;
  }
  mark(board, board.locks[which], *hold, random);
  if (random() % 2 == 0) return;  // the destructor posts the release
  const auto released = hold->release();
  const bool may_be_lost = plan.freed == Freed::by_the_lease;
  if (released || (may_be_lost && released.error() == Errc::lost)) return;
  board.note(released.error());
}

// Arguments: URL, the file of the board, a seed.
const Role kWorks("works", [](Parent&, const Words& arguments) {
  SharedPage<Board> board(arguments.at(1));
  std::mt19937 random(static_cast<unsigned>(std::stoul(arguments.at(2))));
  while (true) {
    const auto client = connect(arguments.at(0));
    if (!client) {
      board->note(client.error());
      return;
    }
    for (int i = 0; i < 20; ++i) take_a_turn(*client, *board, random);
  }
});

void kill_workers(const std::string& url, const std::string& file, const Board& board,
                  std::mt19937& random) {
  const auto start = [&] { return ChildProcess(kWorks, {url, file, std::to_string(random())}); };
  std::vector<ChildProcess> workers;
  for (int i = 0; i < 5; ++i) workers.push_back(start());
  for (int i = 0; i < board.plan.times && board.two_holders == 0; ++i) {
    const std::uint64_t turns[] = {board.locks[0].turns, board.locks[1].turns};
    std::this_thread::sleep_for(up_to(30 * board.plan.turn, random));
    ChildProcess& victim = workers[random() % workers.size()];
    ASSERT_TRUE(victim.running()) << "a crash? " << board.first_error;
    victim.kill();
    victim = start();
    for (const std::size_t which : {0U, 1U}) {
      ASSERT_TRUE(eventually([&] { return board.locks[which].turns > turns[which]; }))
          << "it goes on after kill " << i << "; " << board.first_error;
    }
  }
}

void expect_free(const Client& client, const Board& board) {
  for (std::size_t which = 0; which < kNames.size(); ++which) {
    const Mutex mutex = client.mutex(kNames[which]);
    auto hold =
        board.plan.freed == Freed::at_death ? mutex.try_acquire() : mutex.acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_GT(hold->fence().value(), board.locks[which].greatest);
    EXPECT_TRUE(hold->release());
  }
}

}  // namespace

void expect_one_holder_whoever_is_killed(const std::string& url, const Kills& plan) {
  const TempFolder aside;
  const SharedPage<Board> board(aside / "board", SharedPage<Board>::Make{});
  board->plan = plan;
  board->plan.times = times_from("HOLDFAST_KILLS", plan.times);
  const unsigned seed = chosen_seed();
  std::printf("HOLDFAST_SEED=%u HOLDFAST_KILLS=%d\n", seed, board->plan.times);
  std::mt19937 random(seed);
  kill_workers(url, aside / "board", *board, random);
  std::printf("%llu + %llu turns, %llu lost\n",
              static_cast<unsigned long long>(board->locks[0].turns.load()),
              static_cast<unsigned long long>(board->locks[1].turns.load()),
              static_cast<unsigned long long>(board->lost.load()));
  EXPECT_EQ(board->two_holders, 0U);
  EXPECT_EQ(board->fences_went_back, 0U);
  EXPECT_EQ(board->errors, 0U) << board->first_error;
  if (plan.freed == Freed::at_death) {
    EXPECT_EQ(board->lost, 0U);
  }
  expect_free(connect(url).value(), *board);
}

// ---- beginners ----

namespace {

// Arguments: URL, lease in ms.
const Role kBegins("begins", [](Parent& parent, const Words& arguments) {
  const std::chrono::milliseconds lease(std::stoi(arguments.at(1)));
  parent.tell("begins");
  const auto client = connect(arguments.at(0));
  parent.tell(client && client->mutex("lock").acquire({.lease = lease}) ? "well" : "not well");
});

}  // namespace

void expect_beginners_unhindered(const std::string& url, const Beginners& plan,
                                 const std::function<void()>& make_unused) {
  const unsigned seed = chosen_seed();
  std::printf("HOLDFAST_SEED=%u\n", seed);
  std::mt19937 random(seed);
  const Words arguments{url, std::to_string(plan.lease.count())};
  for (int i = 0; i < plan.times; ++i) {
    ChildProcess other(kBegins, arguments);
    ChildProcess victim(kBegins, arguments);
    EXPECT_EQ(other.hear(), "begins");
    EXPECT_EQ(victim.hear(), "begins");
    std::this_thread::sleep_for(up_to(plan.within, random));
    victim.kill();
    EXPECT_EQ(other.hear(), "well");
    EXPECT_EQ(other.exit_code(), 0);
    make_unused();
  }
}

}  // namespace holdfast::test
