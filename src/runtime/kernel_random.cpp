#include "runtime/kernel_random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace holdfast::runtime {

std::uint64_t KernelRandom::next() {
  std::uint64_t number = 0;
  for (;;) {
    const ssize_t got = getrandom(&number, sizeof number, 0);
    if (got == static_cast<ssize_t>(sizeof number)) return number;  // so few bytes come at once
    if (got < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "getrandom");
    }
  }
}

}  // namespace holdfast::runtime
