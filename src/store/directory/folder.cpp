#include "store/directory/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "store/directory/failure.hpp"

namespace holdfast::store::directory {

using transport::Fd;

namespace {

constexpr std::size_t kLongestFile = 64 << 10;  // ours have a few hundred bytes
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// A planted pipe must not make us wait.
constexpr int kFileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

Folder::Id id_from(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

std::string read_all(const Fd& file, const std::string& path) {
  std::string content;
  char part[4096];
  while (true) {
    const ssize_t size = ::read(file.get(), part, sizeof part);
    if (size == 0) return content;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(errno, "cannot read " + shown(path));
    content.append(part, static_cast<std::size_t>(size));
    if (content.size() > kLongestFile) {
      throw Failure(Errc::store_corrupt, shown(path) + " is too long to be ours");
    }
  }
}

int write_all(const Fd& file, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t size = ::write(file.get(), content.data() + done, content.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    done += static_cast<std::size_t>(size);
  }
  return 0;
}

}  // namespace

Folder Folder::at(const std::string& path, transport::SpareFds& spare) {
  Fd fd(::open(path.c_str(), kFolderFlags));
  if (!fd || !spare.complete()) {
    const int error = !fd ? errno : EMFILE;
    throw Failure(error == EMFILE || error == ENFILE ? Errc::unavailable : Errc::permission,
                  "the folder " + shown(path) + " cannot be used: " + std::strerror(error));
  }
  return {path, std::move(fd), spare};
}

Fd Folder::open_here(const std::string& name, int flags, unsigned mode) const {
  return spare_->open(
      [&] { return ::openat(fd_.get(), name.c_str(), flags, static_cast<mode_t>(mode)); });
}

std::optional<Folder::Id> Folder::id_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return id_from(status);
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail(errno, "cannot look at " + shown(path));
}

Folder::Id Folder::id() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail(errno, "cannot look at " + shown(path_));
  return id_from(status);
}

std::optional<Folder> Folder::open(const std::string& name) const {
  std::string path = path_ + "/" + name;
  Fd fd = open_here(name, kFolderFlags);
  if (fd) return Folder(std::move(path), std::move(fd), *spare_);
  if (errno == ENOENT) return std::nullopt;
  if (errno == ELOOP || errno == ENOTDIR) {
    throw Failure(Errc::permission, shown(path) +
                                        " is a symbolic link or no folder; it is not ours and is "
                                        "not followed. Find out who put it there, and remove it");
  }
  fail(errno, "cannot open " + shown(path));
}

void Folder::make(const std::string& name, unsigned mode) const {
  if (::mkdirat(fd_.get(), name.c_str(), 0700) != 0) {
    if (errno == EEXIST) return;
    fail(errno, "cannot make a folder in " + shown(path_));
  }
  if (mode == 0700) return;
  const auto made = open(name);
  if (made) ::fchmod(made->fd_.get(), static_cast<mode_t>(mode));  // whatever the umask says
}

std::vector<Folder::Entry> Folder::entries() const {
  // Opened anew: what one descriptor has read of a folder belongs to all its copies.
  Fd fd = open_here(".", kFolderFlags);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fd ? ::fdopendir(fd.get()) : nullptr,
                                                   &::closedir);
  if (!folder) fail(errno, "cannot list " + shown(path_));
  fd.release();  // closedir() closes it
  std::vector<Entry> found;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) fail(errno, "cannot list " + shown(path_));
    if (entry == nullptr) return found;
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat status {};
      is_folder = ::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISDIR(status.st_mode);
    }
    found.push_back({std::move(name), is_folder});
  }
}

std::optional<std::string> Folder::read(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  const Fd file = open_here(name, kFileFlags);
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat status {};
  if ((!file && errno == ELOOP) ||
      (file && ::fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode))) {
    throw Failure(Errc::permission, shown(path) +
                                        " is a symbolic link or no regular file; it is not ours "
                                        "and is not followed. Find out who put it there");
  }
  if (!file) fail(errno, "cannot open " + shown(path));
  return read_all(file, path);
}

bool Folder::has(const std::string& name) const {
  struct stat status {};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  fail(errno, "cannot look at " + shown(path_ + "/" + name));
}

std::optional<WallTime> Folder::changed(const std::string& name) const {
  struct stat status {};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return WallTime(std::chrono::seconds(status.st_mtim.tv_sec));
}

Fd Folder::write_new(const std::string& name, const std::string& content, unsigned mode) const {
  Fd file = open_here(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (!file) fail(errno, "cannot make a file in " + shown(path_));
  int error = ::fchmod(file.get(), static_cast<mode_t>(mode)) == 0 ? 0 : errno;
  if (error == 0) error = write_all(file, content);
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (error != 0) {
    remove(name);
    fail(error, "cannot write a file in " + shown(path_));
  }
  return file;
}

int Folder::link(const std::string& from, const std::string& to) const {
  return ::linkat(fd_.get(), from.c_str(), fd_.get(), to.c_str(), 0) == 0 ? 0 : errno;
}

int Folder::rename(const std::string& from, const Folder& folder, const std::string& to) const {
  return ::renameat(fd_.get(), from.c_str(), folder.fd_.get(), to.c_str()) == 0 ? 0 : errno;
}

void Folder::remove(const std::string& name) const noexcept {
  ::unlinkat(fd_.get(), name.c_str(), 0);
}

void Folder::remove_folder(const std::string& name) const noexcept {
  try {
    const auto folder = open(name);
    if (!folder) return;
    for (const Entry& entry : folder->entries()) folder->remove(entry.name);
    ::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR);
  } catch (const std::exception&) {  // it is found by examine()
  }
}

void Folder::sync() const {
  // Some file systems have nothing to do here and say so.
  if (::fsync(fd_.get()) != 0 && errno != EINVAL) fail(errno, "cannot write " + shown(path_));
}

std::uint64_t links_of(const Fd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(errno, "cannot look at a file of our own");
  return static_cast<std::uint64_t>(status.st_nlink);
}

}  // namespace holdfast::store::directory
