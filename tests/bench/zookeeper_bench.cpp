// holdfast-bench-zookeeper: what a lock on ZooKeeper costs, beside two rivals: the least that any lock there can do,
// a node made and removed again, by ZooKeeper's own C client; and Curator's mutex in a Java process. Short slices of
// everything in turn, so that noise hits all alike; what is shown are medians over the rounds.
#define THREADED  // else its header has no functions that wait
#include <zookeeper/zookeeper.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "holdfast/holdfast.hpp"
#include "integration/zookeeper/curator_peer.hpp"
#include "support/child_process.hpp"
#include "support/servers/zookeeper_raw.hpp"
#include "support/servers/zookeeper_server.hpp"

namespace holdfast::test {
namespace {

void must(int code, const char* what) {
  if (code != ZOK) throw std::runtime_error(std::string(what) + ": " + zerror(code));
}

// One connection of the C client, and the threads that come with it.
class RawLock {
 public:
  RawLock(const std::string& hosts, std::string path) : path_(std::move(path)) {
    handle_.reset(
        zookeeper_init(hosts.c_str(), &watch, 20'000, nullptr, &connected_, ZOO_NO_LOG_CLIENTENV));
    if (!handle_) throw std::runtime_error("no handle of the C client");
    connected_.wait(false);
  }

  void pair() {
    char node[256];
    const std::string name = path_ + "/lock-";
    must(zoo_create(handle_.get(), name.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE,
                    ZOO_EPHEMERAL_SEQUENTIAL, node, sizeof node),
         "create");
    must(zoo_delete(handle_.get(), node, -1), "delete");
  }

 private:
  static void watch(zhandle_t*, int type, int state, const char*, void* context) {
    if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE) return;
    auto* connected = static_cast<std::atomic<bool>*>(context);
    *connected = true;
    connected->notify_all();
  }

  struct Close {
    void operator()(zhandle_t* handle) const { zookeeper_close(handle); }
  };

  std::atomic<bool> connected_ = false;
  const std::string path_;
  std::unique_ptr<zhandle_t, Close> handle_;
};

// What the Java process has measured.
struct JavaSlice {
  double per_second = 0, p50 = 0;
};

JavaSlice by_curator(CuratorPeer& java, const std::string& path, int threads, const char* locks) {
  std::istringstream said(java.ask("main", "pairs " + path + " " + std::to_string(threads) + " " +
                                               std::to_string(kSlice.count()) + " " + locks));
  JavaSlice slice;
  if (!(said >> slice.per_second >> slice.p50)) throw std::runtime_error(said.str());
  return slice;
}

// One of the numbers of each round, and what it is beside another one of the same round.
struct Column {
  std::vector<double> values{};
  void add(double value) { values.push_back(value); }
  double mid() const { return median(values); }
  double beside(const Column& other) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < values.size(); ++i) ratios.push_back(values[i] / other.values[i]);
    return median(ratios);
  }
};

void run(int rounds) {
  const Words quick{"-XX:TieredStopAtLevel=4", "-Xmx1g"};
  ZookeeperServer server({.java = quick});
  for (const char* path : {"/raw", "/ours", "/java"}) {
    ZookeeperRaw(Address::tcp(server.port())).create(path);
  }
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  const std::string url = "zk://" + server.host() + "/ours";
  const auto client = connect(url).value();
  CuratorPeer java(server.host(), std::chrono::seconds(20), quick);
  RawLock raw(server.host(), "/raw");
  const auto alone = client.mutex("alone");
  const auto lock_of = [&](int i) { return client.mutex("many" + std::to_string(i)); };

  Column raw_us, us, java_us, raw_many, scopes, many, java_many, raw_one, one, java_one;
  for (int round = -1; round < rounds; ++round) {
    const Slice by_hand = repeat([&] { raw.pair(); });
    const Slice ours = repeat([&] { pair(alone); });
    const JavaSlice theirs = by_curator(java, "/java/alone", 1, "one");
    const double each_its_own = together([&](int) {
      const auto lock = std::make_shared<RawLock>(server.host(), "/raw");
      return [lock] { lock->pair(); };
    });
    const double in_scopes = threads_on(lock_of, scope);
    const double each = threads_on(lock_of);
    const JavaSlice java_each = by_curator(java, "/java/many", kThreads, "each");
    const double crowd = threads_on([&](int) { return client.mutex("one"); });
    const JavaSlice java_crowd = by_curator(java, "/java/one", kThreads, "one");
    if (round < 0) continue;  // Java compiles what it runs often
    raw_us.add(by_hand.p50());
    us.add(ours.p50());
    java_us.add(theirs.p50);
    raw_many.add(each_its_own);
    scopes.add(in_scopes);
    many.add(each);
    java_many.add(java_each.per_second);
    raw_one.add(by_hand.per_second());
    one.add(crowd);
    java_one.add(java_crowd.per_second);
  }
  std::printf(
      "one caller, p50 of a pair   C client %6.1f us   ours %6.1f us   Curator %6.1f us   %.2f x "
      "the C client, "
      "%.2f x Curator\n",
      raw_us.mid(), us.mid(), java_us.mid(), us.beside(raw_us), us.beside(java_us));
  std::printf(
      "%d callers, %d locks   C client, a connection each %6.0f/s   ours %6.0f/s   Curator %6.0f/s "
      "  %.2f x, %.2f "
      "x\n",
      kThreads, kThreads, raw_many.mid(), many.mid(), java_many.mid(), many.beside(raw_many),
      many.beside(java_many));
  std::printf("the same, each in a scope   ours %6.0f/s   %.2f x, %.2f x\n", scopes.mid(),
              scopes.beside(raw_many), scopes.beside(java_many));
  std::printf(
      "%d threads, one lock   ours %6.0f/s   Curator %6.0f/s   %.2f x the pairs of one caller by "
      "the C client, %.2f "
      "x Curator\n",
      kThreads, one.mid(), java_one.mid(), one.beside(raw_one), one.beside(java_one));
  two_processes(url);
}

}  // namespace
}  // namespace holdfast::test

int main(int argc, char** argv) {
  if (const auto code = holdfast::test::run_role(argc, argv)) return *code;
  holdfast::test::run(argc > 1 ? std::atoi(argv[1]) : 7);
}
