// Clients that do whatever chance has them do, over connections that lose questions and answers and sessions that
// end: holds exclude each other, fences grow, and in the end nothing is left.
#include <algorithm>
#include <deque>

#include "integration/zookeeper/lock_bench.hpp"
#include "store/zookeeper/line.hpp"
#include "support/effort.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperChance : public LockBench {
 protected:
  // What an engine knows of one claim. One question at a time.
  struct Claim {
    std::size_t peer = 0;
    GrantRequest request;
    std::uint64_t fence = 0;  // 0: it has nothing, as far as is known
    TimePoint valid_until = TimePoint::min();
    TimePoint sent{};
    std::unique_ptr<Answer<GrantReply>> asked{};
    std::unique_ptr<Answer<RenewReply>> renewed{};
    std::unique_ptr<Answer<ReleaseReply>> released{};
    std::unique_ptr<Answer<WithdrawReply>> withdrawn{};
    std::uint64_t renews = 0;  // that fence
    bool ends = false;         // nothing but withdrawing any more
    bool ended = false;
    std::uint64_t steps_down = 0;  // to this claim, which is open
    test::WakeBox wakes{};
    WatchPtr watch{};

    bool is_open() const { return asked || renewed || released || withdrawn || steps_down != 0; }
  };
  struct Dying {
    std::int64_t session;
    TimePoint at;
  };

  void run(std::uint64_t seed) {
    chance_ = test::SeededRandom(seed);
    kind_ = static_cast<Kind>(chance_.below(3));
    for (int i = 0; i < 3; ++i) peers_.push_back(open());
    const auto steps = chance_.between(20, 300);
    for (std::int64_t i = 0; i < steps && !HasFailure(); ++i) step();
    if (!HasFailure()) end();
    if (HasFailure()) ADD_FAILURE() << "seed " << seed;
    claims_.clear();
    peers_.clear();
  }

  bool is_valid(const Claim& claim) const { return claim.valid_until > clock_.now(); }

  void step() {
    Peer& peer = peers_[chance_.below(peers_.size())];
    switch (chance_.below(17)) {
      case 0:
        return set(peer, chance_.chance(60) ? Wire::up : static_cast<Wire>(chance_.below(5)));
      case 1:
        return expire(peer);
      case 2:
        all_->reap();
        return;
      case 3:
        return pass(std::chrono::milliseconds(chance_.skewed(1, 4000)));
      case 4:
      case 5:
        if (peer.tree->held() > 0 && chance_.chance(20)) peer.tree->lose_next_answer();
        peer.tree->let_one_go();
        return hear();
      case 6:
        return begin(peer);
      case 7:
        return refuse(peer);
      case 8:
        return force(peer);
      case 9:
        return foreign();
      default:
        if (!claims_.empty()) act(claims_[chance_.below(claims_.size())]);
        return hear();
    }
  }

  // Questions keep their order.
  void set(Peer& peer, Wire wire) {
    while (peer.tree->held() > 0) {
      if (chance_.chance(20)) peer.tree->lose_next_answer();
      peer.tree->let_one_go();
    }
    peer.tree->set(wire);
    hear();
  }

  void expire(Peer& peer) {
    if (chance_.chance(70)) return;
    const std::int64_t session = peer.tree->session();
    const std::size_t number = static_cast<std::size_t>(&peer - peers_.data());
    if (chance_.chance(50)) {
      for (Claim& each : claims_) {
        if (each.peer == number) each.valid_until = TimePoint::min();
      }
      peer.tree->expire();
    } else {
      dying_.push_back({session, later(clock_.now(), kLease + 1s)});
      peer.tree->expire_here_only();
    }
    hear();
  }

  void pass(Duration time) {
    let_pass(time);
    for (const Dying& each : dying_) {
      if (each.at <= clock_.now()) bury(each.session);
    }
    std::erase_if(dying_, [&](const Dying& each) { return each.at <= clock_.now(); });
    hear();
  }

  void refuse(Peer& peer) {
    constexpr Op kOps[] = {Op::create, Op::remove, Op::get_children, Op::get_data, Op::exists};
    const Op op = kOps[chance_.below(std::size(kOps))];
    peer.tree->refuse_next(op, chance_.chance(50) ? Code::other : Code::no_auth);
  }

  void force(Peer& peer) {
    if (claims_.empty() || chance_.chance(50)) return;
    Claim& claim = claims_[chance_.below(claims_.size())];
    if (claim.fence == 0) return;
    ForceRequest request;
    request.kind = kind_;
    request.name = claim.request.name;
    request.fence = claim.fence;
    request.now = chance_.chance(30);
    if (request.now) claim.valid_until = TimePoint::min();
    forced_.push_back(std::make_unique<Answer<ForceReply>>());
    peer.store->force_release(request, forced_.back()->call());
    hear();
  }

  // One of Curator's comes, or goes.
  void foreign() {
    if (kind_ == Kind::semaphore || !all_->stat("/locks/a")) return;
    if (foreign_.empty()) {
      const std::string tag = kind_ == Kind::mutex ? "lock-" : "__WRIT__";
      foreign_ = make_foreign("/locks/a/_c_3209f814-533a-4ee5-a79b-948e52e4650a-" + tag);
    } else {
      remove_foreign(std::exchange(foreign_, {}));
    }
    hear();
  }

  void begin(Peer& peer) {
    const auto alive = std::count_if(claims_.begin(), claims_.end(),
                                     [](const Claim& each) { return !each.ended; });
    if (alive > 5) return;
    Claim claim;
    claim.peer = static_cast<std::size_t>(&peer - peers_.data());
    claim.request = request(peer, ++last_claim_, chance_.chance(70));
    if (kind_ == Kind::shared_mutex) {
      claim.request =
          shared(claim.request, chance_.chance(50) ? Shape::shared() : Shape::exclusive());
    } else if (kind_ == Kind::semaphore) {
      claim.request =
          permits(claim.request, static_cast<std::uint32_t>(chance_.between(1, 3)), kPermits);
    }
    claims_.push_back(std::move(claim));
  }

  void act(Claim& claim) {
    if (claim.ended || claim.is_open()) return;
    ZookeeperStore& store = *peers_[claim.peer].store;
    claim.sent = clock_.now();
    if (claim.ends) {
      claim.withdrawn = std::make_unique<Answer<WithdrawReply>>();
      return store.withdraw(claim.request, claim.withdrawn->call());
    }
    if (claim.fence == 0) {
      const auto offer = claim.wakes.take_offer();
      if (offer) return renew(claim, offer->fence);
      if (chance_.chance(10)) {
        claim.ends = true;
        return;
      }
      if (!claim.watch && chance_.chance(50)) {
        claim.watch = store.watch(claim.request, claim.wakes.fn());
      }
      claim.asked = std::make_unique<Answer<GrantReply>>();
      return store.try_grant(claim.request, claim.asked->call());
    }
    if (chance_.chance(60)) return renew(claim, claim.fence);
    const bool writes = kind_ == Kind::shared_mutex && claim.request.shape == Shape::exclusive();
    if (writes && chance_.chance(50)) return step_down(claim);
    claim.valid_until = TimePoint::min();
    claim.released = std::make_unique<Answer<ReleaseReply>>();
    store.release(hold(claim.request, claim.fence), claim.released->call());
  }

  // What becomes of the writer is known when the reader has its answer.
  void step_down(Claim& writer) {
    Claim reader;
    reader.peer = writer.peer;
    reader.request = shared(request(peers_[writer.peer], ++last_claim_), Shape::shared());
    reader.request.instead_of = hold(writer.request, writer.fence);
    writer.valid_until = TimePoint::min();
    writer.steps_down = last_claim_;
    claims_.push_back(std::move(reader));
    act(claims_.back());
  }

  void renew(Claim& claim, std::uint64_t fence) {
    Renewal renewal;
    static_cast<HoldKey&>(renewal) = hold(claim.request, fence);
    renewal.lease = kLease;
    claim.renews = fence;
    claim.renewed = std::make_unique<Answer<RenewReply>>();
    peers_[claim.peer].store->renew({&renewal, 1}, claim.renewed->call());
  }

  // ---- answers ----

  void hear() {
    for (Claim& each : claims_) hear(each);
    for (Claim& each : claims_) {
      if (each.steps_down == 0) continue;
      const auto reader = std::find_if(claims_.begin(), claims_.end(), [&](const Claim& other) {
        return other.request.owner.claim == each.steps_down;
      });
      if (reader->fence != 0 || reader->ended) each.steps_down = 0;
    }
  }

  void hear(Claim& claim) {
    if (claim.asked && claim.asked->there()) {
      const auto answer = std::exchange(claim.asked, nullptr);
      if (const auto* yes = answer->get<Granted>()) has(claim, yes->fence, yes->lease);
      if (answer->get<Rejected>() != nullptr) claim.ends = true;
    }
    if (claim.renewed && claim.renewed->there()) {
      const auto answer = std::exchange(claim.renewed, nullptr);
      const auto* each = answer->get<std::vector<RenewalReply>>();
      if (each != nullptr) {
        if (const auto* yes = std::get_if<Renewed>(&each->front())) {
          const bool in_time = claim.fence == 0 || is_valid(claim);
          if (in_time) has(claim, claim.renews, yes->lease);
        } else if (std::holds_alternative<Gone>(each->front())) {
          claim.valid_until = TimePoint::min();
        }
      }
    }
    if (claim.released && claim.released->there()) {
      const auto answer = std::exchange(claim.released, nullptr);
      if (answer->get<NoAnswer>() == nullptr) claim.ends = true;
    }
    if (claim.withdrawn && claim.withdrawn->there()) {
      const auto answer = std::exchange(claim.withdrawn, nullptr);
      if (answer->get<Withdrawn>() != nullptr) {
        claim.ended = true;
        claim.watch = nullptr;
      }
    }
    if (claim.fence != 0 && !is_valid(claim) && !claim.released) claim.ends = true;
  }

  void has(Claim& claim, std::uint64_t fence, Duration lease) {
    const TimePoint until = later(claim.sent, lease) - lease / 100 - 2ms;
    EXPECT_TRUE(claim.fence == 0 || claim.fence == fence);
    claim.fence = fence;
    claim.valid_until = until;
    if (until <= clock_.now()) return;
    std::uint32_t taken = 0;
    for (const Claim& each : claims_) {
      if (!is_valid(each)) continue;
      taken += each.request.shape.take;
      if (&each == &claim) continue;
      EXPECT_NE(each.fence, fence);
      if (kind_ != Kind::semaphore) {
        EXPECT_TRUE(each.request.shape.goes_with(claim.request.shape))
            << to_string(each.request.owner) << " and " << to_string(claim.request.owner);
      }
    }
    if (kind_ != Kind::semaphore && !foreign_.empty()) {
      const Line line(kind_, nodes());
      bool holds = false;
      for (const std::string& own : line.begin_with(mark_of(claim.request.owner))) {
        holds = holds || line.holds(*line.find(own));
      }
      EXPECT_TRUE(holds) << "Curator's is before it";
    }
    EXPECT_TRUE(kind_ != Kind::semaphore || taken <= kPermits) << taken;
    if (claim.request.shape.form == Shape::Form::exclusive) {
      EXPECT_GE(fence, newest_fence_) << "a fence went back";
      newest_fence_ = std::max(newest_fence_, fence);
    }
  }

  // ---- the end ----

  void end() {
    for (Peer& each : peers_) set(each, Wire::up);
    for (Claim& each : claims_) each.ends = true;
    for (int i = 0; i < 20; ++i) {
      for (Claim& each : claims_) act(each);
      hear();
    }
    for (const Claim& each : claims_) EXPECT_TRUE(each.ended);
    if (!foreign_.empty()) remove_foreign(foreign_);
    for (const Dying& each : dying_) bury(each.session);
    dying_.clear();
    let_pass(3 * kLease);
    EXPECT_TRUE(nodes("/locks/a/locks").empty());
    EXPECT_TRUE(nodes("/locks/a/leases").empty());
    for (const std::string& each : nodes()) EXPECT_FALSE(each.starts_with("_c_")) << each;
    for (const Peer& each : peers_) EXPECT_FALSE(each.tree->kept_valid());
    // Whoever had it to itself for a while listens whether the parent goes.
    EXPECT_EQ(all_->wanted_watches(), all_->wanted_watches_of("/locks/a"));
  }

  static constexpr std::uint32_t kPermits = 4;

  test::SeededRandom chance_{0};
  Kind kind_ = Kind::mutex;
  std::vector<Peer> peers_;
  std::deque<Claim> claims_;
  std::vector<Dying> dying_;
  std::string foreign_;
  std::vector<std::unique_ptr<Answer<ForceReply>>> forced_;
  std::uint64_t last_claim_ = 0;
  std::uint64_t newest_fence_ = 0;
};

// One for each seed.
struct World final : ZookeeperChance {
  using ZookeeperChance::run;
  void TestBody() override {}
};

TEST(ZookeeperChances, NoTwoHoldWhatExcludesEachOtherAndNothingIsLeft) {
  const std::uint64_t first = test::chosen_seed();
  const int worlds = test::times_from("HOLDFAST_ZOOKEEPER_WORLDS", test::kSanitized ? 50 : 500);
  for (int i = 0; i < worlds && !testing::Test::HasFailure(); ++i) {
    World world;
    world.run(first + static_cast<std::uint64_t>(i));
  }
}

}  // namespace
}  // namespace holdfast::store::zookeeper
