#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "support/net/proxy.hpp"
#include "support/servers/redis_server.hpp"
#include "torture/scene.hpp"

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;
using test::Proxy;
using test::RedisServer;
using test::Way;

class Twofold final : public Disturbance {
 public:
  using Step = std::function<void()>;

  Twofold(
      std::string_view name, std::string_view text, Step begin, Step end = [] {})
      : name_(name), text_(text), begin_(std::move(begin)), end_(std::move(end)) {}

  std::string_view name() const override { return name_; }
  std::string_view text() const override { return text_; }
  void begin() override { begin_(); }
  void end() override { end_(); }

 private:
  const std::string_view name_, text_;
  const Step begin_, end_;
};

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
    add_those_of_the_network(all);
    return all;
  }

 private:
  template <class... Steps>
  static void add(Disturbances& all, std::string_view name, std::string_view text, Steps... steps) {
    all.push_back(std::make_unique<Twofold>(name, text, std::move(steps)...));
  }

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

  // Bytes in the middle of a connection are never lost without its end: that would be no network.
  void add_those_of_the_network(Disturbances& all) {
    add(
        all, "slow_network", "everything takes a tenth of a second, and up to another one",
        [this] { set_both({.delay = 50ms, .jitter = 50ms}); }, [this] { set_both({}); });
    add(all, "reset", "all connections are reset", [this] { proxy_.reset(); });
    add(
        all, "no_way_in", "all connections are reset and no new ones let in",
        [this] {
          proxy_.refuse();
          proxy_.reset();
        },
        [this] { proxy_.admit(); });
    add(
        all, "questions_lost", "questions do not arrive, then the connections break",
        [this] { proxy_.hold(Way::to_server); }, [this] { lose(Way::to_server); });
    add(
        all, "answers_lost", "answers do not arrive, then the connections break",
        [this] { proxy_.hold(Way::to_client); }, [this] { lose(Way::to_client); });
    add(
        all, "questions_late", "questions are kept back and arrive later",
        [this] { proxy_.hold(Way::to_server); }, [this] { proxy_.release(Way::to_server); });
    add(
        all, "answers_late", "answers are kept back and arrive later",
        [this] { proxy_.hold(Way::to_client); }, [this] { proxy_.release(Way::to_client); });
  }

  void set_both(const test::Rules& rules) {
    for (const Way way : test::kBothWays) proxy_.set(way, rules);
  }

  void lose(Way way) {
    proxy_.reset();
    proxy_.release(way);
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
