#include "store/directory/findings.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "store/directory/failure.hpp"
#include "store/directory/lock_folder.hpp"

namespace holdfast::store::directory {
namespace {

using Level = Finding::Level;

struct FileSystem {
  std::uint32_t type;
  const char* name;
};
constexpr FileSystem kLocal[] = {{EXT4_SUPER_MAGIC, "ext4"}, {TMPFS_MAGIC, "tmpfs"},
                                 {XFS_SUPER_MAGIC, "xfs"},   {BTRFS_SUPER_MAGIC, "btrfs"},
                                 {F2FS_SUPER_MAGIC, "f2fs"}, {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
                                 {0x2FC12FC1, "zfs"}};

Finding file_system(const Place& place) {
  struct statfs system {};
  if (::statfs(place.path.c_str(), &system) != 0) {
    return {Level::warning, "file system", "cannot be found out"};
  }
  const auto type = static_cast<std::uint32_t>(system.f_type);
  for (const FileSystem& each : kLocal) {
    if (each.type == type) return {Level::fact, "file system", each.name};
  }
  if (type == NFS_SUPER_MAGIC) {
    return {Level::warning, "file system",
            "nfs: the layout is made for it, but this version is not tested there"};
  }
  char number[16];
  std::snprintf(number, sizeof number, "0x%X", type);
  return {Level::warning, "file system",
          std::string("type ") + number +
              ": not tested; it needs link(2) and rename(2) that every machine sees at once"};
}

Finding rights(const Place& place) {
  struct stat status {};
  ::stat(place.path.c_str(), &status);
  const unsigned mode = status.st_mode & 07777U;
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode);
  if ((mode & 0002U) == 0) return {Level::fact, "rights", text};
  return {Level::warning, "rights",
          std::string(text) + ": everybody can put files here; take the right from others"};
}

Finding leftovers(const Folder& root, const std::vector<Pieces>& locks, WallTime now) {
  std::size_t count = abandoned_in(root, now);
  for (const Pieces& pieces : locks) {
    std::optional<Folder> folder = root.open(pieces.front());
    for (std::size_t i = 1; folder && i < pieces.size(); ++i) folder = folder->open(pieces[i]);
    if (folder) count += abandoned_in(*folder, now);
  }
  if (count == 0) return {Level::fact, "left-overs", "none"};
  return {Level::warning, "left-overs",
          std::to_string(count) +
              " private files or folders (.p-, .h-, .new-) of clients that died are older than a "
              "day; they may be removed"};
}

void add_locks(const Folder& folder, const Pieces& outer, std::vector<Pieces>& found) {
  for (const Folder::Entry& entry : folder.entries()) {
    if (!entry.is_folder) continue;
    Pieces pieces = outer;
    pieces.push_back(entry.name);
    if (name_from(pieces)) {
      found.push_back(std::move(pieces));
    } else if (holds_longer_names(entry.name) && pieces.size() < LockName::kMaxBytes / 32) {
      if (const auto inner = folder.open(entry.name)) add_locks(*inner, pieces, found);
    }
  }
}

}  // namespace

std::vector<Pieces> locks_in(const Folder& root) {
  std::vector<Pieces> found;
  add_locks(root, {}, found);
  return found;
}

std::vector<Finding> findings_about(const Place& place, const Folder& root, WallTime now) {
  const std::vector<Pieces> locks = locks_in(root);
  return {{Level::fact, "folder", printable(place.path)},
          file_system(place),
          rights(place),
          {Level::fact, "locks", std::to_string(locks.size()) + " have a folder here"},
          leftovers(root, locks, now)};
}

}  // namespace holdfast::store::directory
