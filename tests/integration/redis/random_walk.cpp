#include "integration/redis/random_walk.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::test {

using namespace store;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

// Owners and locks are few, so that they meet.
class Walker {
 public:
  Walker(Twins& twins, Walk where, unsigned seed) : twins_(twins), where_(where), random_(seed) {}

  void step() {
    switch (below(14)) {
      case 0:
      case 1:
      case 2:
        return ask(new_claim());
      case 3:
        return ask_again();
      case 4:
        return exchange();
      case 5:
      case 6:
        return renew();
      case 7:
      case 8:
        return release();
      case 9:
        return withdraw();
      case 10:
        return force();
      case 11:
        return set_size();
      default:
        return twins_.pass(below(4) == 0 ? until_an_end() : some_time(below(3) == 0 ? 800 : 60));
    }
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool perhaps() { return below(2) == 0; }

  // Mostly in tens of milliseconds, so that ends and questions meet in the same moment.
  Duration some_time(unsigned less_than_ms) {
    return below(4) == 0 ? Duration(microseconds(below(less_than_ms * 1000)))
                         : milliseconds(below(less_than_ms / 10) * 10);
  }

  // To the very moment in which a lease ends.
  Duration until_an_end() {
    std::vector<Duration> ends{Duration::zero()};
    for (const LockView& view : twins_.views()) {
      for (const ClaimView& hold : view.holds) ends.push_back(hold.lease_left);
    }
    return ends[below(static_cast<unsigned>(ends.size()))];
  }

  LockName some_name() { return *LockName::checked("lock " + std::to_string(below(2))); }

  Kind some_kind() {
    if (where_ != Walk::mixed && below(20) != 0) return static_cast<Kind>(where_);
    return static_cast<Kind>(below(3));
  }

  Shape some_shape(Kind kind) {
    if (kind == Kind::mutex) return Shape::exclusive();
    if (kind == Kind::semaphore) return Shape::permits(1 + below(4), below(10) == 0 ? 5 : 4);
    switch (below(4)) {
      case 0:
        return Shape::exclusive();
      case 1:
        return Shape::upgradeable();
      default:
        return Shape::shared();
    }
  }

  GrantRequest new_claim() {
    GrantRequest ask;
    ask.name = some_name();
    ask.kind = some_kind();
    ask.shape = some_shape(ask.kind);
    ask.owner = {{7, 1 + below(3)}, ++claims_};
    ask.lease = milliseconds(100) + some_time(400);
    ask.spare = below(20);
    ask.record = {.owner = to_string(ask.owner),
                  .host = "host",
                  .pid = static_cast<std::int64_t>(claims_),
                  .program = "walk",
                  .reason = std::string("why\0not", 7)};
    ask.line_up = below(4) != 0;
    ask.line_for = milliseconds(50) + some_time(200);
    ask.confirm_within = milliseconds(20) + some_time(50);
    return ask;
  }

  void ask(const GrantRequest& request) {
    asked_.push_back(request);
    twins_.try_grant(request);
  }

  // One of the last claims, that may still be about.
  GrantRequest* earlier() {
    if (asked_.empty()) return nullptr;
    const std::size_t among = std::min<std::size_t>(asked_.size(), 12);
    return &asked_[asked_.size() - 1 - below(static_cast<unsigned>(among))];
  }

  void ask_again() {
    GrantRequest* const request = earlier();
    if (request == nullptr) return;
    request->lease = milliseconds(100) + some_time(400);
    request->line_up = below(4) != 0;
    twins_.try_grant(*request);
  }

  // Mostly one that exists, sometimes one that did a while ago.
  std::optional<HoldKey> some_hold() {
    std::vector<HoldKey> holds;
    for (const LockView& view : twins_.views()) {
      for (const ClaimView& each : view.holds) {
        holds.push_back({{view.kind, view.name, each.shape, each.owner}, each.fence});
      }
    }
    if (holds.empty() || below(5) == 0) std::swap(holds, earlier_holds_);
    if (holds.empty()) return std::nullopt;
    HoldKey hold = holds[below(static_cast<unsigned>(holds.size()))];
    earlier_holds_ = std::move(holds);
    if (below(10) == 0) hold.fence += 1'000'000;
    if (below(20) == 0) hold.kind = static_cast<Kind>(below(3));
    if (const GrantRequest* other = earlier(); below(20) == 0) hold.owner = other->owner;
    return hold;
  }

  void exchange() {
    const auto hold = some_hold();
    if (!hold || hold->kind != Kind::shared_mutex) return;
    GrantRequest request = new_claim();
    request.name = hold->name;
    request.kind = hold->kind;
    const bool upgrade = hold->shape == Shape::upgradeable() && below(3) != 0;
    request.shape = upgrade ? Shape::exclusive() : some_shape(Kind::shared_mutex);
    request.instead_of = *hold;
    ask(request);
  }

  void renew() {
    std::vector<Renewal> renewals;
    for (unsigned i = 0; i < 1 + below(3); ++i) {
      const auto hold = some_hold();
      if (hold) renewals.push_back({*hold, milliseconds(50) + some_time(400)});
    }
    if (!renewals.empty()) twins_.renew(renewals);
  }

  void release() {
    if (const auto hold = some_hold()) twins_.release(*hold);
  }

  void withdraw() {
    if (const GrantRequest* claim = earlier()) twins_.withdraw(*claim);
  }

  void force() {
    const auto hold = some_hold();
    if (!hold || below(3) != 0) return;
    twins_.force_release(
        {.kind = hold->kind, .name = hold->name, .fence = hold->fence, .now = perhaps()});
  }

  // Seldom, and never back to what the claims say.
  void set_size() {
    if (where_ == Walk::mutex || where_ == Walk::shared_mutex || below(8) != 0) return;
    const CellKey key{CellKind::size, some_name()};
    twins_.write({.key = key,
                  .expected = twins_.cell(key).version,
                  .value = std::to_string(2 + below(4)),
                  .op = {{9, 9}, ++ops_}});
  }

  Twins& twins_;
  const Walk where_;
  std::mt19937 random_;
  std::vector<GrantRequest> asked_;
  std::vector<HoldKey> earlier_holds_;
  std::uint64_t claims_ = 0;
  std::uint64_t ops_ = 0;
};

constexpr std::int64_t kNumbers[] = {0,
                                     1,
                                     -1,
                                     5,
                                     -7,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT64_MAX - 3,
                                     INT64_MIN + 3,
                                     (std::int64_t{1} << 53) + 1,  // what a Lua number would round
                                     -(std::int64_t{1} << 53) - 1};

class CellWalker {
 public:
  CellWalker(Twins& twins, unsigned seed) : twins_(twins), random_(seed) {}

