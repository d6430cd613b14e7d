#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define HOLDFAST_NEEDS_THREADS_IN_A_CHILD() \
  GTEST_SKIP() << "ThreadSanitizer has no threads in the child of a process with threads"
#elif defined(__SANITIZE_ADDRESS__)
#define HOLDFAST_NEEDS_THREADS_IN_A_CHILD() \
  GTEST_SKIP() << "AddressSanitizer forks with locks of its allocator held: new threads may hang"
#else
#define HOLDFAST_NEEDS_THREADS_IN_A_CHILD() static_cast<void>(0)
#endif

namespace holdfast::test {

// Runs the check in a child that is forked but not started anew, and says whether it held there. The
// child is given a minute and ends without destructors. (child_process.hpp has processes that begin
// afresh.)
template <class Check>
bool holds_in_child(Check check) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace holdfast::test
