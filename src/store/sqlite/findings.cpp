#include "store/sqlite/findings.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::store::sqlite {
namespace {

using Level = Finding::Level;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLongLog = 64 * kMiB;
constexpr std::int64_t kLittleSpace = 16 * kMiB;

std::int64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

std::string mib(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB",
                static_cast<double>(bytes) / static_cast<double>(kMiB));
  return text;
}

Finding rights(const Place& place) {
  struct stat status {};
  ::stat(place.database.c_str(), &status);
  const unsigned mode = status.st_mode & 0777U;
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode);
  if ((mode & 0002U) == 0) return {Level::fact, "rights", text};
  return {Level::warning, "rights",
          std::string(text) + ": every user of this machine can take and break these locks"};
}

Finding journal(Database& db) {
  const std::string mode = db.text("PRAGMA journal_mode");
  if (mode == "wal") return {Level::fact, "journal mode", mode};
  return {Level::problem, "journal mode",
          printable(mode) + ": somebody changed it; set it back with PRAGMA journal_mode = WAL"};
}

Finding log_size(const Place& place) {
  const std::int64_t size = size_of(place.database + "-wal");
  if (size < kLongLog) return {Level::fact, "log", mib(size)};
  return {Level::warning, "log",
          mib(size) + ": it cannot shrink while somebody reads the file in a long transaction"};
}

Finding free_space(const Place& place) {
  struct statvfs system {};
  if (::statvfs(place.database.c_str(), &system) != 0) {
    return {Level::warning, "free space", "cannot be found out"};
  }
  const auto bytes = static_cast<std::int64_t>(system.f_bavail * system.f_frsize);
  if (bytes > kLittleSpace) return {Level::fact, "free space", mib(bytes)};
  return {Level::warning, "free space",
          mib(bytes) + ": when it is used up no new lock can be taken"};
}

}  // namespace

std::vector<Finding> findings_about(const Place& place, Database& db) {
  return {{Level::fact, "file", printable(place.database) + ", " + mib(size_of(place.database))},
          rights(place),
          journal(db),
          log_size(place),
          free_space(place)};
}

}  // namespace holdfast::store::sqlite
