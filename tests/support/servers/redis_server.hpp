#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "store/redis/resp.hpp"
#include "support/servers/redis_connection.hpp"
#include "support/servers/server_process.hpp"
#include "support/temp_folder.hpp"
#include "support/tls/test_authority.hpp"

namespace holdfast::test {

struct RedisTls {
  Papers papers{};
  std::string authority{};          // of its clients' certificates
  bool wants_certificates = false;  // of its clients
};

struct RedisOptions {
  bool append_only = false;       // else nothing is kept
  std::string password{};         // of the default user
  std::optional<RedisTls> tls{};  // on a port beside
  // Lines of an ACL file: "user bob on >secret ~* &* +@all".
  store::redis::Words users{};
  // "NAME=value" beside ours: a clock shim's.
  store::redis::Words environment{};
  // More words of the command line: {"--maxmemory", "10mb"}.
  store::redis::Words more{};
};

// A Redis server of a test's own, in a folder of its own, on a free port and a socket file.
//
// Guarantees   It is gone with this object, and also if the test dies.
// On error     Throws: a test cannot go on without its server.
// Threads      One at a time.
class RedisServer {
 public:
  explicit RedisServer(RedisOptions options = {});  // it answers when this returns
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() { kill(); }

  std::uint16_t port() const { return port_; }
  std::uint16_t tls_port() const { return tls_port_; }
  std::string socket_path() const { return folder_ / "redis.sock"; }
  std::string log_path() const { return folder_ / "redis.log"; }
  const std::string& folder() const { return folder_.path(); }

  void kill();     // -9; it is gone when this returns
  void restart();  // on the same port, with what it kept
  void restart_empty();
  void pause() const { process_.pause(); }
  void resume() const { process_.resume(); }

  // On a connection of this object's own, as the default user.
  store::redis::Reply command(const store::redis::Words&);
  // Of a script or any other command that must not fail.
  store::redis::Reply must(const store::redis::Words&);

 private:
  void start();
  store::redis::Words command_line() const;
  bool answers();

  const RedisOptions options_;
  const TempFolder folder_;
  std::uint16_t port_ = 0;
  std::uint16_t tls_port_ = 0;
  ServerProcess process_;
  std::unique_ptr<RedisConnection> connection_;
};

}  // namespace holdfast::test
