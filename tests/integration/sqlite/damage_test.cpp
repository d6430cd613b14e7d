// F123, F127, F128: the file is taken away, exchanged or damaged. What is broken is never taken for
// what is empty.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "sqlite_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class SqliteFile : public SqliteTest {
 protected:
  // While nobody in this process has it open.
  std::string content() const {
    std::ifstream file(database(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Behind that there is only room.
  std::size_t used() const {
    return 4096 * static_cast<std::size_t>(RawDatabase(database()).number("PRAGMA page_count"));
  }
  void write(const std::string& bytes) const {
    std::ofstream(database(), std::ios::binary | std::ios::trunc) << bytes;
  }

  // A client does not look with every single grant.
  static bool is_missed_by(const Client& client) {
    return eventually([&] {
      const auto hold = client.mutex("other").try_acquire();
      return !hold && hold.error().errc() == Errc::store_corrupt;
    });
  }

  // A client that holds "lock" when something happens to the file.
  void expect_noticed(const std::function<void()>& happens) {
    const Client client = open();
    auto hold = client.mutex("lock").acquire({.lease = 600ms});
    ASSERT_TRUE(hold);
    happens();
    ASSERT_TRUE(is_missed_by(client));
    const auto more = client.mutex("other").try_acquire();
    ASSERT_TRUE(fails_with(Errc::store_corrupt, more));
    EXPECT_THAT(more.error().text(), HasSubstr("removed or replaced"));
    EXPECT_TRUE(fails_with(Errc::store_corrupt, client.mutex("other").acquire({.wait = kSoon})));
    EXPECT_TRUE(fails_with(Errc::store_corrupt, client.inspect()));
    EXPECT_TRUE(fails_with(Errc::store_corrupt, client.examine()));
    EXPECT_TRUE(eventually([&] { return hold->lost().stop_requested(); })) << "the next renewal";
    EXPECT_FALSE(hold->valid());
    EXPECT_TRUE(fails_with(Errc::lost, hold->release()));
  }
};

TEST_F(SqliteFile, IsMissedWhenRemovedWhileOpen_F123) {
  expect_noticed([&] { std::filesystem::remove(database()); });
}

TEST_F(SqliteFile, IsMissedWhenRenamedWhileOpen_F123) {
  expect_noticed([&] { std::filesystem::rename(database(), database() + ".old"); });
}

TEST_F(SqliteFile, IsRefusedWhenReplacedWhileOpen_F123) {
  make();
  std::filesystem::copy_file(database(), database() + ".copy");
  expect_noticed([&] { std::filesystem::rename(database() + ".copy", database()); });
}

TEST_F(SqliteFile, IsMissedTogetherWithItsWholeFolder_F123) {
  expect_noticed([&] {
    std::filesystem::rename(database(), folder() + "/gone");
    std::filesystem::remove_all(sessions());
  });
}

// They look like something temporary. Without them the next to come would see an older state, and
// whoever has them open would go on in a state of its own.
TEST_F(SqliteFile, IsMissedWhenItsLogIsRemovedWhileOpen_F123) {
  expect_noticed([&] { std::filesystem::remove(database() + "-wal"); });
}

TEST_F(SqliteFile, IsMissedWhenTheIndexOfItsLogIsRemovedWhileOpen_F123) {
  expect_noticed([&] { std::filesystem::remove(database() + "-shm"); });
}

TEST_F(SqliteFile, WhoseLogWasRemovedGivesNobodyALastingSecondLock_F123) {
  const Client client = open(), other = open();
  const auto hold = client.mutex("lock").acquire({.lease = 600ms});
  ASSERT_TRUE(hold);
  for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(database() + end);
  EXPECT_TRUE(fails_with(Errc::store_corrupt, other.mutex("lock").try_acquire()));
  EXPECT_TRUE(eventually([&] { return hold->lost().stop_requested(); }));
}

TEST_F(SqliteFile, CanBeMadeAnewAfterItWasRemoved_F123) {
  std::optional<Client> before = open();
  ASSERT_TRUE(before->mutex("lock").acquire());
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database() + end);
  const Client after = open();
  EXPECT_TRUE(after.mutex("lock").acquire());
  EXPECT_TRUE(is_missed_by(*before));
  EXPECT_TRUE(fails_with(Errc::store_corrupt, before->mutex("lock").try_acquire()));
  before.reset();
  EXPECT_TRUE(after.mutex("lock").acquire()) << "whoever had the old one takes nothing along";
}

// Arguments: URL, how many locks to take, with long names. Tells when it has them.
const Role kTakesMany("takes many", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  std::vector<Hold> holds;
  for (int i = 0; i < std::stoi(arguments.at(1)); ++i) {
    holds.push_back(client.mutex(std::string(400, 'n') + std::to_string(i)).acquire().value());
  }
  parent.tell("held");
  parent.hear();
});

