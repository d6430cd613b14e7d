#pragma once

#include <string>

#include "store/sqlite/database.hpp"

namespace holdfast::store::sqlite {

// What an error number of errno means for this store: a lack that may pass is not a lack of rights.
Errc meaning_of_errno(int error);

// Throws what errno means; `what` says what could not be done.
[[noreturn]] void fail_by_errno(const std::string& what);

}  // namespace holdfast::store::sqlite
