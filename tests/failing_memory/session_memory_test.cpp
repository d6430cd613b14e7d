// A session with ZooKeeper that lacks memory.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>

#include "failing_memory/failing_memory.hpp"
#include "integration/zookeeper/session_bench.hpp"
#include "support/effort.hpp"

namespace holdfast::test {
namespace {

class ZookeeperSessionMemory : public testing::Test {
 protected:
  ZookeeperSessionMemory() { raw().create(base_); }

  std::string url() const { return "zk://" + server_.host() + base_ + "?session=2s"; }
  std::string at(const std::string& name) const { return base_ + "/" + name; }
  ZookeeperRaw raw() const { return ZookeeperRaw(Address::tcp(server_.port())); }

  ZookeeperServer& server_ = ZookeeperServer::shared();
  const std::string base_ = server_.new_base();
  SessionBench bench_;
};

TEST_F(ZookeeperSessionMemory, WhatIsToGoGoes_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  Session& session = bench_.open(url());
  ZookeeperRaw other = raw();
  bool failed = true;
  for (int n = 1; failed && n < 200; ++n) {
    const std::string path = at("n" + std::to_string(n));
    ask(session, {.op = Op::create, .path = path, .mode = Mode::ephemeral});
    const std::int64_t id = session.session();
    bool lacked = false;
    {
      FailingMemory memory(n);
      try {
        session.remove_for_sure(path, id, {});
      } catch (const std::bad_alloc&) {
        lacked = true;
      }
      memory.stop();
      failed = memory.failed();
    }
    if (lacked) session.remove_for_sure(path, id, {});  // when there is some
    ASSERT_TRUE(eventually([&] { return !other.exists(path); })) << n;
  }
  EXPECT_FALSE(failed);
}

// Whichever request of the loop's for memory fails while the connection is replaced.
TEST_F(ZookeeperSessionMemory, GoesOnOverAnotherConnection_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  Proxy proxy(Address::tcp(server_.port()));
  Session& session = bench_.open("zk://" + proxy.address().text() + base_ + "?session=4s");
  ask(session, {.op = Op::exists, .path = base_, .watch = true});
  bool failed = true;
  int n = 0;
  while (failed && n < 200) {
    std::unique_ptr<FailingMemory> memory;
    const Signal set, stopped;
    bench_.on_loop([&] {
      memory = std::make_unique<FailingMemory>(++n);
      set.give();
    });
    ASSERT_TRUE(set.comes());
    const auto before = proxy.connections();
    proxy.reset();
    ASSERT_TRUE(eventually([&] { return proxy.connections() > before; })) << "request " << n;
    ASSERT_TRUE(comes_back(session)) << "request " << n;
    bench_.on_loop([&] {
      memory->stop();
      stopped.give();
    });
    ASSERT_TRUE(stopped.comes());
    failed = memory->failed();
  }
  EXPECT_FALSE(failed) << "it never ends";
  EXPECT_GT(n, 10) << "nothing has failed";
}

// Timers that run on would run on a session that is no more.
TEST_F(ZookeeperSessionMemory, ASessionEndsAlsoWithoutAGoodbye_F044) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  bool failed = true;
  for (int n = 1; failed && n < 200; ++n) {
    auto session = bench_.try_open(url());
    ASSERT_TRUE(session);
    ask(**session, {.op = Op::exists, .path = base_});
    FailingMemory memory(n);
    EXPECT_NO_THROW((*session)->close()) << n;
    memory.stop();
    failed = memory.failed();
  }
  EXPECT_FALSE(failed);
}

}  // namespace
}  // namespace holdfast::test
