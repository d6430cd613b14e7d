#include "cli/support/spawned.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace holdfast::cli_tests {

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool is_alive(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != stat.npos && name_end + 2 < stat.size() && stat[name_end + 2] != 'Z' &&
         stat[name_end + 2] != 'X';
}

Spawned::Spawned(const std::vector<std::string>& words, const Setup& setup) {
  static int count = 0;
  const std::string number = std::to_string(++count);
  out_ = setup.folder / ("out" + number);
  err_ = setup.folder / ("err" + number);
  std::vector<std::string> copies = words;
  std::vector<std::string> variables = setup.environment;
  pid_ = fork();
  if (pid_ != 0) {
    setpgid(pid_, pid_);
    return;
  }
  setpgid(0, 0);
  if (setup.ignore_hup) std::signal(SIGHUP, SIG_IGN);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
  dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
  if (setup.inherited >= 0) dup2(setup.inherited, 3);
  for (std::string& variable : variables) putenv(variable.data());
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(99);
}

Spawned::Spawned(Spawned&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      status_(other.status_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

Spawned::~Spawned() {
  if (pid_ == 0 || !running()) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Spawned::running() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return !status_;
}

void Spawned::signal(int number) const { kill(pid_, number); }

int Spawned::exit_code(std::chrono::milliseconds limit) {
  if (!eventually([this] { return !running(); }, limit)) {
    ADD_FAILURE() << "it does not end; it said: " << err();
    return -1;
  }
  return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
}

}  // namespace holdfast::cli_tests
