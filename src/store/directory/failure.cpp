#include "store/directory/failure.hpp"

#include <cerrno>
#include <cstring>

namespace holdfast::store::directory {
namespace {

Errc meaning_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return Errc::store_full;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENOTDIR:
      return Errc::permission;
    case ENOENT:
    case ESTALE:
      return Errc::store_corrupt;
    case ENOMEM:
      return Errc::out_of_memory;
    case EOPNOTSUPP:
    case EMLINK:
      return Errc::unsupported;
    default:  // EIO, EMFILE, ETIMEDOUT …: nobody knows, and it may pass
      return Errc::unavailable;
  }
}

}  // namespace

void fail(int error, const std::string& what) {
  throw Failure(meaning_of(error), what + ": " + std::strerror(error));
}

std::string shown(const std::string& path) {
  std::string text(1, '"');
  text += printable(path);
  text += '"';
  return text;
}

}  // namespace holdfast::store::directory
