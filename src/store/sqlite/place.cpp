#include "store/sqlite/place.hpp"

#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "holdfast/store/lock_name.hpp"
#include "store/sqlite/database.hpp"

namespace holdfast::store::sqlite {
namespace {

// Local file systems on which SQLite's log and flock(2) are known to work between processes. A
// network file system may let two machines believe that each has the lock.
constexpr std::array<std::uint32_t, 11> kLocal{
    EXT4_SUPER_MAGIC,  // and ext2, ext3
    XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC, TMPFS_MAGIC,          OVERLAYFS_SUPER_MAGIC,
    F2FS_SUPER_MAGIC, RAMFS_MAGIC,       REISERFS_SUPER_MAGIC,
    0x2FC12FC1,  // zfs
    0xCA451A4E,  // bcachefs
    0x3153464A,  // jfs
};

[[noreturn]] void refuse(Errc why, const std::string& text) { throw Failure(why, text); }

std::string shown(const std::string& path) {
  std::string text(1, '"');
  text += printable(path);
  text += '"';
  return text;
}

std::string home() {
  if (const char* variable = std::getenv("HOME"); variable != nullptr && *variable == '/') {
    return variable;
  }
  if (const passwd* entry = ::getpwuid(::geteuid())) return entry->pw_dir;
  return {};
}

void make_folders(const std::string& path) {
  std::error_code shown_by_the_next_step;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                      shown_by_the_next_step);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    refuse(Errc::permission, "cannot make the folder " + shown(path) + ": " + std::strerror(errno) +
                                 "; name a file with sqlite:/path/to.db");
  }
}

std::string named_file(const Url& url) {
  std::string_view path = url.rest;
  if (path.starts_with("///")) path.remove_prefix(2);  // sqlite:///path
  if (!path.starts_with('/') || path.starts_with("//")) {
    refuse(Errc::invalid_argument, "sqlite: needs an absolute path: sqlite:/path/to.db");
  }
  return std::string(path);
}

std::string state_file(const Url& url) {
  if (!url.rest.empty()) {
    refuse(Errc::invalid_argument,
           "embedded: takes no path; to choose a file use sqlite:/path/to.db");
  }
  std::string folder;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    folder = state;
  } else if (const std::string user = home(); !user.empty()) {
    folder = user + "/.local/state";
  } else {
    refuse(Errc::permission,
           "this user has no home folder for the embedded store; set XDG_STATE_HOME or name a file "
           "with sqlite:/path/to.db");
  }
  folder += "/holdfast";
  make_folders(folder);
  return folder + "/locks.db";
}

// The folder may be reached over symbolic links, the file itself may not be one: somebody else could
// have put it there.
std::string resolved(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string file = std::filesystem::path(path).filename().string();
  if (file.empty() || file == "." || file == "..") {
    refuse(Errc::invalid_argument, shown(path) + " does not name a file");
  }
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(folder.c_str(), nullptr), &::free);
  if (!real) {
    refuse(Errc::permission,
           "the folder " + shown(folder) + " cannot be used: " + std::strerror(errno));
  }
  const std::string whole = (std::filesystem::path(real.get()) / file).string();
  struct stat status {};
  if (::lstat(whole.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    refuse(Errc::permission,
           shown(whole) + (S_ISLNK(status.st_mode) ? " is a symbolic link; name the file itself"
                                                   : " is not a regular file"));
  }
  return whole;
}

void check_file_system(const std::string& file) {
  struct statfs system {};
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (::statfs(folder.c_str(), &system) != 0) {
    refuse(Errc::permission, "cannot look at " + shown(folder) + ": " + std::strerror(errno));
  }
  const auto type = static_cast<std::uint32_t>(system.f_type);
  if (std::find(kLocal.begin(), kLocal.end(), type) != kLocal.end()) return;
  char number[16];
  std::snprintf(number, sizeof number, "0x%X", type);
  refuse(
      Errc::unsupported,
      shown(folder) + " is on a file system (type " + number +
          ") that is not known to be local; on a network file system two machines could hold one "
          "lock. Choose a local folder, or add ?fs=any if you know better");
}

unsigned mode_of(const std::string& text) {
  for (const auto& [name, mode] : {std::pair{"0600", 0600U}, {"0660", 0660U}, {"0666", 0666U}}) {
    if (text == name) return mode;
  }
  refuse(Errc::invalid_argument, "mode is 0600, 0660 or 0666");
}

}  // namespace

Place find_place(const Url& url) {
  Place place;
  bool any_file_system = false;
  for (const auto& [key, value] : url.options) {
    if (key == "mode") {
      place.mode = mode_of(value);
    } else if (key == "fs" && value == "any") {
      any_file_system = true;
    } else {
      refuse(
          Errc::invalid_argument,
          url.scheme + ": knows the options mode=0660 and fs=any, not \"" + printable(key) + "\"");
    }
  }
  place.database = resolved(url.scheme == "embedded" ? state_file(url) : named_file(url));
  place.folder = place.database + ".d";
  if (!any_file_system) check_file_system(place.database);
  return place;
}

}  // namespace holdfast::store::sqlite
