#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "integration/zookeeper/curator_peer.hpp"
#include "support/servers/zookeeper_raw.hpp"
#include "support/servers/zookeeper_server.hpp"

namespace holdfast::test {

// One lock for all who use it: our clients call it "lock", Java's call it lock_, and raw_ sees what both do to it.
class CuratorBench : public testing::Test {
 protected:
  void SetUp() override;

  // Of those who die: soon over, and long enough for a busy machine.
  static constexpr std::chrono::seconds kShortSession{2};
  static constexpr const char* kShort = "session=2s";

  // Ours.
  std::string url(const std::string& options = "session=10s") const;
  Client open(const std::string& options = "session=10s") const;

  // A Java process, started when somebody first asks for it, and what people there are told: a mutex, a read…
  CuratorPeer& java();
  std::string acquire(const std::string& kind) const {
    return "acquire " + kind + " " + lock_ + " 30000";
  }
  std::string attempt(const std::string& kind) const {
    return "acquire " + kind + " " + lock_ + " 0";
  }
  std::string release(const std::string& kind) const { return "release " + kind + " " + lock_; }

  // What is below the lock, in the order of its numbers.
  std::vector<std::string> nodes(const std::string& below = "");
  std::string path_of(const std::string& node) const { return lock_ + "/" + node; }
  bool until_there_are(std::size_t count, const std::string& below = "");

  ZookeeperServer& server_ = ZookeeperServer::shared();
  const std::string base_ = server_.new_base();
  const std::string lock_ = base_ + "/lock";
  ZookeeperRaw raw_{Address::tcp(server_.port()), std::chrono::seconds(60)};

 private:
  std::optional<CuratorPeer> java_;
};

// Waits for it, though not for ever.
Result<Hold> granted(Pending<Hold>);

}  // namespace holdfast::test
