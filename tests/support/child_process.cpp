#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast::test {
namespace {

constexpr std::string_view kRoleFlag = "--role=";

std::map<std::string, Role::Play>& roles() {
  static std::map<std::string, Role::Play> all;
  return all;
}

}  // namespace

// ---- lines ----

std::optional<std::string> Lines::hear(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    if (const auto at = heard_.find('\n'); at != std::string::npos) {
      std::string line = heard_.substr(0, at);
      heard_.erase(0, at + 1);
      return line;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{.fd = in_, .events = POLLIN, .revents = 0};
    if (left.count() < 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) return {};
    char some[4096];
    const ssize_t size = ::read(in_, some, sizeof some);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    heard_.append(some, static_cast<std::size_t>(size));
  }
}

void Lines::tell(const std::string& line) const {
  const std::string whole = line + "\n";
  if (::write(out_, whole.data(), whole.size()) < 0) return;  // whoever is gone needs no news
}

// ---- roles ----

Role::Role(std::string name, Play play) : name_(std::move(name)) {
  if (!roles().emplace(name_, std::move(play)).second) std::abort();  // two roles of one name
}

std::optional<int> run_role(int argc, char** argv) {
  if (argc < 2 || !std::string_view(argv[1]).starts_with(kRoleFlag)) return std::nullopt;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  const auto role = roles().find(argv[1] + kRoleFlag.size());
  if (role == roles().end()) return 2;
  Parent parent;
  try {
    role->second(parent, Words(argv + 2, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
  return 0;
}

// ---- a child ----

ChildProcess::ChildProcess(const Role& role, const Words& arguments) {
  Words words{"/proc/self/exe", std::string(kRoleFlag) + role.name()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  start(words, {});
}

ChildProcess::ChildProcess(const Words& command, const Words& environment) {
  start(command, environment);
}

void ChildProcess::start(const Words& command, const Words& environment) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  ::signal(SIGPIPE, SIG_IGN);
  Words words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Words variables = environment;
  std::vector<char*> all_variables;
  for (std::string& variable : variables) all_variables.push_back(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable)
    all_variables.push_back(*variable);
  all_variables.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const int error =
      ::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), all_variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  lines_ = Lines(from_, to_);
  if (error != 0) throw std::runtime_error("cannot start a child process");
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      lines_(std::exchange(other.lines_, Lines(-1, -1))) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(to_, other.to_);
  std::swap(from_, other.from_);
  std::swap(lines_, other.lines_);
  return *this;
}

std::string ChildProcess::hear(std::chrono::milliseconds patience) {
  return lines_.hear(patience).value_or("");
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

bool ChildProcess::running() const {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

void ChildProcess::stop() const {
  signal(SIGSTOP);
  ::waitid(P_PID, static_cast<id_t>(pid_), nullptr, WSTOPPED);
}

void ChildProcess::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  close_pipes();
}

int ChildProcess::exit_code() {
  int status = 0;
  if (pid_ <= 0 || !eventually([&] { return ::waitpid(pid_, &status, WNOHANG) != 0; })) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void ChildProcess::close_pipes() {
  for (int* pipe : {&to_, &from_}) {
    if (*pipe >= 0) ::close(std::exchange(*pipe, -1));
  }
}

}  // namespace holdfast::test