  void step() {
    Ask& ask = last_[below(std::size(last_))];
    const bool again = below(4) == 0 && !std::holds_alternative<std::monostate>(ask);
    if (!again) ask = new_ask(static_cast<std::size_t>(&ask - last_));
    Ask asked = ask;
    const std::uint64_t earlier = again && below(5) == 0 ? 1 : 0;  // than the last
    if (auto* write = std::get_if<CellWrite>(&asked)) {
      write->op.number -= earlier;
      twins_.write(*write);
    } else if (auto* add = std::get_if<CellAdd>(&asked)) {
      add->op.number -= earlier;
      twins_.add(*add);
    }
    if (below(10) == 0) pass(std::chrono::minutes(below(50)));
  }

 private:
  using Ask = std::variant<std::monostate, CellWrite, CellAdd>;

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::int64_t some_number() { return kNumbers[below(std::size(kNumbers))]; }

  // What may have been forgotten must not be asked again.
  void pass(Duration time) {
    twins_.pass(time);
    passed_ += time;
    if (passed_ < kCellOpsKept) return;
    for (Ask& ask : last_) ask = std::monostate();
    passed_ = Duration::zero();
  }

  std::string some_value() {
    if (below(3) == 0) return std::to_string(some_number());
    if (below(5) == 0) return "007";
    return std::string(below(4), static_cast<char>(below(256)));
  }

  Ask new_ask(std::size_t client) {
    const CellKey key{below(2) == 0 ? CellKind::value : CellKind::latch,
                      *LockName::checked("cell " + std::to_string(below(2)))};
    const CellOp op{{5, client}, ++ops_};
    if (below(2) == 0) {
      return CellAdd{.key = key, .delta = some_number(), .floor = some_number(), .op = op};
    }
    return CellWrite{.key = key,
                     .expected = twins_.cell(key).version + (below(5) == 0 ? 1 : 0),
                     .value = some_value(),
                     .op = op};
  }

  Twins& twins_;
  std::mt19937 random_;
  std::uint64_t ops_ = 0;
  Ask last_[3];
  Duration passed_{};
};

}  // namespace

void walk(Twins& twins, Walk where, unsigned seed, int steps) {
  Walker walker(twins, where, seed);
  for (int step = 0; step < steps && !twins.difference(); ++step) walker.step();
}

void walk_cells(Twins& twins, unsigned seed, int steps) {
  CellWalker walker(twins, seed);
  for (int step = 0; step < steps && !twins.difference(); ++step) walker.step();
}

}  // namespace holdfast::test
