#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/zookeeper/node_data.hpp"
#include "store/zookeeper/zookeeper_store.hpp"
#include "support/answer.hpp"
#include "support/hand_loop.hpp"
#include "support/manual_clock.hpp"
#include "support/seeded_random.hpp"
#include "support/wake_box.hpp"
#include "support/zookeeper/memory_tree.hpp"

namespace holdfast::store::zookeeper {

using namespace std::chrono_literals;
using test::Answer;
using test::MemoryEnsemble;
using test::MemoryTree;
using test::Wire;

inline LockName lock_name(std::string_view bytes) { return LockName::checked(bytes).value(); }

// Clients of the store over a tree in memory, in a time that the test turns.
class LockBench : public testing::Test {
 protected:
  struct Peer {
    ClientId id;
    MemoryTree* tree;
    std::unique_ptr<ZookeeperStore> store;
  };

  Peer open(Layout layout = Layout("/locks"), Fences fences = Fences()) {
    const ClientId id{0x636c69656e74, ++clients_};
    auto tree = std::make_unique<MemoryTree>(all_, clock_, kTimeout);
    MemoryTree* const its_tree = tree.get();
    return {id, its_tree,
            std::make_unique<ZookeeperStore>(
                std::move(tree), Surroundings{clock_, loop_, random_, id},
                ZookeeperStore::Settings{.ground = {.layout = std::move(layout), .fences = fences},
                                         .asked_timeout = kTimeout})};
  }

  static GrantRequest request(const Peer& peer, std::uint64_t claim, bool line_up = false) {
    GrantRequest request;
    request.name = lock_name("a");
    request.owner = {peer.id, claim};
    request.lease = kLease;
    request.line_up = line_up;
    request.confirm_within = 1s;
    request.line_for = kLease - 1s;
    request.record.owner = to_string(request.owner);
    request.record.host = "web";
    return request;
  }
  static GrantRequest shared(GrantRequest request, Shape shape) {
    request.kind = Kind::shared_mutex;
    request.shape = shape;
    return request;
  }
  static GrantRequest permits(GrantRequest request, std::uint32_t take, std::uint32_t of) {
    request.kind = Kind::semaphore;
    request.shape = Shape::permits(take, of);
    return request;
  }

  static GrantReply ask(Peer& peer, const GrantRequest& request) {
    Answer<GrantReply> answer;
    peer.store->try_grant(request, answer.call());
    return answer.reply();
  }
  static Granted granted(Peer& peer, const GrantRequest& request) {
    const GrantReply reply = ask(peer, request);
    if (const auto* yes = std::get_if<Granted>(&reply)) return *yes;
    ADD_FAILURE() << "not granted, but alternative " << reply.index();
    return {};
  }
  static Refused refused(Peer& peer, const GrantRequest& request) {
    const GrantReply reply = ask(peer, request);
    if (const auto* no = std::get_if<Refused>(&reply)) return *no;
    ADD_FAILURE() << "not refused, but alternative " << reply.index();
    return {};
  }
  static NoAnswer unanswered(Peer& peer, const GrantRequest& request) {
    const GrantReply reply = ask(peer, request);
    if (const auto* none = std::get_if<NoAnswer>(&reply)) return *none;
    ADD_FAILURE() << "answered with alternative " << reply.index();
    return {};
  }
  static Errc rejected(Peer& peer, const GrantRequest& request) {
    const GrantReply reply = ask(peer, request);
    if (const auto* never = std::get_if<Rejected>(&reply)) return never->why;
    ADD_FAILURE() << "not rejected, but alternative " << reply.index();
    return {};
  }

