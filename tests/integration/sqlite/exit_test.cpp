// F038: a process that exits while a client ends on a thread of its own.
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

class SqliteExit : public SqliteTest {
 protected:
  // Nobody takes over from the dead here: what is there was left behind.
  void expect_all_given_back() const {
    EXPECT_EQ(session_files(), std::vector<std::string>());
    RawDatabase raw(database());
    EXPECT_EQ(raw.number("SELECT count(*) FROM lock WHERE client IS NOT NULL"), 0);
    EXPECT_EQ(raw.number("SELECT count(*) FROM session"), 0);
  }
};

// Returns from main() as soon as a callback has let go of the client and of what it holds.
const Role kLeaver("leaver", [](Parent&, const Words& arguments) {
  std::optional<Client> client(connect(arguments.front()).value());
  std::optional<Hold> held(client->mutex("held").acquire().value());
  std::optional<Hold> lapses(
      client->mutex("lapses").acquire({.lease = 100ms, .renew = false}).value());
  const Signal gone;
  const std::stop_callback react(lapses->lost(), [&] {
    held.reset();
    client.reset();
    lapses.reset();
    gone.give();
  });
  if (!gone.comes()) throw std::runtime_error("nothing was lost");
});

TEST_F(SqliteExit, WaitsForAClientThatEndsOnItsOwnThread_F038) {
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    ChildProcess leaver(kLeaver, {url()});
    EXPECT_EQ(leaver.exit_code(), 0);
    expect_all_given_back();
  }
}

// Returns from main() as soon as a callback has said that it has the lock, while that one is about to return. Its Hold
// is the last of the client.
const Role kTold("told", [](Parent&, const Words& arguments) {
  const Signal told;
  const Client client = connect(arguments.front()).value();
  client.mutex("held").async_acquire().then([told](const Result<Hold>&) {
    told.give();
    std::this_thread::sleep_for(50ms);
  });
  if (!told.comes()) throw std::runtime_error("nothing was told");
});

TEST_F(SqliteExit, WaitsForACallbackThatIsJustReturning_F038) {
  ChildProcess told(kTold, {url()});
  EXPECT_EQ(told.exit_code(), 0);
  expect_all_given_back();
}

// The client and what it holds are static, and whoever loses one lock ends the process: a callback, for which the end of
// the client has to wait. It must not wait for that end in turn, however patient the client is.
const Role kQuitter("quitter", [](Parent&, const Words& arguments) {
  static std::optional<Client> client;
  static std::optional<Hold> held;
  client.emplace(connect(arguments.front(), {.close_within = 24h}).value());
  held.emplace(client->mutex("held").acquire().value());
  static const Hold lapses =
      client->mutex("lapses").acquire({.lease = 100ms, .renew = false}).value();
  static const std::stop_callback react(lapses.lost(), [] { std::exit(0); });
  std::this_thread::sleep_for(kSoon);
  throw std::runtime_error("nothing was lost");
});

TEST_F(SqliteExit, ACallbackThatEndsTheProcessGivesBackWhatIsStatic_F038) {
  for (int round = 0; round < 10 && !HasFailure(); ++round) {
    ChildProcess quitter(kQuitter, {url()});
    EXPECT_EQ(quitter.exit_code(), 0);
    expect_all_given_back();
  }
}

}  // namespace
}  // namespace holdfast::test
