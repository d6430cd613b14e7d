#include "runtime/process_info.hpp"

#include <cerrno>

#include <unistd.h>

#include "holdfast/holder_record.hpp"
#include "transport/first_line.hpp"

namespace holdfast::runtime {
namespace {

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return {};
  return name;
}

// The name the program was started by. The kernel's own (comm) is cut at 15 bytes, and is the name
// of a thread; it serves programs that were started without any argv.
std::string program_name() {
  if (program_invocation_short_name != nullptr && *program_invocation_short_name != '\0') {
    return program_invocation_short_name;
  }
  return transport::first_line_of("/proc/self/comm");
}

}  // namespace

// Whoever starts a program may give it a name of any length.
ProcessInfo this_process() {
  return {host_name(), getpid(), program_name().substr(0, kMaxProgram)};
}

}  // namespace holdfast::runtime
