#pragma once

#include <vector>

#include "holdfast/finding.hpp"
#include "holdfast/time.hpp"
#include "store/directory/folder.hpp"
#include "store/directory/folder_name.hpp"
#include "store/directory/place.hpp"

namespace holdfast::store::directory {

// The folders of all locks in it, whether anybody holds them or not.
std::vector<Pieces> locks_in(const Folder& root);

// What an operator should know about the folder.
std::vector<Finding> findings_about(const Place&, const Folder& root, WallTime now);

}  // namespace holdfast::store::directory
