#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "integration/redis/redisson_like.hpp"
#include "support/servers/redis_connection.hpp"
#include "support/servers/redis_server.hpp"

namespace holdfast::test {

// A thread of a Java program that waits for locks as Redisson does: it listens, tries once more, and then sleeps
// until it is told or the lease that it saw has ended.
//
// Threads      One at a time; waits() from any.
class JavaThread {
 public:
  explicit JavaThread(const RedisServer& server, int number = 1)
      : socket_path_(server.socket_path()), connection_(socket_path_), number_(number) {}

  // Answers when it got it.
  std::chrono::steady_clock::time_point lock(JavaLock, const std::string& name);
  bool unlock(JavaLock sort, const std::string& name) { return calls_.unlock(sort, name, number_); }

  bool waits() const { return waits_; }  // it sleeps until it is told
  RedissonLike& calls() { return calls_; }

 private:
  void wait(JavaLock, const std::string& name);

  const std::string socket_path_;
  RedisConnection connection_;
  RedissonLike calls_{connection_};
  const int number_;
  std::atomic<bool> waits_{false};
};

}  // namespace holdfast::test
