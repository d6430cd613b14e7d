#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/time.hpp"
#include "transport/fd.hpp"
#include "transport/spare_fds.hpp"

namespace holdfast::store::directory {

// An open folder. Everything in it is reached from its descriptor and by plain names, and no
// symbolic link is followed: whoever can write here can plant one.
//
// On error     Throws Failure. What "is not there" is told apart from what cannot be looked at.
class Folder {
 public:
  // Which folder this is, whatever its path says by now.
  struct Id {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Id&, const Id&) = default;
  };
  struct Entry {
    std::string name;
    bool is_folder = false;
  };

  // It and all that is opened in it use these if there are no other descriptors left; they outlive it.
  static Folder at(const std::string& path, transport::SpareFds&);
  static std::optional<Id> id_of(const std::string& path);  // nothing: no folder is there

  Id id() const;
  const std::string& path() const { return path_; }  // for texts

  // Folders in it.
  std::optional<Folder> open(const std::string& name) const;  // nothing: it is not there
  void make(const std::string& name, unsigned mode) const;    // or it is there already
  std::vector<Entry> entries() const;                         // without . and ..

  // Files in it.
  std::optional<std::string> read(const std::string& name) const;  // nothing: it is not there
  bool has(const std::string& name) const;
  std::optional<WallTime> changed(const std::string& name) const;
  // A new file whose content is on the disk when this returns.
  transport::Fd write_new(const std::string& name, const std::string& content, unsigned mode) const;
  // Both answer an error number of errno, 0: done.
  int link(const std::string& from, const std::string& to) const;
  int rename(const std::string& from, const Folder& folder, const std::string& to) const;
  void remove(const std::string& name) const noexcept;         // if it is there
  void remove_folder(const std::string& name) const noexcept;  // with the files in it
  void sync() const;  // what was linked and renamed here survives a power loss

 private:
  Folder(std::string path, transport::Fd fd, transport::SpareFds& spare)
      : path_(std::move(path)), fd_(std::move(fd)), spare_(&spare) {}
  transport::Fd open_here(const std::string& name, int flags, unsigned mode = 0) const;

  std::string path_;
  transport::Fd fd_;
  transport::SpareFds* spare_;
};

// How many names a file has.
std::uint64_t links_of(const transport::Fd&);

}  // namespace holdfast::store::directory
