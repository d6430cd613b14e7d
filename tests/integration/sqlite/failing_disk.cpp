#include "failing_disk.hpp"

#include <sqlite3.h>

#include <atomic>
#include <map>
#include <mutex>

namespace holdfast::test {
namespace {

using Call = FailingDisk::Call;

std::atomic<int> g_kind{-1};
std::atomic<int> g_left{0};
std::atomic<bool> g_once{true};
std::atomic<int> g_failed{0};

bool fails_now(Call call) {
  if (g_kind != static_cast<int>(call)) return false;
  const int left = g_left--;
  if (left > 0 || (left < 0 && g_once)) return false;
  ++g_failed;
  return true;
}

// A file of SQLite's own VFS whose methods are ours: they fail, or do what the right ones do.
struct Methods {
  sqlite3_io_methods ours;
  const sqlite3_io_methods* right;
};
// By the right ones. Never destroyed: a client may still be closing its file while the process exits.
struct Known {
  std::mutex mutex;
  std::map<const sqlite3_io_methods*, Methods> methods;
};
Known& known() {
  static auto* const all = new Known;
  return *all;
}
sqlite3_vfs g_vfs;
sqlite3_vfs* g_right_vfs = nullptr;

const sqlite3_io_methods* right_of(sqlite3_file* file) {
  return reinterpret_cast<const Methods*>(file->pMethods)->right;
}

int read(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  if (fails_now(Call::read)) return SQLITE_IOERR_READ;
  return right_of(file)->xRead(file, to, size, at);
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  if (fails_now(Call::write)) {
    right_of(file)->xWrite(file, from, size / 2, at);  // as a disk does it: in part
    return SQLITE_IOERR_WRITE;
  }
  return right_of(file)->xWrite(file, from, size, at);
}

int sync(sqlite3_file* file, int flags) {
  if (fails_now(Call::sync)) return SQLITE_IOERR_FSYNC;
  return right_of(file)->xSync(file, flags);
}

int open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out) {
  const int code = g_right_vfs->xOpen(g_right_vfs, name, file, flags, out);
  if (code != SQLITE_OK || file->pMethods == nullptr) return code;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto [found, is_new] = all.methods.try_emplace(file->pMethods);
  if (is_new) {
    found->second = {*file->pMethods, file->pMethods};
    found->second.ours.xRead = read;
    found->second.ours.xWrite = write;
    found->second.ours.xSync = sync;
  }
  file->pMethods = &found->second.ours;
  return code;
}

}  // namespace

FailingDisk::FailingDisk() {
  static const bool registered = [] {
    g_right_vfs = sqlite3_vfs_find(nullptr);
    g_vfs = *g_right_vfs;
    g_vfs.zName = "failing";
    g_vfs.xOpen = open;
    return sqlite3_vfs_register(&g_vfs, 1) == SQLITE_OK;
  }();
  static_cast<void>(registered);
}

void FailingDisk::fail(Call call, int after, How how) {
  g_failed = 0;
  g_once = how == How::once;
  g_left = after;
  g_kind = static_cast<int>(call);
}

bool FailingDisk::repair() {
  g_kind = -1;
  return g_failed > 0;
}

}  // namespace holdfast::test
