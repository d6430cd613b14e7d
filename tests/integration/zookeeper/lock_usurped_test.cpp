// A client believes that a line is quiet, since its node has the number that comes next; and somebody makes the line
// anew, so that numbers fit by chance. Servers tell their watches before they answer what came later.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "integration/zookeeper/lock_faults.hpp"
#include "support/seeded_random.hpp"
#include "support/servers/zookeeper_ensemble.hpp"

namespace holdfast::test {
namespace {

// Takes a lock's parent away, makes it again, takes the lock, and uses up as many numbers as were used before.
class Usurper {
 public:
  Usurper(const Address& server, std::string base)
      : raw_(server, 2min), base_(std::move(base)), lock_(base_ + "/lock") {}

  // False: there was somebody in the line.
  bool take_over() {
    raw_.sync();
    const auto before = raw_.exists(lock_);
    try {
      if (before) raw_.remove(lock_);
    } catch (const ZookeeperNo&) {
      return false;
    }
    for (const std::string& each : {base_, lock_}) make(each);
    holder_ = join();
    // A server tells twice the number of those who came, less those who are there.
    const int came = before ? before->children_version / 2 : 0;
    for (int i = 1; i < came; ++i) raw_.remove(join());
    return true;
  }
  void leave() { raw_.remove(holder_); }
  // The next line begins with the first number.
  void clear() { raw_.remove_all(lock_); }

  bool has_watches(const ZookeeperServer& server) const {
    return eventually([&] { return server.number("zk_watch_count") > 0; });
  }
  // By the numbers, which end the names.
  bool is_first() {
    raw_.sync();
    std::string first;
    for (const std::string& each : raw_.children(lock_)) {
      const std::string number = each.substr(each.size() - 10);
      if (first.empty() || number < first) first = number;
    }
    return first == holder_.substr(holder_.size() - 10);
  }

 private:
  void make(const std::string& path) {
    try {
      raw_.create_container(path);
    } catch (const ZookeeperNo& no) {
      if (no.code != ZookeeperNo::kNodeExists) throw;
    }
  }
  std::string join() {
    return raw_
        .create(lock_ + "/_c_0aa7e5a0-0000-4000-8000-000000000000-lock-", "",
                ZookeeperRaw::Mode::ephemeral_sequential)
        .path;
  }

  ZookeeperRaw raw_;
  const std::string base_;
  const std::string lock_;
  std::string holder_;
};

void use(const Client& client, int times = 6, const std::string& name = "lock") {
  for (int i = 0; i < times; ++i) {
    auto hold = client.mutex(name).acquire({.wait = kSoon});
    ASSERT_TRUE(hold) << hold.error().text();
    ASSERT_TRUE(hold->release());
  }
}

// On one server, or with the client on a follower and the usurper on the leader.
class ZooKeeperUsurped : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) ensemble_ = std::make_unique<ZookeeperEnsemble>();
  }
  ZookeeperServer& near() {
    return ensemble_ ? (*ensemble_)[ensemble_->a_follower()] : ZookeeperServer::shared();
  }
  ZookeeperServer& far() {
    return ensemble_ ? (*ensemble_)[ensemble_->leader()] : ZookeeperServer::shared();
  }

  std::unique_ptr<ZookeeperEnsemble> ensemble_;
  ZookeeperServer& server_ = ZookeeperServer::shared();
  const std::string base_ = server_.new_base();
};

TEST_P(ZooKeeperUsurped, LinesAreNotTakenForQuietOnes_F084_F086) {
  ZookeeperServer& server = near();
  const Client client = connect("zk://" + server.host() + base_, {.patience = kSoon}).value();
  Usurper usurper(Address::tcp(far().port()), base_);
  for (int round = 0; round < 5; ++round) {
    use(client);
    ASSERT_TRUE(usurper.has_watches(server)) << "it is quiet, and so its parent is watched";
    ASSERT_TRUE(usurper.take_over());
    const auto hold = client.mutex("lock").try_acquire();
    EXPECT_FALSE(hold);
    EXPECT_TRUE(usurper.is_first());
    usurper.leave();
  }
}

