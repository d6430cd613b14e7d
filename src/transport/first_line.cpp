#include "transport/first_line.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "transport/fd.hpp"

namespace holdfast::transport {

std::string first_line_of(const char* path) {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::array<char, 4096> bytes;
  ssize_t size = 0;
  do {
    size = ::read(file.get(), bytes.data(), bytes.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) return {};
  errno = 0;
  std::string line(bytes.data(), static_cast<std::size_t>(size));
  return line.substr(0, line.find('\n'));
}

}  // namespace holdfast::transport
