#include "store/sqlite/os_failure.hpp"

#include <cerrno>
#include <cstring>

namespace holdfast::store::sqlite {

Errc meaning_of_errno(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return Errc::store_full;
    case EMFILE:
    case ENFILE:
      return Errc::unavailable;
    case ENOMEM:
      return Errc::out_of_memory;
    default:
      return Errc::permission;
  }
}

void fail_by_errno(const std::string& what) {
  const int error = errno;
  throw Failure(meaning_of_errno(error), what + ": " + std::strerror(error));
}

}  // namespace holdfast::store::sqlite
