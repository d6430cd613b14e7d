// How clients on one machine know that another is alive, and wake it.
//
// Each client that may hold something has a session file, locked with flock(2) for as long as it
// lives: the kernel unlocks it when the last process that inherited the descriptor is gone, however
// that came about. Whoever can lock another's session file therefore knows that nobody is left there.
// That counts only for the very file whose device and inode stand in the session's row: a file that
// is absent, or another one under its name, proves nothing, and the lease decides.
//
// The first word of the file is a futex: bumping it makes that client look at its claims.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/store/keys.hpp"
#include "transport/fd.hpp"
#include "transport/futex.hpp"

namespace holdfast::store::sqlite {

// Which file is meant, whatever its name says by now.
struct FileId {
  std::int64_t device = 0;
  std::int64_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

// This client's own session file: locked while it lives.
class OwnSession {
 public:
  OwnSession(transport::Fd file, FileId id, transport::FutexWord* word)
      : file_(std::move(file)), id_(id), word_(word) {}
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;
  ~OwnSession();

  int descriptor() const { return file_.get(); }
  const FileId& id() const { return id_; }
  transport::FutexWord& word() { return *word_; }

 private:
  transport::Fd file_;
  FileId id_;
  transport::FutexWord* word_;
};

// On error     Throws Failure.
// Threads      From any thread.
class SessionFolder {
 public:
  // `mode` is that of the files in it.
  SessionFolder(std::string path, unsigned mode) : path_(std::move(path)), mode_(mode) {}

  // Keeps everybody else out of set_up() while it lives. Throws Failure(unavailable) if that takes
  // longer than a moment.
  transport::Fd lock_for_set_up() const;

  std::unique_ptr<OwnSession> open_session(const ClientId&) const;
  // The lock of that client's file if nobody is left there, else nothing. Keep it until what follows
  // from it is written down.
  transport::Fd proof_of_death(const ClientId&, const FileId&) const;
  // Whether that very file is there.
  bool has(const ClientId&, const FileId&) const;
  void remove(const ClientId&) const;  // with the proof in hand, or one's own
  void wake(const ClientId&) const noexcept;

  // Clients that have a file here.
  std::vector<ClientId> clients() const;
  // The lock of a file that belongs to no row, if nobody is there.
  transport::Fd lock_of_abandoned(const ClientId&) const;

  const std::string& path() const { return path_; }

 private:
  std::string file_of(const ClientId&) const;

  std::string path_;
  unsigned mode_;
};

}  // namespace holdfast::store::sqlite
