#include "cli/demo/partner.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/boot_now.hpp"
#include "cli/demo/interruption.hpp"
#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

Refusal os_error(const std::string& what, int number) {
  return Refusal(exit_code::kOsError, what + ": " + std::strerror(number));
}

// Ours, but for the store.
std::vector<std::string> environment_with(const std::string& store_url) {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("HOLDFAST_URL=")) variables.emplace_back(*each);
  }
  variables.push_back("HOLDFAST_URL=" + store_url);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Partner::Partner(const std::vector<std::string>& words, const std::string& store_url) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw os_error("cannot make a socket", errno);
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);

  std::vector<std::string> arguments{"holdfast"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables = environment_with(store_url);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  const int error = posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                                pointers_to(arguments).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = 0;
    throw os_error("cannot start another process", error);
  }
}

Partner::~Partner() { kill(); }

void Partner::tell(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  // A partner that is gone is noticed by whoever listens to it.
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

std::string Partner::hear(Duration patience) {
  const TimePoint until = later(boot_now(), patience);
  std::size_t end = 0;
  while ((end = received_.find('\n')) == received_.npos) {
    if (!read_more(until)) failed();
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

void Partner::wait_for_end(Duration patience) {
  const TimePoint until = later(boot_now(), patience);
  while (read_more(until)) received_.clear();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  const int code = exit_code_of_wait(status);
  if (code != exit_code::kDone) {
    throw Refusal(code,
                  "another process of this command failed, with code " + std::to_string(code));
  }
}

bool Partner::read_more(TimePoint until) {
  while (true) {
    Interruption::check();
    const Duration left = left_until(until, boot_now());
    if (left == Duration::zero()) {
      throw Refusal(exit_code::kUnavailable, "another process of this command does not answer");
    }
    pollfd ready{socket_.get(), POLLIN, 0};
    // In short waits: a signal may come just before poll().
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::min<Duration>(left, 200ms));
    if (poll(&ready, 1, static_cast<int>(wait.count())) <= 0) continue;
    char bytes[4096];
    const ssize_t count = read(socket_.get(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }
}

void Partner::failed() {
  wait_for_end(10s);  // throws if it knows why
  throw Refusal(exit_code::kInternal, "another process of this command ended early");
}

void Partner::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

void Partner::stop() {
  ::kill(pid_, SIGSTOP);
  while (waitpid(pid_, nullptr, WUNTRACED) < 0 && errno == EINTR) {
  }
}

void Partner::go_on() { ::kill(pid_, SIGCONT); }

void serve_partner() {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) {
    throw UsageError("this command is for holdfast itself");
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::string hear_from_starter() {
  std::string line;
  char c = '\0';
  while (true) {
    const ssize_t count = read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    if (c == '\n') return line;
    line += c;
  }
}

}  // namespace holdfast::cli
