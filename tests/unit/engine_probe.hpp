#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine.hpp"
#include "holdfast/store/store.hpp"

namespace holdfast::core {

// Chance without chance: a pause is this many nanoseconds, modulo its bound.
class FixedRandom final : public store::Random {
 public:
  explicit FixedRandom(Duration pause = {}) : value(static_cast<std::uint64_t>(pause.count())) {}
  std::uint64_t next() override { return value; }
  std::uint64_t value;
};

// What a caller asks for.
struct Want {
  std::string lock = "lock";
  Duration wait = kForever;
  Duration lease = std::chrono::seconds(30);
  bool renew = true;
  Duration max_hold = kForever;
  Order order = Order::any;
  std::uint64_t owner = 0;
  std::string reason{};
  bool thread = false;  // one waits for it
  store::Kind kind = store::Kind::mutex;
  store::Shape shape{};
  HoldCellPtr instead_of{};
  OpId op = 0;  // 0: the next one
};

// An Engine with a hand on its clock, its callers and its store. What the engine wants done is kept
// as lines of text, in order; each test says which ones it expects.
//
//   "ask #1"  "renew #1 #2"  "release #1"  "withdraw #1"  "watch #1"  "unwatch #1"  "lost 7"
//   "stay awake 3"
//
// The numbers are those of claims; a loss names its fence, who stays awake its operation. What callers are told is in outcome().
//
// Always checked: a caller is told once; a question has time to be answered; a batch is not too
// large; after a tick no timer is left in the past. When the probe goes, everything is brought to its
// end, and then nobody waits, nothing is watched and no timer is left.
class EngineProbe {
 public:
  static EngineSettings usual() {
    EngineSettings settings;
    settings.client = {1, 2};
    settings.self.host = "host";
    settings.self.pid = 42;
    settings.self.program = "program";
    settings.can.mutex_any = true;
    settings.can.mutex_fifo = true;
    settings.can.shared = settings.can.downgrade = settings.can.upgradeable = true;
    settings.can.permits = true;
    return settings;
  }

  explicit EngineProbe(EngineSettings settings = usual()) : engine_(std::move(settings), random) {}
  ~EngineProbe() { wind_down(); }
  EngineProbe(const EngineProbe&) = delete;
  EngineProbe& operator=(const EngineProbe&) = delete;

  // ---- time ----

  TimePoint now{std::chrono::seconds(1000)};

  // Time goes by, and the engine is ticked whenever one of its timers is due.
  void pass(Duration length) {
    const TimePoint end = now + length;
    while (engine_.next_timer() <= end) {
      now = std::max(now, engine_.next_timer());
      tick();
    }
    now = end;
  }
  // Time goes by and nobody looks: this process did not run.
  void freeze(Duration length) { now += length; }

  void tick() {
    if (!post(Tick{})) return;
    EXPECT_GT(engine_.next_timer(), now) << "a timer in the past would spin";
  }
  TimePoint next_timer() const { return engine_.next_timer(); }

  // ---- callers ----

  OpId acquire(const Want& want = {}) {
    AcquireWanted wanted;
    wanted.op = want.op != 0 ? want.op : new_op();
    wanted.name = store::LockName::checked(want.lock).value();
    wanted.wait = want.wait;
    wanted.lease = want.lease;
    wanted.renew = want.renew;
    wanted.max_hold = want.max_hold;
    wanted.order = want.order;
    wanted.owner_tag = want.owner;
    wanted.reason = want.reason;
    wanted.has_thread = want.thread;
    wanted.kind = want.kind;
    wanted.shape = want.shape;
    wanted.instead_of = want.instead_of;
    const OpId op = wanted.op;
    outcomes_[op] = "waiting";
    if (!post(std::move(wanted))) not_heard(op);
    return op;
  }
  void give_up(OpId op, Errc why = Errc::cancelled) { post(GiveUpWanted{op, why}); }
  OpId release(const HoldCellPtr& hold) { return finish<ReleaseWanted>(hold); }
  void drop(const HoldCellPtr& hold) {  // nobody waits for the result
    live_.erase(hold->id);
    if (!post(ReleaseWanted{hold, kNobody})) live_[hold->id] = hold;
  }
  OpId verify(const HoldCellPtr& hold) {
    const OpId op = new_op();
    outcomes_[op] = "waiting";
    if (!post(VerifyWanted{hold, op})) not_heard(op);
    return op;
  }
  void verify_all() { post(VerifyAllWanted{}); }
  void close() { post(CloseWanted{}); }