// Somebody tidies up, and leaves a log that belongs to nothing. SQLite would play it back.
TEST_F(SqliteFile, IsNotMadeAnewFromTheLogOfARemovedOne_F123) {
  {
    ChildProcess many(kTakesMany, {url(), "200"});
    ASSERT_EQ(many.hear(), "held");
    many.tell("end");
    ASSERT_EQ(many.exit_code(), 0);
  }
  {
    ChildProcess more(kTakesMany, {url(), "240"});
    ASSERT_EQ(more.hear(), "held");
  }
  ASSERT_GT(std::filesystem::file_size(database() + "-wal"), 0U);
  std::filesystem::remove(database());
  const auto client = connect(url());
  ASSERT_TRUE(client) << client.error().text();
  auto hold = client->mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(hold) << hold.error().text();
  RawDatabase raw(database());
  EXPECT_EQ(raw.number("SELECT count(*) FROM lock"), 1) << "none of the old ones";
  EXPECT_EQ(raw.number("SELECT count(*) FROM session"), 1);
  EXPECT_EQ(raw.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
            1);
}

// ---- damage while nobody looks ----

TEST_F(SqliteFile, IsNotTakenForNewWhenItIsEmpty_F127) {
  make();
  write("");
  EXPECT_TRUE(fails_with(Errc::store_corrupt, connect(url())));
  EXPECT_EQ(std::filesystem::file_size(database()), 0U) << "left as it was, for whoever looks";
}

TEST_F(SqliteFile, IsRefusedWhenItsHeaderIsGarbage_F127) {
  make();
  std::string bytes = content();
  for (std::size_t i = 0; i < 100; ++i) bytes[i] = static_cast<char>(i * 7 + 1);
  write(bytes);
  EXPECT_TRUE(fails_with(Errc::store_corrupt, connect(url())));
  write("This is a shopping list, not a database.\n");
  EXPECT_TRUE(fails_with(Errc::store_corrupt, connect(url())));
}

TEST_F(SqliteFile, IsRefusedWhenItIsCutShort_F127) {
  make();
  const std::string whole = content().substr(0, used());
  for (const std::size_t size : {50UL, 100UL, 512UL, 4096UL, whole.size() / 2}) {
    write(whole.substr(0, size));
    const auto client = connect(url());
    const auto hold = client ? client->mutex("lock").try_acquire() : client.error();
    EXPECT_TRUE(fails_with(Errc::store_corrupt, hold)) << size << " bytes";
  }
}

// The first byte of a page says what is in it.
TEST_F(SqliteFile, IsRefusedWhenAPageIsNotWhatItShouldBe_F127) {
  make();
  const std::string whole = content().substr(0, used());
  ASSERT_EQ(whole.size() % 4096, 0U);
  ASSERT_GT(whole.size() / 4096, 4U);
  for (std::size_t page = 1; page < whole.size() / 4096; ++page) {
    std::string bytes = whole;
    bytes[page * 4096] ^= 0x40;
    write(bytes);
    const auto client = connect(url());
    const auto hold = client ? client->mutex("lock").try_acquire() : client.error();
    if (hold) {  // who waits does not matter to one who finds the lock free, nor do cells
      EXPECT_TRUE(fails_with(Errc::store_corrupt, client->inspect()) ||
                  fails_with(Errc::store_corrupt, client->versioned("cell").write("value", 0)))
          << "page " << page + 1;
    } else {
      EXPECT_TRUE(fails_with(Errc::store_corrupt, hold)) << "page " << page + 1;
    }
  }
}

