#include "cli/guard/end_descendants.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

#include "cli/guard/processes.hpp"

namespace holdfast::cli {
namespace {

// True if there are children left.
bool reap(const Reaped& reaped) {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid == 0) return true;
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return false;
    reaped(pid, status);
  }
}

}  // namespace

void end_descendants(const Reaped& reaped) {
  // One that cannot be killed (it waits for a disk, or is another user's) is waited for patiently.
  constexpr long kFirstPause = 1'000'000;
  constexpr long kLongestPause = 200'000'000;
  long pause = kFirstPause;
  for (;;) {
    for (const Process& process : descendants_of(getpid(), all_processes())) {
      kill(process.pid, SIGKILL);  // whatever it looks like: a zombie does not mind
    }
    if (!reap(reaped)) return;
    const timespec time{0, pause};
    nanosleep(&time, nullptr);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace holdfast::cli