  // "waiting", "held" (an acquire), "done" (the others) or the name of the error.
  std::string outcome(OpId op) const { return outcomes_.at(op); }
  const Error& error(OpId op) const { return errors_.at(op); }
  HoldCellPtr hold(OpId op) const { return holds_.at(op); }

  // ---- the store ----

  // Answers the newest open question of a claim.
  void grant(ClaimNo claim, std::uint64_t fence, std::uint64_t spare = 0,
             Duration lease = std::chrono::seconds(30)) {
    answer(call(claim), store::GrantReply(store::Granted{fence, spare, lease}));
  }
  void refuse(ClaimNo claim, Duration retry_after = std::chrono::seconds(30)) {
    answer(call(claim), store::GrantReply(refusal(retry_after)));
  }
  void reject(ClaimNo claim, Errc why) {
    answer(call(claim), store::GrantReply(store::Rejected{why, "makes no sense"}));
  }
  void renewed(ClaimNo claim, Duration lease = std::chrono::seconds(30)) {
    each_renewal(call(claim), store::Renewed{lease});
  }
  void gone(ClaimNo claim, bool forced = false) { each_renewal(call(claim), store::Gone{forced}); }
  void released(ClaimNo claim) { answer(call(claim), store::ReleaseReply(store::Released{})); }
  void release_gone(ClaimNo claim) { answer(call(claim), store::ReleaseReply(store::Gone{})); }
  void withdrawn(ClaimNo claim) { answer(call(claim), store::WithdrawReply(store::Withdrawn{})); }
  void silence(ClaimNo claim, bool executed = true, Errc why = Errc::unavailable) {
    silence_call(call(claim), {why, executed, "the line is dead"});
  }
  void silence_call(store::CallId id, const store::NoAnswer& none) {
    switch (open_.at(id).what) {
      case What::grant:
        return answer(id, store::GrantReply(none));
      case What::renew:
        return answer(id, store::RenewReply(none));
      case What::release:
        return answer(id, store::ReleaseReply(none));
      case What::withdraw:
        return answer(id, store::WithdrawReply(none));
    }
  }
  void wake(ClaimNo claim, Duration look_after = {}) {
    store::Wake wake;
    wake.look_after = look_after;
    post(Woken{claim, wake});
  }
  void offer(ClaimNo claim, std::uint64_t fence, std::uint64_t spare = 0) {
    store::Wake wake;
    wake.offer = store::Wake::Offer{fence, spare};
    post(Woken{claim, wake});
  }

  // The newest open question of a claim, to be answered now or late.
  store::CallId call(ClaimNo claim) const {
    for (auto each = open_.rbegin(); each != open_.rend(); ++each) {
      const auto& claims = each->second.claims;
      if (std::find(claims.begin(), claims.end(), claim) != claims.end()) return each->first;
    }
    ADD_FAILURE() << "claim " << claim << " has no question open";
    return 0;
  }
  template <class Reply>
  void answer(store::CallId id, Reply reply) {
    ASSERT_EQ(open_.erase(id), 1u);
    post(Answered<Reply>{id, std::move(reply)});
  }
  void each_renewal(store::CallId id, const store::RenewalReply& reply) {
    answer(id,
           store::RenewReply(std::vector<store::RenewalReply>(open_.at(id).claims.size(), reply)));
  }
  // Any answer that a store could give; the dice decide.
  void answer_anyhow(store::CallId id, std::uint64_t dice) {
    const store::NoAnswer none{Errc::unavailable, dice % 2 == 0, "by chance"};
    const std::uint64_t fence = 1000 + id * 100;  // grows with each question
    switch (open_.at(id).what) {
      case What::grant: {
        const store::GrantReply replies[] = {store::Granted{fence, 16, std::chrono::seconds(30)},
                                             refusal(),
                                             none,
                                             store::Granted{fence, 0, std::chrono::seconds(1)},
                                             refusal(std::chrono::seconds(0)),
                                             store::Rejected{}};
        return answer(id, store::GrantReply(replies[dice % std::size(replies)]));
      }
      case What::renew: {
        std::vector<store::RenewalReply> each;
        for (std::size_t i = 0; i < open_.at(id).claims.size(); ++i) {
          const store::RenewalReply replies[] = {store::Renewed{std::chrono::seconds(30)}, none,
                                                 store::Renewed{std::chrono::seconds(1)},
                                                 store::Gone{}, store::Gone{.forced = true}};
          each.push_back(replies[(dice + i) % std::size(replies)]);
        }
        return answer(id, store::RenewReply(std::move(each)));
      }
      case What::release: {
        const store::ReleaseReply replies[] = {store::Released{}, store::Gone{}, none};
        return answer(id, store::ReleaseReply(replies[dice % std::size(replies)]));
      }
      case What::withdraw: {
        const store::WithdrawReply replies[] = {store::Withdrawn{}, none};
        return answer(id, store::WithdrawReply(replies[dice % std::size(replies)]));
      }
    }
  }
  std::vector<store::CallId> open_calls() const {
    std::vector<store::CallId> ids;
    for (const auto& [id, open] : open_) ids.push_back(id);
    return ids;
  }
  static store::Refused refusal(Duration retry_after = std::chrono::seconds(30)) {
    store::Refused no;
    no.holder.emplace();
    no.holder->owner = "other";
    no.holder->host = "elsewhere";
    no.holder->pid = 7;
    no.holder->program = "rival";
    no.lease_left = std::chrono::seconds(12);
    no.retry_after = retry_after;
    no.ahead = 3;
    return no;
  }

