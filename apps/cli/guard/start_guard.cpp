#include "cli/guard/start_guard.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

Refusal os_error(const std::string& what) {
  return Refusal(exit_code::kOsError, what + ": " + std::strerror(errno));
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

StartedGuard start_guard(GuardPlan plan, const std::vector<std::string>& environment) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw os_error("cannot make a socket");
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  plan.socket = theirs.get();

  // This process has threads, so the child may do next to nothing before it becomes another program:
  // all it needs is made here.
  std::vector<std::string> words = plan.words();
  words.insert(words.begin(), "holdfast");
  std::vector<std::string> variables = environment;
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> environment_pointers = pointers_to(variables);
  const int inherited[] = {plan.socket, plan.lifeline, plan.terminal};

  const pid_t pid = fork();
  if (pid < 0) throw os_error("cannot fork");
  if (pid == 0) {
    for (const int descriptor : inherited) {
      if (descriptor >= 0) fcntl(descriptor, F_SETFD, 0);
    }
    execve("/proc/self/exe", arguments.data(), environment_pointers.data());
    _exit(exit_code::kOsError);
  }
  return {pid, RunLink(std::move(ours))};
}

}  // namespace holdfast::cli
