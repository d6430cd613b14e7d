// News of the client's own session that come later than what they are about.
#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

// Its session is the next one already, while nobody was told so yet.
class LateNewsTree final : public Tree {
 public:
  LateNewsTree(std::shared_ptr<MemoryEnsemble> all, const Clock& clock, Duration timeout)
      : tree_(std::move(all), clock, timeout) {}

  void begin_next_session() { is_next_ = true; }
  void tell_that_the_last_one_ended() { listener_->session_ended(tree_.session()); }

  void listen(Listener& listener) override {
    listener_ = &listener;
    tree_.listen(listener);
  }
  void ask(std::vector<Request> requests, TimePoint deadline, bool waits, std::int64_t only_in,
           std::function<void(Outcome)> done) override {
    if (is_other(only_in)) return done(NoAnswer{.executed = false});
    tree_.ask(std::move(requests), deadline, waits, 0, std::move(done));
  }
  void ask_as_one(std::vector<Request> requests, TimePoint deadline, bool waits,
                  std::int64_t only_in, std::function<void(Outcome)> done) override {
    if (is_other(only_in)) return done(NoAnswer{.executed = false});
    tree_.ask_as_one(std::move(requests), deadline, waits, 0, std::move(done));
  }
  void remove_for_sure(std::string path, std::int64_t session,
                       std::function<void()> done) override {
    tree_.remove_for_sure(std::move(path), session, std::move(done));
  }
  void leave_watch(const std::string& path) override { tree_.leave_watch(path); }
  void keep_valid(bool wanted) override { tree_.keep_valid(wanted); }
  std::int64_t session() const override { return tree_.session() + (is_next_ ? 1000 : 0); }
  std::uint64_t connection() const override { return tree_.connection(); }
  TimePoint valid_until() const override { return tree_.valid_until(); }
  Duration timeout() const override { return tree_.timeout(); }
  void close() override { tree_.close(); }

 private:
  bool is_other(std::int64_t only_in) const { return only_in != 0 && only_in != session(); }

  MemoryTree tree_;
  Listener* listener_ = nullptr;
  bool is_next_ = false;
};

class ZookeeperLateNews : public LockBench {};

TEST_F(ZookeeperLateNews, ALookThatMeetsTheNextSessionTellsWhoeverWaits_F080_F083) {
  Peer bob = open();
  Peer carol = open();
  granted(bob, request(bob, 1));
  refused(carol, request(carol, 2, true));
  const ClientId id{7, 7};
  auto its_tree = std::make_unique<LateNewsTree>(all_, clock_, kTimeout);
  LateNewsTree& tree = *its_tree;
  Peer alice{id, nullptr,
             std::make_unique<ZookeeperStore>(
                 std::move(its_tree), Surroundings{clock_, loop_, random_, id},
                 ZookeeperStore::Settings{.ground = {.layout = Layout("/locks")}})};
  const GrantRequest mine = request(alice, 3, true);
  test::WakeBox wakes;
  const WatchPtr watch = alice.store->watch(mine, wakes.fn());
  refused(alice, mine);

  tree.begin_next_session();
  EXPECT_TRUE(withdraws(carol, request(carol, 2)));  // what alice watches
  tree.tell_that_the_last_one_ended();
  EXPECT_TRUE(wakes.take()) << "its place in the line is gone, and nobody says so";
}

}  // namespace
}  // namespace holdfast::store::zookeeper
