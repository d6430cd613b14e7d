#include "support/servers/zookeeper_ensemble.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

#include "support/soon.hpp"

namespace holdfast::test {
namespace {

// As often as they occur, and of the same length.
std::function<void(std::string&)> replace_all(std::string from, std::string to) {
  if (from.size() != to.size()) throw std::runtime_error("ports of unlike length");
  return [from = std::move(from), to = std::move(to)](std::string& bytes) {
    for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 1)) {
      bytes.replace(at, from.size(), to);
    }
  };
}

}  // namespace

ZookeeperEnsemble::Ways::Ways(const Doors& doors)
    : leading(Address::tcp(doors.leading.number())),
      electing(Address::tcp(doors.electing.number())) {
  // Whoever is elected begins to listen while the others already call. Refused, they would call again; but having
  // reached us they would think that it is there and has hung up, and hold an election again.
  leading.await_server(kSoon);
}

ZookeeperEnsemble::ZookeeperEnsemble(EnsembleOptions options) {
  for (std::size_t from = 0; from < kSize; ++from) {
    for (std::size_t to = 0; to < kSize; ++to) {
      if (from != to) ways_[from][to] = std::make_unique<Ways>(doors_[to]);
    }
  }
  send_callers_back_through_proxies();
  for (std::size_t i = 0; i < kSize; ++i) {
    ZookeeperOptions own = options.each;
    for (std::string& line : view_of(i, options)) own.settings.push_back(std::move(line));
    servers_[i].reset(new ZookeeperServer(static_cast<int>(i) + 1, std::move(own)));
    servers_[i]->start();
  }
  until_all_serve();
}

// Of two servers that elect, the one with the smaller number says where it listens and hangs up, and the other one
// calls it there: past our proxies, had we not changed what it says.
void ZookeeperEnsemble::send_callers_back_through_proxies() {
  for (std::size_t from = 0; from < kSize; ++from) {
    for (std::size_t to = from + 1; to < kSize; ++to) {
      Rules rules;
      rules.rewrite =
          replace_all(doors_[from].electing.host(), ways(to, from).electing.address().text());
      ways(from, to).electing.set(Way::to_server, std::move(rules));
    }
  }
}

// Its own doors as they are, those of the others through the proxies.
Words ZookeeperEnsemble::view_of(std::size_t which, const EnsembleOptions& options) {
  const auto ticks = [&](std::chrono::milliseconds time) {
    return std::to_string(time / options.each.tick);
  };
  Words lines{"initLimit=" + ticks(2 * options.silence), "syncLimit=" + ticks(options.silence)};
  for (std::size_t i = 0; i < kSize; ++i) {
    const auto leading =
        i == which ? doors_[i].leading.number() : ways(which, i).leading.address().port();
    const auto electing =
        i == which ? doors_[i].electing.number() : ways(which, i).electing.address().port();
    lines.push_back("server." + std::to_string(i + 1) + "=127.0.0.1:" + std::to_string(leading) +
                    ":" + std::to_string(electing));
  }
  return lines;
}

std::string ZookeeperEnsemble::hosts() const { return hosts_without(kSize); }

std::string ZookeeperEnsemble::hosts_without(std::size_t one) const {
  std::string others;
  for (const std::size_t i : all_but(one)) {
    others.append(others.empty() ? "" : ",").append(servers_[i]->host());
  }
  return others;
}

std::string ZookeeperEnsemble::new_base() { return servers_.front()->new_base(); }

std::size_t ZookeeperEnsemble::leader() const {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + kServerSoon;
  while (std::chrono::steady_clock::now() < end) {
    for (std::size_t i = 0; i < kSize; ++i) {
      if (servers_[i]->mode(300ms) == "leader") return i;
    }
    std::this_thread::sleep_for(5ms);
  }
  throw std::runtime_error("no leader:\n" + servers_.front()->end_of_log());
}

void ZookeeperEnsemble::until_all_serve() const {
  for (const auto& server : servers_) server->wait_until_it_serves();
}

std::vector<std::size_t> ZookeeperEnsemble::all_but(std::size_t one) const {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < kSize; ++i) {
    if (i != one) others.push_back(i);
  }
  return others;
}

void ZookeeperEnsemble::cut_off(std::size_t one) {
  for (const std::size_t other : all_but(one)) cut(one, other);
}

void ZookeeperEnsemble::join(std::size_t one) {
  for (const std::size_t other : all_but(one)) join(one, other);
}

void ZookeeperEnsemble::depose(std::size_t leader) {
  cut_off(leader);
  for (const std::size_t other : all_but(leader)) servers_[other]->kill();
  for (const std::size_t other : all_but(leader)) servers_[other]->restart();
  for (const std::size_t other : all_but(leader)) servers_[other]->wait_until_it_serves();
}

void ZookeeperEnsemble::set_cut(std::size_t one, std::size_t other, bool cut) {
  for (Ways* both : {&ways(one, other), &ways(other, one)}) {
    for (Proxy* proxy : {&both->leading, &both->electing}) {
      for (const Way way : kBothWays) cut ? proxy->hold(way) : proxy->release(way);
    }
  }
}

}  // namespace holdfast::test
