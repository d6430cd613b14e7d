#include "store/directory/place.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "store/directory/failure.hpp"

namespace holdfast::store::directory {
namespace {

unsigned mode_of(const std::string& text) {
  for (const auto& [name, mode] : {std::pair{"0600", 0600U}, {"0660", 0660U}, {"0666", 0666U}}) {
    if (text == name) return mode;
  }
  throw Failure(Errc::invalid_argument, "mode is 0600, 0660 or 0666");
}

std::string resolved(std::string_view path) {
  if (path.starts_with("///")) path.remove_prefix(2);  // dir:///path
  if (!path.starts_with('/') || path.starts_with("//")) {
    throw Failure(Errc::invalid_argument, "dir: needs an absolute path: dir:/shared/folder");
  }
  const std::string given(path);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(given.c_str(), nullptr), &::free);
  if (!real) {
    const int error = errno;
    throw Failure(Errc::permission,
                  "the folder " + shown(given) + " cannot be used: " + std::strerror(error) +
                      (error == ENOENT ? "; make it first, and mount it if it is on a share" : ""));
  }
  return real.get();
}

}  // namespace

Place find_place(const Url& url) {
  Place place;
  for (const auto& [key, value] : url.options) {
    if (key != "mode") {
      throw Failure(Errc::invalid_argument,
                    "dir: knows the option mode=0660, not \"" + printable(key) + "\"");
    }
    place.mode = mode_of(value);
  }
  place.path = resolved(url.rest);
  return place;
}

}  // namespace holdfast::store::directory
