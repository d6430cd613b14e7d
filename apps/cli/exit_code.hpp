#pragma once

#include "holdfast/error.hpp"

namespace holdfast::cli {

// How the program ends: the numbers of sysexits.h, so that they mean the same as elsewhere. None is
// 124, which timeout(1) uses, and `run` passes the exit code of its command on.
namespace exit_code {
inline constexpr int kDone = 0;
inline constexpr int kNoSuchLock = 1;
inline constexpr int kUsage = 64;
inline constexpr int kBadData = 65;
inline constexpr int kUnavailable = 69;
inline constexpr int kInternal = 70;
inline constexpr int kOsError = 71;
inline constexpr int kCannotCreate = 73;
inline constexpr int kBusy = 75;
inline constexpr int kProtocol = 76;
inline constexpr int kNoPermission = 77;
inline constexpr int kConfiguration = 78;
inline constexpr int kLost = 80;
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignal = 128;  // + the number of the signal
}  // namespace exit_code

int exit_code_of(Errc) noexcept;

// Of a command that could not be started: what execvp() said.
int exit_code_of_exec(int error_number) noexcept;

// Of a command that ended, from waitpid(): its own, or 128 and its signal.
int exit_code_of_wait(int wait_status) noexcept;

}  // namespace holdfast::cli
