// What the tests of the SQLite store share: a file of their own, and a look at it from the side.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/outcome.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/temp_folder.hpp"

struct sqlite3;

namespace holdfast::test {

using namespace std::chrono_literals;

// A connection that is not Holdfast's. (A plain open() and close() of the file in this process would
// take SQLite's POSIX locks away from everybody else in it.)
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& path);
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;
  ~RawDatabase();

  bool run(const std::string& sql);  // false if it failed
  void must(const std::string& sql) { ASSERT_TRUE(run(sql)) << sql << ": " << problem(); }
  std::int64_t number(const std::string& sql);
  std::string problem() const;

 private:
  sqlite3* db_ = nullptr;
};

class SqliteTest : public testing::Test {
 protected:
  const std::string& folder() const { return folder_.path(); }
  std::string database() const { return folder_ / "locks.db"; }
  std::string sessions() const { return database() + ".d"; }
  std::string url() const { return "sqlite:" + database(); }

  Client open(ClientOptions options = {}) const {
    return connect(url(), std::move(options)).value();
  }
  void make() const { static_cast<void>(open()); }

  // The names of the session files.
  std::vector<std::string> session_files() const;
  // One more client comes and goes; afterwards nothing may be left of anybody.
  void expect_nothing_left_behind() const;

 private:
  TempFolder folder_;
};

}  // namespace holdfast::test
