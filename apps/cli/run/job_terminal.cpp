#include "cli/run/job_terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

JobTerminal::JobTerminal() : file_(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

bool JobTerminal::is_ours() const { return file_ && tcgetpgrp(file_.get()) == getpgrp(); }

int JobTerminal::give_at_start() {
  const bool by_itself =
      getpgrp() == getpid() && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  given_at_start_ = by_itself && is_ours();
  return given_at_start_ ? file_.get() : -1;
}

bool JobTerminal::give_to(pid_t group) {
  if (!is_ours() || tcsetpgrp(file_.get(), group) != 0) return false;
  group_ = group;
  return true;
}

// SIGTTOU is blocked, so that this works from the background.
void JobTerminal::take_back() {
  if (group_ != 0 && tcgetpgrp(file_.get()) == group_) tcsetpgrp(file_.get(), getpgrp());
  group_ = 0;
}

}  // namespace holdfast::cli
