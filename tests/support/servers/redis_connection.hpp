#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "store/redis/resp.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

// A connection to a Redis server that asks and waits: what redis-cli is for people.
//
// On error     Throws: a test cannot go on without its server.
// Threads      One at a time.
class RedisConnection {
 public:
  explicit RedisConnection(const std::string& socket_path);
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;
  ~RedisConnection();

  store::redis::Reply ask(const store::redis::Words&);
  // What comes without being asked for: messages of channels. None if it stays silent for so long.
  std::optional<store::redis::Reply> hear(std::chrono::milliseconds patience = kSoon);

 private:
  void send(const std::string& bytes) const;

  int fd_ = -1;
  store::redis::ReplyReader replies_;
};

}  // namespace holdfast::test
