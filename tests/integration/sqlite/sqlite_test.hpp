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
#include "support/soon.hpp"
#include "support/temp_folder.hpp"

struct sqlite3;

namespace holdfast::test {

using namespace std::chrono_literals;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

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

// How long something took.
class Stopwatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
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
  // Until somebody stands in line for it.
  static bool comes_to_wait(const Client&, std::string_view name = "lock");
  // One more client comes and goes; afterwards nothing may be left of anybody.
  void expect_nothing_left_behind() const;

 private:
  TempFolder folder_;
};

// An error of one kind, else what it is instead.
template <class T>
testing::AssertionResult fails_with(Errc code, const Result<T>& result) {
  if (result) return testing::AssertionFailure() << "it succeeded";
  if (result.error() == code) return testing::AssertionSuccess() << result.error().text();
  return testing::AssertionFailure() << result.error().text();
}

// No answer, which is not a no. Which of the two it is depends on who gives up first: the store tells
// that nothing was done, the engine's own deadline cannot.
template <class T>
testing::AssertionResult is_no_answer(const Result<T>& result) {
  if (!result && result.error() == Errc::unknown) return testing::AssertionSuccess();
  return fails_with(Errc::unavailable, result);
}

inline std::string text_of(FencingToken fence) { return std::to_string(fence.value()); }
inline FencingToken fence_from(const std::string& text) {
  return FencingToken(text.empty() ? 0 : std::stoull(text));
}

// A process that takes "lock" and does as it is told. Arguments: URL, lease in ms.
// Tells its fence; then hears
//   release    tells "released", or the error's name
//   valid      tells "yes" or "no"
//   lost       tells "lost" when that fires
extern const Role kHolder;

}  // namespace holdfast::test
