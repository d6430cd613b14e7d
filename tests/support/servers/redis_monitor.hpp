#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/servers/redis_connection.hpp"
#include "support/servers/redis_server.hpp"

namespace holdfast::test {

// A command that a server was given, by a client or by a script.
struct MonitoredCommand {
  std::chrono::microseconds at{};  // by the server's clock
  std::string from{};              // "127.0.0.1:40112", "unix:/…/redis.sock" or "lua"
  std::string text{};              // "EVALSHA" "5d3…" "2" …, quoted by the server

  bool by_tcp() const { return from.starts_with("127."); }
  bool is(std::string_view name) const { return text.starts_with('"' + std::string(name) + '"'); }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
  std::string word(std::size_t index) const;  // without its quotes; "" if there are not so many
};

// Everything that a server is asked from now on, in the order in which it is done.
//
// Threads      One at a time. Has one of its own.
class RedisMonitor {
 public:
  explicit RedisMonitor(const RedisServer&);
  RedisMonitor(const RedisMonitor&) = delete;
  RedisMonitor& operator=(const RedisMonitor&) = delete;
  ~RedisMonitor();

  // All that was asked before this call, since the last one.
  std::vector<MonitoredCommand> take();

 private:
  void run();

  RedisConnection own_;
  RedisConnection ear_;
  int marks_ = 0;  // how often it was asked how far it is
  std::mutex mutex_;
  std::condition_variable more_;
  int marks_seen_ = 0;
  std::vector<std::string> lines_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace holdfast::test
