#include "cli/exit_code.hpp"

#include <cerrno>

#include <sys/wait.h>

namespace holdfast::cli {

int exit_code_of(Errc code) noexcept {
  switch (code) {
    case Errc::busy:
    case Errc::timed_out:
      return exit_code::kBusy;
    case Errc::lost:
    case Errc::forced:
      return exit_code::kLost;
    case Errc::unknown:
    case Errc::unavailable:
    case Errc::no_quorum:
    case Errc::store_full:
      return exit_code::kUnavailable;
    case Errc::not_owner:
      return exit_code::kNoSuchLock;
    case Errc::unsupported:
    case Errc::size_mismatch:
      return exit_code::kConfiguration;
    case Errc::store_corrupt:
    case Errc::protocol:
      return exit_code::kProtocol;
    case Errc::permission:
      return exit_code::kNoPermission;
    case Errc::invalid_argument:
    case Errc::invalid_name:
    case Errc::invalid_lease:
      return exit_code::kBadData;
    case Errc::out_of_memory:
      return exit_code::kOsError;
    case Errc::cancelled:
    case Errc::forked:
    case Errc::would_deadlock:
      return exit_code::kInternal;
  }
  return exit_code::kInternal;
}

int exit_code_of_exec(int error_number) noexcept {
  return error_number == ENOENT ? exit_code::kNotFound : exit_code::kCannotExecute;
}

int exit_code_of_wait(int wait_status) noexcept {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) return exit_code::kSignal + WTERMSIG(wait_status);
  return exit_code::kInternal;
}

}  // namespace holdfast::cli
