#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/net/proxy.hpp"
#include "support/servers/server_process.hpp"
#include "support/servers/zookeeper_server.hpp"

namespace holdfast::test {

struct EnsembleOptions {
  ZookeeperOptions each{};
  // After such a silence of its leader a follower serves no more, and a leader does without its follower. Longer
  // than a session, so that a follower that is cut off goes on answering after its clients' sessions have ended.
  std::chrono::milliseconds silence = std::chrono::seconds(5);
};

// Three ZooKeeper servers that are one. All that passes between two of them goes through proxies of ours.
//
//   ZookeeperEnsemble ensemble;
//   const std::size_t follower = ensemble.a_follower();
//   ensemble.cut_off(follower);                          // both ways, silently
//   …
//   ensemble.join(follower);
//
// On error     Throws: a test cannot go on without its servers.
// Threads      One at a time.
class ZookeeperEnsemble {
 public:
  static constexpr std::size_t kSize = 3;

  explicit ZookeeperEnsemble(EnsembleOptions options = {});  // all serve when this returns
  ZookeeperEnsemble(const ZookeeperEnsemble&) = delete;
  ZookeeperEnsemble& operator=(const ZookeeperEnsemble&) = delete;

  // To be killed, stopped and started again. What is restarted is back before it serves: see
  // until_all_serve().
  ZookeeperServer& operator[](std::size_t which) { return *servers_.at(which); }
  std::string hosts() const;  // of all: "127.0.0.1:2181,127.0.0.1:2182,…"
  std::string hosts_without(std::size_t one) const;
  std::string new_base();

  // Waits until there is one. Who leads may have changed when this returns if something was done to them.
  std::size_t leader() const;
  std::size_t a_follower() const { return leader() == 0 ? 1 : 0; }
  void until_all_serve() const;

  // Between the two, or between one and both others: what is sent arrives when they are joined again. Clients
  // still reach all of them.
  void cut(std::size_t one, std::size_t other) { set_cut(one, other, true); }
  void join(std::size_t one, std::size_t other) { set_cut(one, other, false); }
  void cut_off(std::size_t one);
  void join(std::size_t one);
  // Cuts off the one that leads and lets the others begin anew, which serve when this returns. It is not told, and
  // goes on as the leader it was until it has missed them for the time of a silence.
  void depose(std::size_t leader);

 private:
  // Where one server listens for the others: as a leader, and when leaders are elected.
  struct Doors {
    KeptPort leading;
    KeptPort electing;
  };
  // The ways to these doors from another server.
  struct Ways {
    explicit Ways(const Doors&);
    Proxy leading;
    Proxy electing;
  };

  Ways& ways(std::size_t from, std::size_t to) { return *ways_.at(from).at(to); }
  std::vector<std::size_t> all_but(std::size_t one) const;
  void set_cut(std::size_t one, std::size_t other, bool cut);
  void send_callers_back_through_proxies();
  Words view_of(std::size_t which, const EnsembleOptions&);

  std::array<Doors, kSize> doors_;
  std::array<std::array<std::unique_ptr<Ways>, kSize>, kSize> ways_;
  std::array<std::unique_ptr<ZookeeperServer>, kSize> servers_;
};

}  // namespace holdfast::test
