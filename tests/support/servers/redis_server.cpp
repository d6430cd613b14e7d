#include "support/servers/redis_server.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "support/soon.hpp"

namespace holdfast::test {

using store::redis::Reply;
using store::redis::Words;

RedisServer::RedisServer(RedisOptions options) : options_(std::move(options)) {
  if (!options_.users.empty()) {
    std::ofstream file(folder_ / "users.acl");
    for (const std::string& line : options_.users) file << line << "\n";
  }
  for (int attempt = 0; attempt < 5 && !process_.running(); ++attempt) {
    port_ = free_port();
    if (options_.tls) tls_port_ = free_port();
    start();
  }
  if (!process_.running())
    throw std::runtime_error("redis-server does not start: see " + log_path());
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
  process_.start(command_line(), options_.environment);
  eventually([this] { return !process_.running() || answers(); });
  if (!process_.running()) kill();
}

bool RedisServer::answers() {
  try {
    return command({"PING"}).is_text("PONG");
  } catch (const std::exception&) {
    connection_.reset();
    return false;
  }
}

void RedisServer::kill() {
  connection_.reset();
  process_.kill();
}

void RedisServer::restart() {
  kill();
  start();
  if (!process_.running())
    throw std::runtime_error("redis-server does not start again: see " + log_path());
}

void RedisServer::restart_empty() {
  kill();
  std::filesystem::remove_all(folder_ / "appendonlydir");
  restart();
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
