// holdfast run on a store of sessions, which gives leases in parts: less at a time than the grace after a signal.
#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"
#include "support/servers/zookeeper_server.hpp"

namespace holdfast::cli_tests {
namespace {

using test::ZookeeperServer;

class RunInASession : public CliTest {
 protected:
  // All the defaults: a session of 20 s, a lease of 30 s and a grace of 10 s.
  Spawned on_zookeeper(Words words) {
    words.insert(words.begin() + 1, {"--store", "zk://" + server_.host() + server_.new_base()});
    return done(words);
  }

  ZookeeperServer& server_ = ZookeeperServer::shared();
};

TEST_F(RunInASession, TheCommandRunsToItsEnd) {
  Spawned run = on_zookeeper({"run", "nightly", "--", "sh", "-c", "sleep 0.2; exit 7"});
  EXPECT_EQ(run.exit_code(), 7) << run.err();
}

TEST_F(RunInASession, SeveralLocksAreEnoughToStart) {
  Spawned run = on_zookeeper({"run", "one,other", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(run.exit_code(), 7) << run.err();
}

}  // namespace
}  // namespace holdfast::cli_tests
