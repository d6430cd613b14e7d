#include "support/servers/server_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace holdfast::test {

std::uint16_t free_port() { return own_address(bound_socket(Address::any_port())).port(); }

void ServerProcess::start(Words command, Words environment, const std::string& output) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> variables;
  for (char** ours = environ; *ours != nullptr; ++ours) variables.push_back(*ours);
  for (std::string& word : environment) variables.push_back(word.data());
  variables.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot start " + command.front());
  if (pid_ > 0) return;
  // In the child, between fork and exec: system calls only.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  ::execvpe(argv[0], argv.data(), variables.data());
  ::_exit(127);
}

bool ServerProcess::running() const {
  siginfo_t ended{};
  return pid_ > 0 &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

void ServerProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void ServerProcess::pause() const {
  if (pid_ <= 0) return;  // -1 would be everybody
  ::kill(pid_, SIGSTOP);
  ::waitid(P_PID, static_cast<id_t>(pid_), nullptr, WSTOPPED);
}

void ServerProcess::resume() const {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

}  // namespace holdfast::test
