// F125: several clients of one file in one process. POSIX file locks belong to the process, and closing
// any descriptor of a file gives all of them up: none of ours may be closed while another is in use.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>

#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

// Arguments: the database. Tells whether it could write to it.
const Role kWrites("writes", [](Parent& parent, const Words& arguments) {
  RawDatabase raw(arguments.at(0));
  raw.run("PRAGMA busy_timeout = 100");
  parent.tell(raw.run("BEGIN IMMEDIATE") ? "writes" : "cannot");
});

class SqliteOneProcess : public SqliteTest {
 protected:
  std::string what_another_process_does() const {
    return ChildProcess(kWrites, {database()}).hear();
  }
};

TEST_F(SqliteOneProcess, AClientThatGoesTakesNobodysFileLocksAway_F125) {
  std::optional<Client> before = open();
  ASSERT_TRUE(before->mutex("lock").acquire());
  RawDatabase writer(database());
  writer.must("BEGIN IMMEDIATE");
  EXPECT_EQ(what_another_process_does(), "cannot");
  before.reset();
  EXPECT_EQ(what_another_process_does(), "cannot") << "one that was there has gone";
  for (int i = 0; i < 3; ++i) {
    const Client passing = open();
    static_cast<void>(passing.inspect());
    static_cast<void>(passing.examine());
  }
  EXPECT_EQ(what_another_process_does(), "cannot") << "others have come and gone";
  ::close(::open((database() + "-shm").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(what_another_process_does(), "writes") << "what closing it by hand would do";
}

// Arguments: URL. Tells of its first turn, and goes on until it is told to end.
const Role kTakesTurns("takes turns", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  std::atomic<bool> enough = false;
  std::thread ear([&] {
    parent.hear();
    enough = true;
  });
  bool told = false;
  while (!enough) {
    const bool had_a_turn = client.mutex("lock").acquire().has_value();
    if (had_a_turn && !std::exchange(told, true)) parent.tell("a turn");
  }
  ear.join();
});

TEST_F(SqliteOneProcess, ComingAndGoingLeavesTheFileWhole_F125) {
  make();
  ChildProcess other(kTakesTurns, {url()});
  std::atomic<bool> enough = false;
  const Client stays = open();
  std::thread writer([&] {
    while (!enough) ASSERT_TRUE(stays.mutex("lock").acquire());
  });
  EXPECT_EQ(other.hear(), "a turn");
  for (int i = 0; i < (kSanitized ? 10 : 60); ++i) {
    const Client passing = open();
    auto hold = passing.mutex("another").acquire();
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->verify());
  }
  enough = true;
  writer.join();
  other.tell("end");
  EXPECT_EQ(other.exit_code(), 0);
  RawDatabase raw(database());
  EXPECT_EQ(raw.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
            1);
}

}  // namespace
}  // namespace holdfast::test
