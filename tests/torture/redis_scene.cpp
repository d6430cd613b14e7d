#include <memory>
#include <string>

#include "support/net/proxy.hpp"
#include "support/servers/redis_server.hpp"
#include "torture/network_faults.hpp"
#include "torture/scene.hpp"

namespace holdfast::torture {
namespace {

using test::Proxy;
using test::RedisServer;

// What the server has said yes to it must know after a restart, or the premise that it keeps its data would be
// broken. A process that is killed loses nothing that it has written; only "everysec" writes late.
test::RedisOptions that_keeps_its_data() {
  return {.append_only = true, .more = {"--appendfsync", "no"}};
}

// A server of the run's own, behind a network of the run's own.
class RedisScene final : public Scene {
 public:
  explicit RedisScene(const std::string& url) : url_(filled(url, proxy_.address().text())) {}

  const std::string& url() const override { return url_; }

  Disturbances disturbances() override {
    Disturbances all;
    add_those_of_the_server(all);
    add_network_faults(all, {&proxy_});
    return all;
  }

 private:
  void add_those_of_the_server(Disturbances& all) {
    add(
        all, "server_paused", "the server is stopped and goes on", [this] { server_.pause(); },
        [this] { server_.resume(); });
    add(
        all, "server_killed", "the server is killed and comes back with its data",
        [this] { server_.kill(); }, [this] { server_.restart(); });
    add(all, "clients_killed", "the server closes all connections", [this] {
      server_.must({"CLIENT", "KILL", "TYPE", "normal"});
      server_.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    });
    add(all, "deaf", "the server closes the connections of those who listen", [this] {
      server_.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    });
    add(
        all, "scripts_flushed", "the server forgets all scripts",
        [this] {
          server_.must({"SCRIPT", "FLUSH"});
        },
        [this] {
          server_.must({"SCRIPT", "FLUSH"});
        });
  }

  RedisServer server_{that_keeps_its_data()};
  Proxy proxy_{test::Address::tcp(server_.port())};
  const std::string url_;
};

}  // namespace

std::unique_ptr<Scene> redis_scene(const std::string& url) {
  return std::make_unique<RedisScene>(url);
}

}  // namespace holdfast::torture
