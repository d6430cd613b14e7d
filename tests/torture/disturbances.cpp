#include "torture/disturbances.hpp"

#include <sqlite3.h>

#include <optional>
#include <stdexcept>

#include "holdfast/store/url.hpp"
#include "store/sqlite/place.hpp"
#include "support/child_process.hpp"

namespace holdfast::torture {
namespace {

using test::ChildProcess;
using test::Parent;
using test::Words;

// Keeps the write lock of a database until it is killed. Arguments: the path.
const test::Role kKeepsLocked("torture-keeps-locked", [](Parent& parent, const Words& words) {
  sqlite3* db = nullptr;
  const bool opened =
      sqlite3_open_v2(words.at(0).c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK;
  sqlite3_busy_timeout(db, 10'000);
  if (!opened || sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error("the database cannot be locked");
  }
  parent.hear();
});

class LockedDatabase final : public Disturbance {
 public:
  explicit LockedDatabase(std::string path) : path_(std::move(path)) {}

  std::string_view name() const override { return "locked"; }
  std::string_view text() const override { return "another process keeps the database locked"; }
  void begin() override { locker_.emplace(kKeepsLocked, Words{path_}); }
  void end() override { locker_.reset(); }

 private:
  const std::string path_;
  std::optional<ChildProcess> locker_;
};

std::string scheme_of(const std::string& url) {
  const auto parsed = store::Url::parse(url);
  return parsed ? parsed->scheme : "";
}

}  // namespace

Disturbances disturbances_of(const std::string& url) {
  Disturbances all;
  const std::string scheme = scheme_of(url);
  if (scheme == "sqlite" || scheme == "embedded") {
    all.push_back(std::make_unique<LockedDatabase>(
        store::sqlite::find_place(*store::Url::parse(url)).database));
  }
  return all;
}

bool lives_in_one_process(const std::string& url) { return scheme_of(url) == "memory"; }

}  // namespace holdfast::torture
