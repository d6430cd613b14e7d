#include "failing_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

namespace {

using Call = holdfast::test::FailingCalls::Call;
using How = holdfast::test::FailingCalls::How;

std::atomic<int> g_kind{-1};
std::atomic<int> g_left{0};
std::atomic<How> g_how{How::not_done};
std::atomic<bool> g_failed{false};

bool fails_now(Call call) {
  if (g_kind != static_cast<int>(call) || g_left-- != 0) return false;
  g_failed = true;
  return true;
}

// What the call answers: `ask` does it.
template <class Ask>
int answer(Call call, Ask ask) {
  if (!fails_now(call)) return static_cast<int>(ask());
  if (g_how == How::done && ask() < 0) return -1;
  errno = EIO;
  return -1;
}

}  // namespace

// A program's own functions come before those of its libraries.
extern "C" {

int openat(int folder, const char* name, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if (fails_now(Call::open)) {  // there is nobody to close what was opened
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, folder, name, flags, mode));
}

ssize_t read(int file, void* to, size_t size) {
  if (fails_now(Call::read)) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_read, file, to, size);
}

ssize_t write(int file, const void* from, size_t size) {
  if (!fails_now(Call::write)) return ::syscall(SYS_write, file, from, size);
  const ssize_t half = ::syscall(SYS_write, file, from, size / 2);
  if (g_how == How::in_part) return half;
  errno = EIO;
  return -1;
}

int fsync(int file) {
  return answer(Call::sync, [&] { return ::syscall(SYS_fsync, file); });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return answer(Call::link,
                [&] { return ::syscall(SYS_linkat, from_folder, from, to_folder, to, flags); });
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return answer(Call::rename,
                [&] { return ::syscall(SYS_renameat, from_folder, from, to_folder, to); });
}

}  // extern "C"

namespace holdfast::test {

void FailingCalls::fail(Call call, int after, How how) {
  g_failed = false;
  g_how = how;
  g_left = after;
  g_kind = static_cast<int>(call);
}

bool FailingCalls::repair() {
  g_kind = -1;
  return g_failed;
}

}  // namespace holdfast::test
