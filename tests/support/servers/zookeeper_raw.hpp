// ZooKeeper's protocol by hand, apart from the code under test: to look at what it has done, to play other people's
// clients, and to end other people's sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/net/address.hpp"
#include "support/soon.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {

// What a server said no with.
class ZookeeperNo : public std::runtime_error {
 public:
  static constexpr std::int32_t kNoNode = -101, kNodeExists = -110, kBadVersion = -103;

  ZookeeperNo(std::int32_t number, const std::string& about)
      : std::runtime_error("ZooKeeper says " + std::to_string(number) + " to " + about),
        code(number) {}

  const std::int32_t code;
};

class ZookeeperHungUp : public std::runtime_error {
 public:
  ZookeeperHungUp() : std::runtime_error("a ZooKeeper server has hung up") {}
};

class ZookeeperExpired : public std::runtime_error {
 public:
  ZookeeperExpired() : std::runtime_error("the session has expired") {}
};

struct ZookeeperStat {
  std::int64_t created, changed;  // transactions: czxid, mzxid
  std::int64_t created_ms, changed_ms;
  std::int32_t version, children_version, acl_version;
  std::int64_t owner;  // the session that it goes with; 0: none
  std::int32_t size, children;
  std::int64_t children_changed;  // a transaction: pzxid
};

struct ZookeeperNode {
  std::string path{};
  std::string data{};
  ZookeeperStat stat{};
};

// One connection, one question at a time. It has no pings: it is meant to live shorter than its session.
//
// Lifetime     The session stays when this goes, as if the process had died; see end_session().
// On error     Throws: ZookeeperNo for what the server refuses, ZookeeperExpired for a session that has ended,
//              ZookeeperHungUp if the server does so, as it does when somebody else comes in with the session,
//              std::runtime_error for a server that is not there or silent.
// Threads      One at a time.
class ZookeeperRaw {
 public:
  enum class Mode : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    sequential = 2,
    ephemeral_sequential = 3
  };

  // In a session of its own, or in that one.
  explicit ZookeeperRaw(const Address& server,
                        std::chrono::milliseconds timeout = std::chrono::seconds(20),
                        std::optional<std::int64_t> session = {});

  std::int64_t session() const { return session_; }
  const std::string& password() const { return password_; }
  std::chrono::milliseconds timeout() const { return timeout_; }  // that the server agreed to
  // For each answer from now on. A server does not answer to whoever came in with a session that was just ending.
  void be_patient_for(std::chrono::milliseconds patience) { patience_ = patience; }

  ZookeeperNode create(const std::string& path, const std::string& data = "",
                       Mode = Mode::persistent);
  void create_container(const std::string& path);
  void remove(const std::string& path, std::int32_t version = -1);
  ZookeeperStat set(const std::string& path, const std::string& data, std::int32_t version = -1);
  ZookeeperNode get(const std::string& path);
  std::optional<ZookeeperStat> exists(const std::string& path);
  std::vector<std::string> children(const std::string& path);  // in order of their names
  void sync(const std::string& path = "/");

  // The node and all below it, as far as they are there.
  void remove_all(const std::string& path);

  void end_session();

 private:
  class Question;
  class Answer;
  Answer ask(const Question&);
  std::string hear();
  void send(const std::string& body);

  transport::Fd socket_;
  std::int64_t session_ = 0;
  std::string password_;
  std::chrono::milliseconds timeout_{};
  std::chrono::milliseconds patience_ = kSoon;
  std::int32_t questions_ = 0;
};

// What the server asks of whoever says that a session is his: it follows from the session's number.
std::string zookeeper_password(std::int64_t session);

// Somebody else's session is over, nodes and all, as if its time were up. Throws ZookeeperExpired if it was before.
void end_zookeeper_session(const Address& server, std::int64_t session);

// Of all clients that are connected, by the server's answer to "cons".
std::vector<std::int64_t> zookeeper_sessions(std::string_view cons);

}  // namespace holdfast::test
