#include "cli/say.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void say(std::string_view text) { write_all(STDERR_FILENO, text); }

bool can_say_now() {
  pollfd file{STDERR_FILENO, POLLOUT, 0};
  return poll(&file, 1, 0) == 1 && (file.revents & POLLOUT) != 0;
}

void print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  throw Refusal(exit_code::kOsError,
                std::string("cannot write to standard output: ") + std::strerror(errno));
}

}  // namespace holdfast::cli
