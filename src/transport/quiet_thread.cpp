#include "transport/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace holdfast::transport {
namespace {

// Blocks signals in this thread while it lives. A new thread inherits the mask, so it has no first
// moment in which it could be interrupted.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      sigdelset(&blocked, fault);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::thread start_quiet_thread(const char* name, Task body) {
  const SignalsBlocked blocked;
  return std::thread([name, run = std::move(body)]() mutable {
    pthread_setname_np(pthread_self(), name);
    run();
    run = Task();  // what it owned ends on this thread, before anybody who joins goes on
  });
}

}  // namespace holdfast::transport
