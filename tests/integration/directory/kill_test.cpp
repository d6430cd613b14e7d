// F028, F120: kill -9 at random moments, over and over. `HOLDFAST_KILLS=500` makes it longer.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "directory_test.hpp"
#include "integration/sqlite/shared_page.hpp"

namespace holdfast::test {
namespace {

constexpr auto kLease = 1500ms;

// What the holder of one lock writes down, for everybody to see.
struct Marked {
  std::atomic<std::uint64_t> holder;    // its process, 0: nobody
  std::atomic<std::uint64_t> greatest;  // the resource: refuses a fence not above all before
  std::atomic<std::uint64_t> turns;
};

struct Board {
  Marked locks[2];
  std::atomic<std::uint64_t> two_holders;
  std::atomic<std::uint64_t> fences_went_back;
  std::atomic<std::uint64_t>
      lost;  // on a busy machine: that process may have been stopped too long
  std::atomic<std::uint64_t> errors;
  char first_error[512];

  void note(const Error& error) {
    if (errors++ == 0) std::strncpy(first_error, error.text().c_str(), sizeof first_error - 1);
  }
};

bool is_alive(std::uint64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string pid, name, state;
  return (file >> pid >> name >> state) && state != "Z" && state != "X";
}

// While the lock is held. The mark of a holder that was killed stays; one that has lost the lock has
// nothing to say any more.
void mark(Board& board, Marked& marked, const Hold& hold, std::mt19937& random) {
  const auto self = static_cast<std::uint64_t>(::getpid());
  const std::uint64_t lost = board.lost;
  const std::uint64_t before = marked.holder.exchange(self);
  const bool met = before != 0 && (before == self || is_alive(before));
  if (hold.fence().value() <= marked.greatest && hold.valid()) ++board.fences_went_back;
  marked.greatest = hold.fence().value();
  ++marked.turns;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
  std::uint64_t expected = self;
  const bool alone = marked.holder.compare_exchange_strong(expected, 0);
  if (!hold.valid()) {
    ++board.lost;
  } else if ((met || !alone) && board.lost == lost) {
    ++board.two_holders;
  }
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
    for (int i = 0; i < 20; ++i) {
      const unsigned which = random() % 2;
      AcquireOptions options{.lease = kLease};
      if (random() % 4 == 0) options.wait = std::chrono::microseconds(random() % 30'000);
      auto hold = client->mutex(which == 0 ? "lock" : "other").acquire(options);
      if (!hold) {
        const Error& error = hold.error();
        if (error != Errc::busy && error != Errc::timed_out) board->note(error);
        continue;
      }
      mark(*board, board->locks[which], *hold, random);
      if (random() % 2 == 0) continue;  // the destructor posts the release
      const auto released = hold->release();
      if (!released && released.error() != Errc::lost) board->note(released.error());
    }
  }
});

using DirectoryKill = DirectoryTest;

TEST_F(DirectoryKill, AtAnyMomentNeverMakesTwoHoldersAndTheNextIsServed_F120) {
  const int kills = times_from("HOLDFAST_KILLS", kSanitized ? 8 : 20);
  const auto seed =
      static_cast<unsigned>(times_from("HOLDFAST_SEED", static_cast<int>(::getpid())));
  std::printf("HOLDFAST_SEED=%u HOLDFAST_KILLS=%d\n", seed, kills);
  std::mt19937 random(seed);
  const TempFolder aside;
  const SharedPage<Board> board(aside / "board", SharedPage<Board>::Make{});
  const auto start = [&] {
    return ChildProcess(kWorks, {url(), aside / "board", std::to_string(random())});
  };
  {
    std::vector<ChildProcess> workers;
    for (int i = 0; i < 5; ++i) workers.push_back(start());
    for (int i = 0; i < kills; ++i) {
      const std::uint64_t turns[] = {board->locks[0].turns, board->locks[1].turns};
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
      ChildProcess& victim = workers[random() % workers.size()];
      victim.kill();
      victim = start();
      for (int which : {0, 1}) {
        ASSERT_TRUE(eventually([&] { return board->locks[which].turns > turns[which]; }))
            << "it goes on after kill " << i << "; " << board->first_error;
      }
    }
  }
  std::printf("%llu + %llu turns, %llu lost\n",
              static_cast<unsigned long long>(board->locks[0].turns.load()),
              static_cast<unsigned long long>(board->locks[1].turns.load()),
              static_cast<unsigned long long>(board->lost.load()));
  EXPECT_EQ(board->two_holders, 0U);
  EXPECT_EQ(board->fences_went_back, 0U);
  EXPECT_EQ(board->errors, 0U) << board->first_error;
  const Client client = open();
  for (const auto& [name, marked] :
       {std::pair{"lock", &board->locks[0]}, std::pair{"other", &board->locks[1]}}) {
    auto hold = client.mutex(name).acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_GT(hold->fence().value(), marked->greatest);
    EXPECT_TRUE(hold->release());
  }
}

// Arguments: URL.
const Role kBegins("begins", [](Parent& parent, const Words& arguments) {
  const auto client = connect(arguments.at(0));
  parent.tell(client && client->mutex("lock").acquire({.lease = 500ms}) ? "well" : "not well");
});

TEST_F(DirectoryKill, WhileTheFolderOfALockIsMadeHindersNobody_F120) {
  std::mt19937 random(static_cast<unsigned>(::getpid()));
  for (int i = 0; i < (kSanitized ? 4 : 10); ++i) {
    ChildProcess victim(kBegins, {url()});
    ChildProcess other(kBegins, {url()});
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    victim.kill();
    EXPECT_EQ(other.hear(), "well");
    EXPECT_EQ(other.exit_code(), 0);
    std::filesystem::remove_all(lock_folder());
  }
}

}  // namespace
}  // namespace holdfast::test
