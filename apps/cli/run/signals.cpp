#include "cli/run/signals.hpp"

#include <sys/signalfd.h>

namespace holdfast::cli {
namespace {

constexpr int kForwarded[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGUSR1,
                              SIGUSR2, SIGTSTP, SIGWINCH, SIGCONT};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigset_t read_by_us;
  sigemptyset(&read_by_us);
  for (const int signal : kForwarded) {
    if (!is_ignored(signal)) sigaddset(&read_by_us, signal);
  }
  sigaddset(&read_by_us, SIGCHLD);

  sigset_t blocked = read_by_us;
  sigaddset(&blocked, SIGTTOU);  // taking the terminal back from the background must not stop us
  sigaddset(&blocked, SIGPIPE);  // nobody reads what we say: no reason to leave a job alone
  pthread_sigmask(SIG_BLOCK, &blocked, &original_);
  file_ = Descriptor(signalfd(-1, &read_by_us, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  // Whatever came too late to matter would otherwise kill us on the way out, with the wrong status.
  while (next()) {
  }
  pthread_sigmask(SIG_SETMASK, &original_, nullptr);
}

std::optional<int> Signals::next() {
  signalfd_siginfo info;
  if (read(file_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

std::uint64_t Signals::original_mask() const {
  std::uint64_t bits = 0;
  for (int signal = 1; signal <= 64; ++signal) {
    if (sigismember(&original_, signal) == 1) bits |= std::uint64_t{1} << (signal - 1);
  }
  return bits;
}

bool Signals::ends_us(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace holdfast::cli
