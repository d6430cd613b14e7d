#include "store/sqlite/session_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <new>
#include <optional>

#include "store/sqlite/os_failure.hpp"

namespace holdfast::store::sqlite {

using transport::Fd;
using transport::FutexWord;

namespace {

constexpr std::size_t kFileSize = 4096;  // one page, written out so that touching it cannot fail
constexpr std::string_view kPrefix = "s-";

std::optional<struct stat> status_of(const Fd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

FileId id_of(const struct stat& status) {
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino)};
}

FutexWord* map_word(const Fd& file) {
  void* const page = ::mmap(nullptr, kFileSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return page == MAP_FAILED ? nullptr : static_cast<FutexWord*>(page);
}

bool lock_now(const Fd& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

bool write_page(const Fd& file) {
  const char zeros[kFileSize] = {};
  return ::pwrite(file.get(), zeros, sizeof zeros, 0) == static_cast<ssize_t>(sizeof zeros);
}

std::optional<std::uint64_t> hex(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const auto at = std::string_view("0123456789abcdef").find(c);
    if (at == std::string_view::npos) return std::nullopt;
    value = value << 4 | at;
  }
  return value;
}

std::optional<ClientId> client_of(std::string_view file) {
  if (file.size() != kPrefix.size() + 32 || file.substr(0, kPrefix.size()) != kPrefix) return {};
  const auto high = hex(file.substr(kPrefix.size(), 16));
  const auto low = hex(file.substr(kPrefix.size() + 16));
  if (!high || !low) return std::nullopt;
  return ClientId{*high, *low};
}

}  // namespace

OwnSession::~OwnSession() { ::munmap(word_, kFileSize); }

std::string SessionFolder::file_of(const ClientId& client) const {
  return path_ + "/" + std::string(kPrefix) + to_string(client);
}

Fd SessionFolder::lock_for_set_up() const {
  Fd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) fail_by_errno("cannot open " + path_);
  // Whoever has it needs milliseconds, unless it was stopped in the middle.
  for (int tries = 0; tries < 4000; ++tries) {
    if (lock_now(folder)) return folder;
    if (errno != EWOULDBLOCK && errno != EINTR) fail_by_errno("cannot lock " + path_);
    transport::brief_pause(std::chrono::microseconds(500));
  }
  throw Failure(Errc::unavailable, "another process has been setting up the store for too long");
}

// Created, locked, and only then told to others (by the row, which is the caller's): between the
// first two steps a sweeper may take the file for an abandoned one, hence the look at its links.
std::unique_ptr<OwnSession> SessionFolder::open_session(const ClientId& client) const {
  const std::string path = file_of(client);
  for (int tries = 0; tries < 100; ++tries) {
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                   static_cast<mode_t>(mode_)));
    if (!file) fail_by_errno("cannot create a session file in " + path_);
    ::fchmod(file.get(), static_cast<mode_t>(mode_));  // whatever the umask says
    const auto status = lock_now(file) ? status_of(file) : std::nullopt;
    if (!status || status->st_nlink == 0) {  // a sweeper was here
      transport::brief_pause(std::chrono::microseconds(100));
      continue;
    }
    FutexWord* word = nullptr;
    if (!write_page(file) || (word = map_word(file)) == nullptr) {
      const int error = errno;
      ::unlink(path.c_str());
      errno = error;
      fail_by_errno("cannot write a session file in " + path_);
    }
    return std::make_unique<OwnSession>(std::move(file), id_of(*status), word);
  }
  throw Failure(Errc::unavailable, "session files in " + path_ + " are removed by somebody");
}

Fd SessionFolder::proof_of_death(const ClientId& client, const FileId& id) const {
  Fd file(::open(file_of(client).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return {};
  const auto status = status_of(file);
  if (!status || id_of(*status) != id || !lock_now(file)) return {};
  return file;
}

Fd SessionFolder::lock_of_abandoned(const ClientId& client) const {
  Fd file(::open(file_of(client).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file || !lock_now(file)) return {};
  // Looked at once it is locked: another sweeper may have removed it, and a beginner made a new one.
  const auto status = status_of(file);
  if (!status || status->st_nlink == 0) return {};
  return file;
}

bool SessionFolder::has(const ClientId& client, const FileId& id) const {
  struct stat status {};
  return ::lstat(file_of(client).c_str(), &status) == 0 && id_of(status) == id;
}

void SessionFolder::remove(const ClientId& client) const { ::unlink(file_of(client).c_str()); }

// A hint: whoever does not get it looks by itself a little later.
void SessionFolder::wake(const ClientId& client) const noexcept {
  Fd file;
  try {
    file = Fd(::open(file_of(client).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  } catch (const std::bad_alloc&) {
  }
  if (!file) return;
  const auto status = status_of(file);
  if (!status || status->st_size < static_cast<off_t>(kFileSize)) return;
  FutexWord* const word = map_word(file);
  if (word == nullptr) return;
  transport::futex_bump(*word);
  ::munmap(word, kFileSize);
}

std::vector<ClientId> SessionFolder::clients() const {
  std::vector<ClientId> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path_.c_str()), &::closedir);
  if (!folder) return found;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto client = client_of(entry->d_name)) found.push_back(*client);
  }
  return found;
}

}  // namespace holdfast::store::sqlite
