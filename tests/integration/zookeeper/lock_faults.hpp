// What the fault tests of whole clients share: a look at a lock's line from the side, and clients whose sessions are
// as long as a test can wait for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "runtime/boot_clock.hpp"
#include "support/net/proxy.hpp"
#include "support/outcome.hpp"
#include "support/servers/zookeeper_raw.hpp"
#include "support/servers/zookeeper_server.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

inline TimePoint boot_now() { return runtime::BootClock().now(); }

inline bool is_lost(const Hold& hold) { return hold.lost().stop_requested(); }

inline bool comes_to_be_lost(const Hold& hold) {
  return eventually([&] { return is_lost(hold); });
}

// It is ours, and what renews it goes on.
inline void expect_renewed(const Hold& hold) {
  EXPECT_TRUE(eventually([&] { return hold.verify().has_value(); }));
  const TimePoint before = hold.valid_until();
  EXPECT_TRUE(eventually([&] { return hold.valid_until() > before; }));
  EXPECT_TRUE(hold.valid());
}

// A lock as one server shows it.
class LineOnServer {
 public:
  LineOnServer(const Address& server, std::string path)
      : raw_(server, 2min), path_(std::move(path)) {}

  // Contenders in the order of their numbers; none if there is no such lock.
  std::vector<ZookeeperNode> all() {
    std::vector<ZookeeperNode> line;
    for (const std::string& name : names()) {
      if (const auto stat = raw_.exists(path_ + '/' + name)) {
        line.push_back({.path = path_ + '/' + name, .data = {}, .stat = *stat});
      }
    }
    std::sort(line.begin(), line.end(), [](const ZookeeperNode& one, const ZookeeperNode& other) {
      return one.stat.created < other.stat.created;
    });
    return line;
  }
  std::size_t size() {
    const auto lock = raw_.exists(path_);
    return lock ? static_cast<std::size_t>(lock->children) : 0;
  }
  bool comes_to(std::size_t count) {
    return eventually([&] { return size() == count; });
  }
  // The session of the n-th; 0 if there is none.
  std::int64_t session_of(std::size_t which) {
    const auto line = all();
    return which < line.size() ? line[which].stat.owner : 0;
  }
  ZookeeperRaw& raw() { return raw_; }

 private:
  std::vector<std::string> names() {
    try {
      return raw_.children(path_);
    } catch (const ZookeeperNo& no) {
      if (no.code == ZookeeperNo::kNoNode) return {};
      throw;
    }
  }

  ZookeeperRaw raw_;
  const std::string path_;
};

// Our fences are the numbers of the changes that made the nodes, with room between.
inline std::uint64_t fence_of(const ZookeeperNode& node) {
  return static_cast<std::uint64_t>(node.stat.created) << 10;
}

// On one server, through a network that the test breaks or past it.
class LockFaults : public testing::Test {
 protected:
  explicit LockFaults(ZookeeperServer& server = ZookeeperServer::shared()) : server_(server) {}

  std::string url(const std::string& options) const {
    return "zk://" + proxy_.address().text() + base_ + options;
  }
  std::string direct_url(const std::string& options) const {
    return "zk://" + server_.host() + base_ + options;
  }
  Client open(const std::string& options, Duration answer_within = 2s) const {
    return connect(url(options), {.answer_within = answer_within, .patience = kSoon}).value();
  }
  Client open_direct(const std::string& options) const {
    return connect(direct_url(options), {.patience = kSoon}).value();
  }
  LineOnServer line(const std::string& name = "lock") const {
    return LineOnServer(address(), base_ + '/' + name);
  }
  Address address() const { return Address::tcp(server_.port()); }

  // Whoever is behind the proxy has no connection and gets none.
  void disconnect() {
    proxy_.refuse();
    proxy_.reset();
    ASSERT_TRUE(proxy_.until_open(0));
  }
  void reconnect() { proxy_.admit(); }

  ZookeeperServer& server_;
  const std::string base_ = server_.new_base();
  Proxy proxy_{Address::tcp(server_.port())};
};

}  // namespace holdfast::test
