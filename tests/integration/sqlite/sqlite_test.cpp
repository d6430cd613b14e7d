#include "sqlite_test.hpp"

#include <sqlite3.h>

#include <filesystem>
#include <set>
#include <thread>

namespace holdfast::test {

RawDatabase::RawDatabase(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) {
    ADD_FAILURE() << "cannot open " << path;
  }
  sqlite3_busy_timeout(db_, 10'000);
}

RawDatabase::~RawDatabase() { sqlite3_close(db_); }

bool RawDatabase::run(const std::string& sql) {
  return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::int64_t RawDatabase::number(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  std::int64_t number = -1;
  if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    number = sqlite3_column_int64(statement, 0);
  } else {
    ADD_FAILURE() << sql << ": " << problem();
  }
  sqlite3_finalize(statement);
  return number;
}

std::string RawDatabase::problem() const { return sqlite3_errmsg(db_); }

std::vector<std::string> SqliteTest::session_files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(sessions())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

void SqliteTest::expect_nothing_left_behind() const {
  {
    const Client client = open();
    auto hold = client.mutex("lock").acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_TRUE(hold->release());
  }
  // A client whose last reference went on one of its own threads ends a little later.
  EXPECT_TRUE(eventually([&] { return session_files().empty(); })) << session_files().front();
  {
    RawDatabase raw(database());
    EXPECT_EQ(raw.number("SELECT count(*) FROM lock WHERE client IS NOT NULL"), 0);
    EXPECT_EQ(raw.number("SELECT count(*) FROM line"), 0);
    EXPECT_EQ(raw.number("SELECT count(*) FROM session"), 0);
  }
  const std::set<std::string> known{"locks.db", "locks.db-wal", "locks.db-shm", "locks.db.d"};
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    EXPECT_TRUE(known.contains(entry.path().filename().string())) << entry.path();
  }
}

}  // namespace holdfast::test
