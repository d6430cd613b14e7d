// Where the file of an embedded store lies, and whether it may lie there.
//
//   locks.db            the SQLite file, with its -wal and -shm beside it
//   locks.db.d/         s-<client>: one session file for each client that may hold something
#pragma once

#include <string>

#include "holdfast/store/url.hpp"

namespace holdfast::store::sqlite {

struct Place {
  std::string database;  // absolute, with no symbolic link in it
  std::string folder;    // of the sessions
  unsigned mode = 0600;  // of the files, if they have to be made
};

// embedded:            under the user's state folder, which is made if it is not there
// sqlite:/path/to.db   the folder must be there
// ?mode=0660           lets a group share the store: 0600, 0660 or 0666
// ?fs=any              also on a file system that is not known to be local
//
// On error     Throws Failure.
Place find_place(const Url&);

}  // namespace holdfast::store::sqlite
