#include <sqlite3.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "holdfast/store/url.hpp"
#include "store/sqlite/place.hpp"
#include "support/child_process.hpp"
#include "support/temp_folder.hpp"
#include "torture/scene.hpp"

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

class SqliteScene final : public Scene {
 public:
  explicit SqliteScene(const std::string& url) : url_(filled(url, folder_.path())) {}

  const std::string& url() const override { return url_; }

  Disturbances disturbances() override {
    const auto url = store::Url::parse(url_);
    if (!url) throw std::runtime_error(url.error().text());
    Disturbances all;
    all.push_back(std::make_unique<LockedDatabase>(store::sqlite::find_place(*url).database));
    return all;
  }

 private:
  const test::TempFolder folder_;
  const std::string url_;
};

}  // namespace

std::unique_ptr<Scene> sqlite_scene(const std::string& url) {
  return std::make_unique<SqliteScene>(url);
}

}  // namespace holdfast::torture