  static HoldKey hold(const GrantRequest& request, std::uint64_t fence) {
    HoldKey key;
    static_cast<ClaimKey&>(key) = request;
    key.fence = fence;
    return key;
  }
  static RenewalReply renew(Peer& peer, const GrantRequest& request, std::uint64_t fence,
                            Duration lease = kLease) {
    Renewal renewal;
    static_cast<HoldKey&>(renewal) = hold(request, fence);
    renewal.lease = lease;
    Answer<RenewReply> answer;
    peer.store->renew({&renewal, 1}, answer.call());
    if (const auto* each = answer.get<std::vector<RenewalReply>>()) return each->front();
    return std::get<NoAnswer>(answer.reply());
  }
  static bool renews(Peer& peer, const GrantRequest& request, std::uint64_t fence) {
    return std::holds_alternative<Renewed>(renew(peer, request, fence));
  }
  static ReleaseReply release(Peer& peer, const GrantRequest& request, std::uint64_t fence) {
    Answer<ReleaseReply> answer;
    peer.store->release(hold(request, fence), answer.call());
    return answer.reply();
  }
  static bool releases(Peer& peer, const GrantRequest& request, std::uint64_t fence) {
    return std::holds_alternative<Released>(release(peer, request, fence));
  }
  static bool withdraws(Peer& peer, const GrantRequest& request) {
    Answer<WithdrawReply> answer;
    peer.store->withdraw(request, answer.call());
    return answer.get<Withdrawn>() != nullptr;
  }
  static std::vector<LockView> look(Peer& peer, std::string_view pattern = "*") {
    Answer<InspectReply> answer;
    peer.store->inspect(pattern, answer.call());
    const auto* found = answer.get<std::vector<LockView>>();
    EXPECT_NE(found, nullptr);
    return found == nullptr ? std::vector<LockView>() : *found;
  }
  static ForceReply force(Peer& peer, const GrantRequest& holder, std::uint64_t fence, bool now) {
    ForceRequest request;
    request.kind = holder.kind;
    request.name = holder.name;
    request.fence = fence;
    request.now = now;
    Answer<ForceReply> answer;
    peer.store->force_release(request, answer.call());
    return answer.reply();
  }

  std::vector<std::string> nodes(const std::string& path = "/locks/a") const {
    return all_->children(path);
  }
  // The path of the first of a claim's.
  std::string node_of(const ClaimKey& claim, const std::string& path = "/locks/a") const {
    for (const std::string& each : nodes(path)) {
      if (each.starts_with(mark_of(claim.owner))) return path + "/" + each;
    }
    ADD_FAILURE() << "it has no node";
    return {};
  }
  // As a client of Curator's makes one, in a session of its own.
  std::string make_foreign(const std::string& path, Mode mode = Mode::ephemeral_sequential) {
    return all_->do_it({.op = Op::create, .path = path, .data = "10.0.0.7", .mode = mode}, 7).path;
  }
  void remove_foreign(const std::string& path) { all_->do_it({.op = Op::remove, .path = path}); }

  // The servers notice that a session is over.
  void bury(std::int64_t session) {
    for (const std::string folder : {"/locks/a", "/locks/a/locks", "/locks/a/leases"}) {
      for (const std::string& each : nodes(folder)) {
        const std::string path = folder + "/" + each;
        const auto stat = all_->stat(path);
        if (stat && stat->ephemeral_owner == session) remove_foreign(path);
      }
    }
  }

  void let_pass(Duration time) {
    const TimePoint end = later(clock_.now(), time);
    while (true) {
      while (loop_.run_one(clock_.now())) {
      }
      const TimePoint next = std::min(end, loop_.next());
      if (next > clock_.now()) clock_.advance(next - clock_.now());
      if (loop_.next() > clock_.now()) break;
    }
  }

  static constexpr Duration kTimeout = 20s;
  static constexpr Duration kLease = 9s;

  test::ManualClock clock_;
  test::HandLoop loop_;
  test::SeededRandom random_{1};
  std::shared_ptr<MemoryEnsemble> all_ = std::make_shared<MemoryEnsemble>(clock_);
  std::uint64_t clients_ = 0;
};

}  // namespace holdfast::store::zookeeper
