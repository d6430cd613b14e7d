#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/net/proxy.hpp"
#include "support/servers/zookeeper_ensemble.hpp"
#include "support/servers/zookeeper_raw.hpp"
#include "support/servers/zookeeper_server.hpp"
#include "support/stopwatch.hpp"
#include "torture/network_faults.hpp"
#include "torture/scene.hpp"

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;
using test::Proxy;
using test::ZookeeperEnsemble;
using test::ZookeeperServer;

// Of all clients, whatever they ask for: short, so that stopped ones are outlived by theirs.
constexpr auto kSession = 1s;
// After which servers give each other up.
constexpr auto kSilence = 1500ms;

// A process that is killed loses nothing that it has told the operating system. Containers go as soon as they are
// empty, so that locks begin again at nought all the time.
test::ZookeeperOptions server_options() {
  return {
      .tick = 100ms, .min_session = kSession, .max_session = kSession, .container_check = 200ms};
}

// What befalls one server while the clients are at it, and for as long as it takes to matter.
class Lasting {
 public:
  void begin(std::size_t which) {
    which_ = which;
    since_.emplace();
  }
  std::size_t which() const { return which_; }
  void at_least(std::chrono::milliseconds length) const {
    std::this_thread::sleep_for(length - since_->elapsed());
  }

 private:
  std::size_t which_ = 0;
  std::optional<test::Stopwatch> since_;
};

// One server or three of the run's own, each behind a network of the run's own.
class ZookeeperScene final : public Scene {
 public:
  explicit ZookeeperScene(std::string url) {
    std::vector<std::uint16_t> ports;
    if (places_in(url) == 1) {
      alone_ = std::make_unique<ZookeeperServer>(server_options());
      ports = {alone_->port()};
    } else if (places_in(url) == ZookeeperEnsemble::kSize) {
      ensemble_ = std::make_unique<ZookeeperEnsemble>(
          test::EnsembleOptions{.each = server_options(), .silence = kSilence});
      for (std::size_t i = 0; i < ZookeeperEnsemble::kSize; ++i) ports.push_back(at(i).port());
    } else {
      throw std::runtime_error("one ZooKeeper server or three: " + url);
    }
    for (const std::uint16_t port : ports) {
      ways_.push_back(std::make_unique<Proxy>(test::Address::tcp(port)));
      url = filled(std::move(url), ways_.back()->address().text());
    }
    url_ = std::move(url);
  }

  const std::string& url() const override { return url_; }

  Disturbances disturbances() override {
    Disturbances all;
    alone_ ? add_those_of_one_server(all) : add_those_of_three(all);
    add(all, "sessions_moved", "somebody else comes in with each session and hangs up",
        [this] { move_sessions(); });
    std::vector<Proxy*> ways;
    for (const auto& way : ways_) ways.push_back(way.get());
    add_network_faults(all, ways);
    return all;
  }

 private:
  static std::size_t places_in(const std::string& url) {
    std::size_t places = 0;
    for (auto at = url.find("{}"); at != std::string::npos; at = url.find("{}", at + 2)) ++places;
    return places;
  }

  std::size_t size() const { return alone_ ? 1 : ZookeeperEnsemble::kSize; }
  ZookeeperServer& at(std::size_t which) { return alone_ ? *alone_ : (*ensemble_)[which]; }

  void add_those_of_one_server(Disturbances& all) {
    add(
        all, "server_paused", "the server is stopped and goes on", [this] { alone_->pause(); },
        [this] { alone_->resume(); });
    add(
        all, "server_killed", "the server is killed and comes back with its data",
        [this] { alone_->kill(); }, [this] { alone_->restart(); });
  }

  void add_those_of_three(Disturbances& all) {
    add(
        all, "leader_paused", "the leader is stopped until there is another one, and goes on",
        [this] {
          struck_.begin(ensemble_->leader());
          at(struck_.which()).pause();
        },
        [this] {
          struck_.at_least(2 * kSilence);
          at(struck_.which()).resume();
          ensemble_->until_all_serve();
        });
    add(
        all, "leader_killed", "the leader is killed and comes back with its data",
        [this] {
          struck_.begin(ensemble_->leader());
          at(struck_.which()).kill();
        },
        [this] { bring_back(); });
    add(
        all, "follower_killed", "a follower is killed and comes back with its data",
        [this] {
          struck_.begin(ensemble_->a_follower());
          at(struck_.which()).kill();
        },
        [this] { bring_back(); });
    add(
        all, "leader_cut_off", "the leader does not reach the others, but its clients",
        [this] { cut_off(ensemble_->leader()); },
        [this] {
          struck_.at_least(2 * kSilence);  // the others have another one by then
          join();
        });
    add(
        all, "leader_deposed",
        "the others begin anew without their leader, who does not hear of it",
        [this] {
          struck_.begin(ensemble_->leader());
          ensemble_->depose(struck_.which());
        },
        [this] { join(); });
    add(
        all, "follower_cut_off", "a follower does not reach the others, but its clients",
        [this] { cut_off(ensemble_->a_follower()); }, [this] { join(); });
  }

  void bring_back() {
    at(struck_.which()).restart();
    ensemble_->until_all_serve();
  }

  void cut_off(std::size_t which) {
    struck_.begin(which);
    ensemble_->cut_off(which);
  }

  // Sessions have ended by then without the one that was cut off having heard of it.
  void join() {
    struck_.at_least(kSession * 5 / 4);
    ensemble_->join(struck_.which());
    ensemble_->until_all_serve();
  }

  void move_sessions() {
    for (std::size_t i = 0; i < size(); ++i) {
      for (const std::int64_t session : test::zookeeper_sessions(at(i).word("cons"))) {
        try {
          test::ZookeeperRaw(test::Address::tcp(at(i).port()), kSession, session);
        } catch (const std::exception&) {  // it has just ended
        }
      }
    }
  }

  std::unique_ptr<ZookeeperServer> alone_;
  std::unique_ptr<ZookeeperEnsemble> ensemble_;
  std::vector<std::unique_ptr<Proxy>> ways_;
  std::string url_;
  Lasting struck_;
};

}  // namespace

std::unique_ptr<Scene> zookeeper_scene(const std::string& url) {
  return std::make_unique<ZookeeperScene>(url);
}

}  // namespace holdfast::torture
