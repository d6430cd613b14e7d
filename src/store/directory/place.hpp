#pragma once

#include <string>

#include "holdfast/store/url.hpp"

namespace holdfast::store::directory {

struct Place {
  std::string path;      // of the folder: absolute, with no symbolic link in it
  unsigned mode = 0600;  // of the files in it; folders can also be entered by whoever can read them

  unsigned folder_mode() const { return mode | (mode & 0444U) >> 2U; }
};

// dir:/shared/folder   the folder must be there: one that is made because a share is not mounted
//                      would keep nobody out
// ?mode=0660           lets a group share the locks: 0600, 0660 or 0666
//
// On error     Throws Failure.
Place find_place(const Url&);

}  // namespace holdfast::store::directory