  // ---- what the engine wanted ----

  // The lines since the last time.
  std::vector<std::string> said() { return std::exchange(lines_, {}); }
  const AskGrant& asked() const { return asked_.back(); }  // the newest
  const AskRenew& renewal() const { return renewals_.back(); }
  const std::vector<AskRenew>& renewals() const { return renewals_; }
  const AskRelease& release_asked() const { return releases_.back(); }
  ClaimNo newest_claim() const { return asked().request.owner.claim; }
  std::vector<LockEvent::What> events() { return std::exchange(events_, {}); }

  bool drained() const { return engine_.drained(); }
  std::size_t holds() const { return engine_.holds(); }

  // Neither released nor lost.
  std::vector<HoldCellPtr> live() const {
    std::vector<HoldCellPtr> all;
    for (const auto& [id, hold] : live_) all.push_back(hold);
    return all;
  }

  // Acquires in one go.
  HoldCellPtr take(const Want& want = {}, std::uint64_t fence = 7, std::uint64_t spare = 0) {
    const OpId op = acquire(want);
    grant(newest_claim(), fence, spare, want.lease);
    EXPECT_EQ(outcome(op), "held");
    said();
    return hold(op);
  }

  FixedRandom random{std::chrono::milliseconds(5)};

  // Around each event: where a test takes memory away.
  std::function<void()> before_event;
  std::function<void()> after_event;

 private:
  enum class What { grant, renew, release, withdraw };
  struct Open {
    What what;
    std::vector<ClaimNo> claims;
  };

  OpId new_op() { return ++last_op_; }

  template <class Event>
  OpId finish(const HoldCellPtr& hold) {
    const OpId op = new_op();
    outcomes_[op] = "waiting";
    live_.erase(hold->id);
    if (!post(Event{hold, op}) && not_heard(op)) live_[hold->id] = hold;
    return op;
  }

  // False: there was no memory for it.
  template <class Event>
  bool post(Event event) {
    if (before_event) before_event();
    Outbox out;
    bool heard = true;
    try {
      engine_.on(std::move(event), now, out);
    } catch (const std::bad_alloc&) {
      heard = false;
      engine_.mend_soon(now);
    }
    if (after_event) after_event();
    for (const Action& action : out.actions) {
      std::visit([this](const auto& each) { this->note(each); }, action);
    }
    for (const LockEvent& event_told : out.events) events_.push_back(event_told.what);
    return heard;
  }

  // Whoever wished it knows by an exception; false if it was answered all the same.
  bool not_heard(OpId op) {
    if (outcomes_.at(op) != "waiting") return false;
    outcomes_[op] = "out_of_memory";
    unheard_.insert(op);
    return true;
  }