// A flipped bit may go unnoticed where it changes a number; it may not crash or hang anybody.
TEST_F(SqliteFile, WithAFlippedBitAnywhereCrashesNobody_F127) {
  {
    const Client client = open();
    for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(client.mutex(name).acquire());
  }
  const std::string whole = content().substr(0, used());
  std::mt19937 random(7);
  int refused = 0;
  constexpr int kFlips = kSanitized ? 40 : 120;
  for (int i = 0; i < kFlips; ++i) {
    std::string bytes = whole;
    // Half of them in what is most easily broken: headers and the cells at the pages' ends.
    const std::size_t at = i % 2 == 0 ? random() % bytes.size()
                                      : (random() % (bytes.size() / 4096)) * 4096 + random() % 128;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(database() + end);
    write(bytes);
    const auto client = connect(url(), {.answer_within = 500ms, .patience = 500ms});
    if (client && client->inspect() && client->mutex("a").acquire({.wait = 100ms})) continue;
    ++refused;
  }
  std::printf("%d of %d flips were noticed\n", refused, kFlips);
  EXPECT_GT(refused, 0);
}

// ---- damage under our feet ----

TEST_F(SqliteFile, TruncatedWhileOpenGivesNobodyASecondLock_F127) {
  const Client client = open();
  auto hold = client.mutex("lock").acquire();
  ASSERT_TRUE(hold);
  ASSERT_EQ(::truncate(database().c_str(), 0), 0);
  const auto other = connect(url());
  const auto second = other ? other->mutex("lock").try_acquire() : other.error();
  EXPECT_FALSE(second);
  EXPECT_TRUE(hold->valid());
}

// ---- other people's files ----

TEST_F(SqliteFile, OfANewerVersionIsRefusedWithBothVersions_F128) {
  make();
  RawDatabase(database()).must("PRAGMA user_version = 7");
  const auto client = connect(url());
  ASSERT_TRUE(fails_with(Errc::protocol, client));
  EXPECT_THAT(client.error().text(), HasSubstr("version 7"));
  EXPECT_THAT(client.error().text(), HasSubstr("version 2"));
}

class SqliteVersion1 : public SqliteFile {
 protected:
  // As an earlier program left it.
  void make_old() {
    make();
    RawDatabase raw(database());
    raw.must("DROP TABLE share; ALTER TABLE lock DROP COLUMN kind; PRAGMA user_version = 1");
    for (const char* column : {"form", "take", "of", "old_client", "old_claim", "old_fence"}) {
      raw.must(std::string("ALTER TABLE line DROP COLUMN ") + column);
    }
  }
};

TEST_F(SqliteVersion1, IsUpgradedWhileNobodyUsesIt_F128) {
  make_old();
  const std::int64_t before = RawDatabase(database()).number("SELECT max(fence) FROM lock");
  const Client client = open();
  const auto hold = client.mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_GT(hold->fence().value(), static_cast<std::uint64_t>(before)) << "fences go on";
  EXPECT_TRUE(client.shared_mutex("shared").acquire_shared({.wait = kSoon}));
}

TEST_F(SqliteVersion1, InUseIsRefused_F128) {
  make();
  const Client living = open();
  const auto hold = living.mutex("lock").acquire();
  ASSERT_TRUE(hold);
  RawDatabase(database()).must("PRAGMA user_version = 1");
  EXPECT_TRUE(fails_with(Errc::protocol, connect(url())));
}

TEST_F(SqliteFile, OfAnotherProgramIsLeftAlone_F127) {
  make();
  {
    RawDatabase raw(database());
    raw.must("PRAGMA application_id = 42");
  }
  const std::string before = content();
  EXPECT_TRUE(fails_with(Errc::store_corrupt, connect(url())));
  EXPECT_EQ(content(), before);
}

TEST_F(SqliteFile, WithoutItsFirstRowIsRefused_F127) {
  make();
  RawDatabase(database()).must("DELETE FROM meta");
  EXPECT_TRUE(fails_with(Errc::store_corrupt, connect(url())));
}

TEST_F(SqliteFile, WithoutATableIsRefused_F127) {
  make();
  RawDatabase(database()).must("DROP TABLE line");
  const auto client = connect(url());
  const auto hold = client ? client->mutex("lock").try_acquire() : client.error();
  EXPECT_TRUE(fails_with(Errc::store_corrupt, hold));
}

}  // namespace
}  // namespace holdfast::test
