#include "store/sqlite/machine.hpp"

#include <limits.h>
#include <unistd.h>

#include <cerrno>

#include "store/sqlite/os_failure.hpp"
#include "transport/first_line.hpp"

namespace holdfast::store::sqlite {
namespace {

// Nothing if it is not there, or empty. A machine does not become another one because this process has
// too many files open.
std::string first_line(const char* path) {
  std::string line = transport::first_line_of(path);
  if (line.empty() && (errno == EMFILE || errno == ENFILE)) {
    fail_by_errno(std::string("cannot read ") + path);
  }
  return line;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::string link_target(const char* path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path, target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

Machine this_machine() {
  std::string id = first_line("/etc/machine-id");
  if (id.empty()) id = first_line("/var/lib/dbus/machine-id");
  std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  if (boot.empty()) {
    throw Failure(
        Errc::unsupported,
        "/proc/sys/kernel/random/boot_id cannot be read here, so nobody knows whose leases "
        "count; let this process see all of /proc");
  }
  return {.id = or_dash(std::move(id)),
          .boot = std::move(boot),
          .time_namespace = or_dash(link_target("/proc/self/ns/time"))};
}

}  // namespace holdfast::store::sqlite
