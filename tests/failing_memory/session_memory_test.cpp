// A session with ZooKeeper whose connection breaks, whichever request of the loop's for memory fails meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "failing_memory/failing_memory.hpp"
#include "integration/zookeeper/session_bench.hpp"
#include "support/effort.hpp"

namespace holdfast::test {
namespace {

TEST(SessionMemory, GoesOnOverAnotherConnection_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  ZookeeperServer& server = ZookeeperServer::shared();
  const std::string base = server.new_base();
  ZookeeperRaw(Address::tcp(server.port())).create(base);
  Proxy proxy(Address::tcp(server.port()));
  SessionBench bench;
  Session& session = bench.open("zk://" + proxy.address().text() + base + "?session=4s");
  ask(session, {.op = Op::exists, .path = base, .watch = true});

  bool failed = true;
  int n = 0;
  while (failed && n < 200) {
    std::unique_ptr<FailingMemory> memory;
    const Signal set, stopped;
    bench.on_loop([&] {
      memory = std::make_unique<FailingMemory>(++n);
      set.give();
    });
    ASSERT_TRUE(set.comes());
    const auto before = proxy.connections();
    proxy.reset();
    ASSERT_TRUE(eventually([&] { return proxy.connections() > before; })) << "request " << n;
    ASSERT_TRUE(comes_back(session)) << "request " << n;
    bench.on_loop([&] {
      memory->stop();
      stopped.give();
    });
    ASSERT_TRUE(stopped.comes());
    failed = memory->failed();
  }
  EXPECT_FALSE(failed) << "it never ends";
  EXPECT_GT(n, 10) << "nothing has failed";
}

}  // namespace
}  // namespace holdfast::test