TEST_P(ZooKeeperUsurped, NobodyIsLetInBesideTheUsurperWheneverItComes_F084_F086) {
  const Client client = connect("zk://" + near().host() + base_, {.patience = kSoon}).value();
  Usurper usurper(Address::tcp(far().port()), base_);
  SeededRandom random(1);
  constexpr int kRounds = 150;
  int usurped = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    use(client);
    bool taken = false;
    const auto pause = std::chrono::microseconds(random.below(8000));
    std::thread other([&] { taken = usurper.take_over(); });
    std::this_thread::sleep_for(pause);
    auto hold = client.mutex("lock").try_acquire();
    other.join();
    if (taken) {
      ++usurped;
      refused += hold ? 0 : 1;
      // Ours may have come first to the new line, or to the old one, which then could not be taken away.
      if (hold) {
        EXPECT_FALSE(usurper.is_first()) << "two have it";
      }
      usurper.leave();
    }
    if (hold) {
      EXPECT_TRUE(hold->release());
    }
    usurper.clear();
  }
  std::printf("%d of %d lines were made anew; of those %d attempts were refused\n", usurped,
              kRounds, refused);
  EXPECT_GT(refused, 0);
}

// Servers keep a watch as long as what it watches is there. These parents are made by hand, so they stay.
class ZooKeeperQuietLines : public testing::Test {
 protected:
  ZooKeeperQuietLines() { raw_.create(base_); }

  std::string url() const { return "zk://" + proxy_.address().text() + base_; }
  std::int64_t watches() const { return server_.number("zk_watch_count") - before_; }
  void use_each(const Client& client, const std::string& prefix, int times = 4) {
    for (int i = 0; i < kLocks; ++i) {
      const std::string name = prefix + std::to_string(i);
      if (!raw_.exists(base_ + '/' + name)) raw_.create(base_ + '/' + name);
      use(client, times, name);
    }
  }

  static constexpr int kLocks = 1100;
  ZookeeperServer& server_ = ZookeeperServer::shared();
  Proxy proxy_{Address::tcp(server_.port())};
  const std::string base_ = server_.new_base();
  const std::int64_t before_ = server_.number("zk_watch_count");
  ZookeeperRaw raw_{Address::tcp(server_.port()), 2min};
};

TEST_F(ZooKeeperQuietLines, LeaveNoMoreThanAThousandWatchesWithTheServer) {
  const Client client = connect(url(), {.patience = kSoon}).value();
  use_each(client, "early");
  EXPECT_EQ(watches(), 1024);
  proxy_.reset();
  use_each(client, "early", 1);
  use_each(client, "late");
  EXPECT_EQ(watches(), 1024) << "they were set again over the next connection";
}

TEST_F(ZooKeeperQuietLines, AreQuietAgainInTheNextSession_F080) {
  const Client client = connect(url(), {.patience = kSoon}).value();
  use_each(client, "early");
  EXPECT_EQ(watches(), 1024);
  for (const std::int64_t session : zookeeper_sessions(server_.word("cons"))) {
    if (session != raw_.session()) end_zookeeper_session(Address::tcp(server_.port()), session);
  }
  use_each(client, "late");
  EXPECT_EQ(watches(), 1024) << "those of the session that ended are still counted";
}

// The watch that is asked for with a node that finds no parent is one of the parent's creation.
TEST_F(ZooKeeperQuietLines, LeaveNoWatchOfAParentThatWasNotThere_F084) {
  const Client client = connect(url(), {.patience = kSoon}).value();
  for (int i = 0; i < 5; ++i) {
    const std::string name = "gone" + std::to_string(i);
    use(client, 3, name);
    EXPECT_EQ(watches(), 0);
    raw_.remove(base_ + '/' + name);
    use(client, 1, name);
    EXPECT_EQ(watches(), 0) << "nobody here knows of it, and it is not counted";
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, ZooKeeperUsurped, testing::Bool(), [](const auto& which) {
  return which.param ? std::string("three") : std::string("one");
});

}  // namespace
}  // namespace holdfast::test
