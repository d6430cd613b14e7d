#include "support/servers/redis_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/soon.hpp"

namespace holdfast::test {

using store::redis::Reply;
using store::redis::Words;

namespace {

// Free now: somebody else may take it before the server does, then it is started once more.
std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool ok = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) ::close(fd);
  if (!ok) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

}  // namespace

RedisServer::RedisServer(RedisOptions options) : options_(std::move(options)) {
  if (!options_.users.empty()) {
    std::ofstream file(folder_ / "users.acl");
    for (const std::string& line : options_.users) file << line << "\n";
  }
  for (int attempt = 0; attempt < 5 && !running(); ++attempt) {
    port_ = free_port();
    if (options_.tls) tls_port_ = free_port();
    start();
  }
  if (!running()) throw std::runtime_error("redis-server does not start: see " + log_path());
}

Words RedisServer::command_line() const {
  Words words{"redis-server",
              "--port",
              std::to_string(port_),
              "--bind",
              "127.0.0.1",
              "--unixsocket",
              socket_path(),
              "--dir",
              folder(),
              "--logfile",
              log_path(),
              "--save",
              "",
              "--appendonly",
              options_.append_only ? "yes" : "no"};
  if (!options_.password.empty()) words.insert(words.end(), {"--requirepass", options_.password});
  if (!options_.users.empty()) words.insert(words.end(), {"--aclfile", folder_ / "users.acl"});
  if (const auto& tls = options_.tls) {
    words.insert(words.end(),
                 {"--tls-port", std::to_string(tls_port_), "--tls-cert-file",
                  tls->papers.certificate, "--tls-key-file", tls->papers.key, "--tls-ca-cert-file",
                  tls->authority, "--tls-auth-clients", tls->wants_certificates ? "yes" : "no"});
  }
  words.insert(words.end(), options_.more.begin(), options_.more.end());
  return words;
}

void RedisServer::start() {
  spawn();
  eventually([this] { return !running() || answers(); });
  if (!running()) kill();
}

void RedisServer::spawn() {
  Words words = command_line();
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Words more = options_.environment;
  std::vector<char*> environment;
  for (char** ours = environ; *ours != nullptr; ++ours) environment.push_back(*ours);
  for (std::string& word : more) environment.push_back(word.data());
  environment.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot start redis-server");
  if (pid_ > 0) return;
  // In the child, between fork and exec: system calls only.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(null, 1);
  ::dup2(null, 2);
  ::execvpe(argv[0], argv.data(), environment.data());
  ::_exit(127);
}

bool RedisServer::answers() {
  try {
    return command({"PING"}).is_text("PONG");
  } catch (const std::exception&) {
    connection_.reset();
    return false;
  }
}

bool RedisServer::running() const {
  siginfo_t ended{};
  return pid_ > 0 &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

void RedisServer::kill() {
  connection_.reset();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void RedisServer::restart() {
  kill();
  start();
  if (!running()) throw std::runtime_error("redis-server does not start again: see " + log_path());
}

void RedisServer::restart_empty() {
  kill();
  std::filesystem::remove_all(folder_ / "appendonlydir");
  restart();
}

void RedisServer::pause() const {
  if (pid_ <= 0) return;  // -1 would be everybody
  ::kill(pid_, SIGSTOP);
  ::waitid(P_PID, static_cast<id_t>(pid_), nullptr, WSTOPPED);
}

void RedisServer::resume() const {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

Reply RedisServer::command(const Words& words) {
  if (!connection_) {
    connection_ = std::make_unique<RedisConnection>(socket_path());
    if (!options_.password.empty()) connection_->ask({"AUTH", options_.password});
  }
  return connection_->ask(words);
}

Reply RedisServer::must(const Words& words) {
  Reply reply = command(words);
  if (reply.is(Reply::Type::error)) throw std::runtime_error(words.front() + ": " + reply.text);
  return reply;
}

}  // namespace holdfast::test
