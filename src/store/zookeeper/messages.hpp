// What is said to a ZooKeeper server, as frames of jute. A connection begins with a hello and a welcome; then
// each question has a number, its xid. What is answered: answers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// Numbers of what is no question, and of what comes without one.
inline constexpr std::int32_t kEventXid = -1;
inline constexpr std::int32_t kPingXid = -2;
inline constexpr std::int32_t kIdentityXid = -4;
inline constexpr std::int32_t kWatchesXid = -8;

// --- the beginning and the end of a connection ---

struct Hello {
  std::int64_t last_zxid = 0;  // a server that has not come that far hangs up
  std::int32_t timeout_ms = 0;
  std::int64_t session = 0;  // to go on with; 0: a new one
  std::string password{};    // of the session
};
void append_hello(std::string& out, const Hello&);

void append_identity(std::string& out, std::string_view user, std::string_view password);
void append_ping(std::string& out);
void append_goodbye(std::string& out, std::int32_t xid);

// --- questions ---

// Who may do anything to the nodes that we make; nobody else may do anything.
enum class Owners : std::uint8_t { anyone, ourselves };

// Above this a server with its usual settings (jute.maxbuffer) hangs up instead of answering.
inline constexpr std::size_t kLongestQuestion = 1'000'000;

void append_question(std::string& out, std::int32_t xid, const Request&, Owners);
// All or nothing.
void append_question(std::string& out, std::int32_t xid, std::span<const Request>, Owners);

// What is watched at a path. A server has three lists, and is told each on its own.
struct Watched {
  bool data = false;
  bool creation = false;  // it was not there
  bool children = false;

  bool any() const { return data || creation || children; }
};

// Sets watches again over a new connection, and has those fire for which something happened after
// `last_zxid`. In frames that no server finds too long, each of which is answered.
class WatchesAgain {
 public:
  WatchesAgain(std::string& out, std::int64_t last_zxid) : out_(out), last_zxid_(last_zxid) {}

  void add(const std::string& path, const Watched&);
  void finish();  // what is left

 private:
  std::string& out_;
  const std::int64_t last_zxid_;
  std::vector<std::string> data_, creation_, children_;
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::store::zookeeper
