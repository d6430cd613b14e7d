// ZooKeeper: locks between all who reach one ensemble, shared with the Java clients of Curator.
//
//   zk://host1,host2,host3/base?session=20s    zks://…          address.hpp
//
// What things are called: layout.hpp; who is first: line.hpp; what this client has: places.hpp; what each verb
// does: grant, partings, renewals, force, census; the way there: tree.hpp, session.hpp.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/store/factory.hpp"
#include "holdfast/store/store.hpp"
#include "store/zookeeper/address.hpp"
#include "store/zookeeper/ground.hpp"
#include "store/zookeeper/tree.hpp"
#include "store/zookeeper/zookeeper_cells.hpp"

namespace holdfast::store::zookeeper {

// One client's view of one ensemble, over one session at a time.
//
// Threads      All verbs from any thread; close() not on the loop.
class ZookeeperStore final : public Store, private Tree::Listener {
 public:
  struct Settings {
    Ground::Settings ground;
    std::string servers{};     // for people
    Duration asked_timeout{};  // of the session; 0: not known
  };
  static Settings settings_of(const Address&);
  ZookeeperStore(std::unique_ptr<Tree>, const Surroundings&, Settings);
  ~ZookeeperStore() override;

  Capabilities capabilities() const override;
  void try_grant(const GrantRequest&, Call<GrantReply>) override;
  void renew(std::span<const Renewal>, Call<RenewReply>) override;
  void release(const HoldKey&, Call<ReleaseReply>) override;
  void withdraw(const ClaimKey&, Call<WithdrawReply>) override;
  WatchPtr watch(const ClaimKey&, WakeFn) override;
  void inspect(std::string_view pattern, Call<InspectReply>) override;
  void force_release(const ForceRequest&, Call<ForceReply>) override;
  void examine(Call<ExamineReply>) override;
  Cells* cells() override { return &cells_; }
  std::string place_of(Kind, const LockName&) const override;
  bool drive(const std::shared_ptr<BlockedCaller>& caller) override { return tree_->drive(caller); }
  void interrupt(const BlockedCaller& caller) override { tree_->interrupt(caller); }
  void close() override;

 private:
  void fired(const std::string& path, Event) override;
  void session_ended(std::int64_t session) override;

  const std::unique_ptr<Tree> tree_;
  const Settings settings_;
  Ground ground_;
  ZookeeperCells cells_;
  std::atomic<bool> closed_ = false;
};

}  // namespace holdfast::store::zookeeper
