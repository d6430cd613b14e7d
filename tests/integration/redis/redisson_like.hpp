#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "support/servers/redis_server.hpp"

namespace holdfast::test {

// Its RLock, RFencedLock, fair lock, and the two halves of its RReadWriteLock.
enum class JavaLock : std::uint8_t { plain, fenced, fair, read, write };

// Does to the keys and channels of a lock what a client of Redisson's does, thread by thread: written down here
// from watching one, so that no Java is needed to show that both can share locks.
class RedissonLike {
 public:
  explicit RedissonLike(RedisServer& server)
      : ask_([&server](const store::redis::Words& words) { return server.must(words); }) {}
  explicit RedissonLike(RedisConnection& connection)
      : ask_([&connection](const store::redis::Words& words) { return connection.ask(words); }) {}

  static constexpr std::chrono::milliseconds kLease{600'000};

  static std::string owner(int thread = 1) {
    return "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:" + std::to_string(thread);
  }

  // nullopt: got it. Else how long the one who has it may still have it, in ms.
  using Left = std::optional<std::int64_t>;
  Left lock(const std::string& name, int thread = 1);
  Left read_lock(const std::string& name, int thread = 1);
  Left write_lock(const std::string& name, int thread = 1);
  Left fair_lock(const std::string& name, int thread = 1,
                 std::chrono::milliseconds wait = std::chrono::minutes(5));
  std::int64_t fenced_lock(const std::string& name, int thread = 1);  // the token; -1: not got

  // Whether that thread held it.
  bool unlock(const std::string& name, int thread = 1);
  bool read_unlock(const std::string& name, int thread = 1);
  bool write_unlock(const std::string& name, int thread = 1);
  bool fair_unlock(const std::string& name, int thread = 1);
  bool force_unlock(const std::string& name);

  // The same by the sort of lock.
  Left lock(JavaLock, const std::string& name, int thread = 1);
  bool unlock(JavaLock, const std::string& name, int thread = 1);
  // Where a thread that waits for such a lock listens.
  static std::string channel(JavaLock, const std::string& name, int thread = 1);
  std::int64_t token(const std::string& name);  // of whoever holds a fenced lock

 private:
  store::redis::Reply run(const char* script, const store::redis::Words& keys,
                          const store::redis::Words& arguments);
  static Left left(const store::redis::Reply&);

  const std::function<store::redis::Reply(const store::redis::Words&)> ask_;
};

}  // namespace holdfast::test
