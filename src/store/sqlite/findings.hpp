#pragma once

#include <vector>

#include "holdfast/finding.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/place.hpp"

namespace holdfast::store::sqlite {

// What an operator should know about the file.
std::vector<Finding> findings_about(const Place&, Database&);

}  // namespace holdfast::store::sqlite