  void question(std::string_view verb, What what, store::CallId id, TimePoint deadline,
                std::vector<ClaimNo> claims) {
    EXPECT_GT(deadline, now) << verb << " has no time to be answered";
    std::string line(verb);
    for (const ClaimNo claim : claims) line += " #" + std::to_string(claim);
    lines_.push_back(std::move(line));
    EXPECT_TRUE(open_.emplace(id, Open{what, std::move(claims)}).second);
  }
  void note(const AskGrant& ask) {
    asked_.push_back(ask);
    question("ask", What::grant, ask.call, ask.deadline, {ask.request.owner.claim});
  }
  void note(const AskRenew& ask) {
    EXPECT_LE(ask.renewals.size(), store::Store::kMaxBatch);
    std::vector<ClaimNo> claims;
    for (const store::Renewal& each : ask.renewals) claims.push_back(each.owner.claim);
    renewals_.push_back(ask);
    question("renew", What::renew, ask.call, ask.deadline, std::move(claims));
  }
  void note(const AskRelease& ask) {
    releases_.push_back(ask);
    question("release", What::release, ask.call, ask.deadline, {ask.key.owner.claim});
  }
  void note(const AskWithdraw& ask) {
    question("withdraw", What::withdraw, ask.call, ask.deadline, {ask.key.owner.claim});
  }
  void note(const StartWatch& watch) {
    EXPECT_EQ(watch.key.owner.claim, watch.claim);
    EXPECT_EQ(++watches_[watch.claim], 1) << "watched twice";
    lines_.push_back("watch #" + std::to_string(watch.claim));
  }
  void note(const StopWatch& watch) {
    EXPECT_EQ(--watches_[watch.claim], 0) << "was not watched";
    lines_.push_back("unwatch #" + std::to_string(watch.claim));
  }
  void note(const FinishAcquire& end) {
    EXPECT_NE(end.hold == nullptr, end.error == std::nullopt);
    told(end.op, end.error ? std::string(name_of(end.error->errc())) : "held");
    if (end.error) errors_.insert_or_assign(end.op, *end.error);
    if (!end.hold) return;
    holds_[end.op] = end.hold;
    live_[end.hold->id] = end.hold;
  }
  void note(const StayAwake& stay) { lines_.push_back("stay awake " + std::to_string(stay.op)); }
  void note(const FinishVoid& end) {
    told(end.op, end.result ? "done" : std::string(name_of(end.result.error().errc())));
    if (!end.result) errors_.insert_or_assign(end.op, end.result.error());
  }
  void note(const TellLost& lost) {
    live_.erase(lost.hold->id);
    lines_.push_back("lost " + std::to_string(lost.hold->fence.value()));
  }
  void told(OpId op, std::string what) {
    const auto found = outcomes_.find(op);
    ASSERT_NE(found, outcomes_.end()) << "nobody asked for " << op;
    if (unheard_.contains(op)) return;  // a verification that was asked for after all
    EXPECT_EQ(found->second, "waiting") << "told twice";
    found->second = std::move(what);
  }

  // Everybody leaves, and the store answers what it is asked.
  void wind_down() {
    close();
    while (!live_.empty()) drop(HoldCellPtr(live_.begin()->second));
    for (int steps = 0; !open_.empty() || engine_.next_timer() != kNever; ++steps) {
      if (steps == 10'000) {
        ADD_FAILURE() << "it never ends";
        break;
      }
      if (open_.empty()) {
        now = std::max(now, engine_.next_timer());
        tick();
        continue;
      }
      const auto [id, open] = *open_.begin();
      switch (open.what) {
        case What::grant:
          answer(id, store::GrantReply(refusal()));
          break;
        case What::renew:
          each_renewal(id, store::Gone{});
          break;
        case What::release:
          answer(id, store::ReleaseReply(store::Released{}));
          break;
        case What::withdraw:
          answer(id, store::WithdrawReply(store::Withdrawn{}));
          break;
      }
    }
    EXPECT_EQ(engine_.next_timer(), kNever);
    EXPECT_TRUE(engine_.drained());
    EXPECT_EQ(engine_.holds(), 0u);
    for (const auto& [op, what] : outcomes_) EXPECT_NE(what, "waiting") << "nobody told " << op;
    for (const auto& [claim, count] : watches_) EXPECT_EQ(count, 0) << "still watching " << claim;
  }

  Engine engine_;
  OpId last_op_ = 0;
  std::map<store::CallId, Open> open_;
  std::map<OpId, std::string> outcomes_;
  std::set<OpId> unheard_;
  std::map<OpId, Error> errors_;
  std::map<OpId, HoldCellPtr> holds_;   // everything ever delivered
  std::map<HoldId, HoldCellPtr> live_;  // neither released nor lost
  std::map<ClaimNo, int> watches_;
  std::vector<std::string> lines_;
  std::vector<AskGrant> asked_;
  std::vector<AskRenew> renewals_;
  std::vector<AskRelease> releases_;
  std::vector<LockEvent::What> events_;
};

}  // namespace holdfast::core
