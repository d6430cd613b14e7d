#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>

namespace holdfast::test {

// Runs something in a child whose CLOCK_BOOTTIME is so much ahead, while its CLOCK_MONOTONIC is not.
// Answers why that cannot be done: time namespaces need rights that a test may not have. Only for
// processes without threads.
template <class Work>
std::string elsewhere_in_time(std::chrono::seconds ahead, Work work) {
  const auto problem = [] { return std::string("cannot: ") + std::strerror(errno); };
  if (::unshare(CLONE_NEWTIME) != 0) return problem();
  std::ofstream offsets("/proc/self/timens_offsets");
  if (!(offsets << "boottime " << ahead.count() << " 0\n").flush()) return problem();
  const pid_t child = ::fork();  // children are in it
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    ::_exit(0);
  }
  return ::waitpid(child, nullptr, 0) == child ? "" : problem();
}

}  // namespace holdfast::test
