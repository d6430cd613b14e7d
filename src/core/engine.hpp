#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/agenda.hpp"
#include "core/claim_machine.hpp"
#include "core/events.hpp"
#include "core/lease_machine.hpp"
#include "core/outbox.hpp"
#include "core/parting.hpp"
#include "core/spare_nodes.hpp"
#include "holdfast/store/capabilities.hpp"

namespace holdfast::core {

struct EngineSettings {
  store::ClientId client;
  HolderRecord self;  // host, pid, program; the rest is filled in for each claim
  Pace pace;
  std::uint32_t handoff_count = 16;
  Duration handoff_time = std::chrono::milliseconds(20);
  store::Capabilities can;
};

// The rules of one client: who waits for what, which claim is where, which lease is due. Events go
// in, actions come out; there is no clock, no thread and no store in here, so every path can be
// driven by a test and every schedule repeated by a simulation.
//
// Its objects, in the order in which an acquire meets them:
//   Waiter    a caller who wants a lock
//   Room      the local queue of one mutex: under Order::any its waiters share one claim, and a
//             released lock may be handed to the next of them without asking the store. Waiters for
//             other kinds of locks have a claim each
//   Claim     one request in the store (ClaimMachine); once granted, one lease (LeaseMachine)
//   Hold      what the caller got: a claim's lease, one of its fences
//   Parting   a claim on its way out of the store
//
// Threads      None: the Driver calls it under its mutex.
class Engine {
 public:
  Engine(EngineSettings settings, store::Random& random);

  // On error     Any of them may throw std::bad_alloc. Then mend_soon() has to follow, and what is in
  //              the outbox has to be done all the same. A wish (acquire, release, verify) that throws
  //              has not been heard: all is as before. Anything else is made good by later ticks.
  void on(AcquireWanted, TimePoint now, Outbox&);
  void on(const GiveUpWanted&, TimePoint now, Outbox&);
  void on(const ReleaseWanted&, TimePoint now, Outbox&);
  void on(const VerifyWanted&, TimePoint now, Outbox&);
  void on(const VerifyAllWanted&, TimePoint now, Outbox&);
  void on(const CloseWanted&, TimePoint now, Outbox&);
  void on(const Woken&, TimePoint now, Outbox&);
  void on(const Tick&, TimePoint now, Outbox&);
  void on(const Answered<store::GrantReply>&, TimePoint now, Outbox&);
  void on(const Answered<store::RenewReply>&, TimePoint now, Outbox&);
  void on(const Answered<store::ReleaseReply>&, TimePoint now, Outbox&);
  void on(const Answered<store::WithdrawReply>&, TimePoint now, Outbox&);

  TimePoint next_timer() const { return std::min(agenda_.next(), mend_at_); }

  // There was no memory for an event: brings what it left half done into a state to go on from.
  void mend_soon(TimePoint now) noexcept;

  // Nothing is on its way out of the store any more.
  bool drained() const;
  std::size_t holds() const { return holds_.size(); }
  bool awaits(OpId op) const { return waiters_.contains(op); }  // an acquire that will be told

 private:
  struct RoomKey {
    store::Kind kind;
    store::LockName name;
  };
  struct ByRoom {  // a wish finds its room by itself: no key is made for it
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
    }
  };
  struct Room {
    std::vector<OpId> queue;  // Order::any, in order of arrival
    ClaimNo claim = 0;        // the one that serves the queue, waiting or held
    bool quick = false;       // the last hold was over before a sleeping thread would be awake
    OpId awake = 0;           // a waiter whose thread does not sleep …
    TimePoint awake_until{};  // … until then
  };
  struct Waiter {
    AcquireWanted wanted;
    TimePoint since{};
    HoldCellPtr cell;               // of the Hold it will get
    ClaimNo claim = 0;              // its own; 0 while it stands in a room's queue
    std::optional<Errc> leaving{};  // it is to go without the lock
    bool astray = false;            // nothing is under way for it: see mend_soon()
  };
  struct Verifier {
    OpId op = 0;
    TimePoint asked{};
  };
  struct Claim {
    store::ClaimKey key;
    ClaimMachine machine;
    AcquireWanted wanted;                        // of the waiter it is made for, or of the holder
    OpId waiter = 0;                             // 0 once held, or once that waiter was told
    bool of_room = false;                        // serves its room's queue
    std::optional<store::HoldKey> instead_of{};  // an exchange: of this hold
    bool watched = false;
    store::CallId call = 0;  // the question in flight
    // once granted
    std::optional<LeaseMachine> lease{};
    store::CallId renewal = 0;  // the renewal in flight
    TimePoint indexed_at = kNever;
    std::uint64_t fence = 0;
    std::uint64_t spare = 0;
    std::vector<std::uint32_t> slots{};
    std::uint64_t handed = 0;
    TimePoint granted_at{};
    HoldCellPtr hold{};
    TimePoint hold_since{};
    bool exchanging = false;  // another claim is to take its place
    bool yields = false;      // that one wants less: others may come in any moment
    bool missed = false;      // the store does not know it, perhaps since that one has its place
    bool stray = false;       // a late answer showed more of it in the store than its hold
    std::vector<Verifier> verifiers{};
    // What is not done yet, should there be no memory for it.
    bool in_step = false;             // what the machine's last step led to
    bool leaving = false;             // it is released; its end
    std::optional<LostWhy> losing{};  // it is lost; its end
  };
  struct OpenCall {
    struct Target {
      ClaimNo claim = 0;
      store::HoldKey key{};
      Duration asked{};
    };
    ClaimNo claim = 0;
    std::uint64_t parting = 0;
    store::ClaimKey key{};  // try_grant: what a late answer is about
    Duration lease{};
    bool confirming = false;
    TimePoint sent{};
    std::vector<Target> targets{};
  };
  // What there was no memory for is tried again after this.
  static constexpr Duration kMendAfter = std::chrono::milliseconds(10);

  enum class Due : std::uint8_t { waiter, claim, parting };
  using AgendaKey = std::pair<Due, std::uint64_t>;

  // A new wish.
  void admit(AcquireWanted, TimePoint now, Outbox&);
  void forget(OpId) noexcept;

  // The local queue.
  static RoomKey key_of(const AcquireWanted& wanted) { return {wanted.kind, wanted.name}; }
  Room& room_of(const AcquireWanted& wanted) { return rooms_.find(wanted)->second; }
  Claim* claim_of_room(const AcquireWanted&);
  void notice_expiry(const AcquireWanted&, TimePoint now, Outbox&);
  bool can(const AcquireWanted&) const;
  bool same_owner_holds(const AcquireWanted&, TimePoint now) const;
  bool fits(const Claim&, const AcquireWanted&) const;
  template <class Key>
  void serve(const Key&, TimePoint now, Outbox&);
  void leave(OpId, Errc why, TimePoint now, Outbox&);
  void refuse(OpId, Errc why, const Claim* about, TimePoint now, Outbox&);
  void keep_awake(Room&, OpId, TimePoint now, Outbox&);
  OpId next_in(const Room&, const Claim&, TimePoint now) const;
  bool hand_off(ClaimNo, TimePoint now, Outbox&);

  // Claims.
  ClaimNo start_claim(OpId, bool of_room, TimePoint now, Outbox&);
  static ClaimMachine& moved(Claim& claim) {
    claim.in_step = true;
    return claim.machine;
  }
  void apply(ClaimNo, const ClaimStep&, TimePoint now, Outbox&);
  void tell(Claim&, Errc why, TimePoint now, Outbox&);
  void detach(Claim&);
  void end_claim(ClaimNo, TimePoint now, Outbox&);
  void stop_watch(ClaimNo, Claim&, Outbox&);
  store::GrantRequest request_of(const Claim&) const;
  store::CallId open_call(OpenCall);
  void late_answer(const OpenCall&, const store::GrantReply&, TimePoint now, Outbox&);

  // Leases.
  void become_hold(ClaimNo, const GrantInHand&, TimePoint now, Outbox&);
  void deliver(ClaimNo, OpId, TimePoint now, Outbox&);
  static void show_validity(Claim&);
  Claim* to_be_replaced(const AcquireWanted&);
  void end_replaced(const AcquireWanted&, TimePoint now, Outbox&);
  void exchange_failed(const AcquireWanted&, Errc why, TimePoint now, Outbox&);
  void schedule(ClaimNo, Claim&);
  void lease_timer(ClaimNo, TimePoint now, Outbox&);
  void send_renewals(TimePoint now, Outbox&);
  void renewal_answered(const OpenCall::Target&, store::CallId, TimePoint sent,
                        const store::RenewalReply&, TimePoint now, Outbox&);
  void late_renewal(const OpenCall::Target&, TimePoint now, Outbox&);
  // Those who asked before that question left: its answer is one to them.
  void tell_verifiers(Claim&, TimePoint sent, const Result<void>&, Outbox&);
  void tell_verifiers(Claim& claim, const Result<void>& result, Outbox& out) {
    tell_verifiers(claim, kNever, result, out);
  }
  void lose(ClaimNo, LostWhy, TimePoint now, Outbox&);
  TimePoint renewal_sent(const Claim&) const;
  void released(ClaimNo, TimePoint now, Outbox&);

  // Partings.
  void part(Parting::Verb, store::HoldKey, Duration lease, OpId, TimePoint now, Outbox&);
  static Parting& moved(Parting& parting) {
    parting.in_step = true;
    return parting;
  }
  void apply(std::uint64_t parting, const PartingStep&, TimePoint now, Outbox&);

  // After a want of memory.
  void find_strays() noexcept;
  void step_back(Claim&, TimePoint now) noexcept;
  void mend(TimePoint now, Outbox&);
  void mend_claim(ClaimNo, TimePoint now, Outbox&);
  void due(Due, std::uint64_t, bool& renewals_due, TimePoint now, Outbox&);

  EngineSettings settings_;
  store::Random& random_;
  bool closing_ = false;
  TimePoint mend_at_ = kNever;
  ClaimNo last_claim_ = 0;
  HoldId last_hold_ = 0;
  store::CallId last_call_ = 0;
  std::uint64_t last_parting_ = 0;
  SpareNodes nodes_;  // before what they are in
  std::pmr::map<RoomKey, Room, ByRoom> rooms_{&nodes_};
  std::pmr::map<OpId, Waiter> waiters_{&nodes_};
  std::pmr::map<ClaimNo, Claim> claims_{&nodes_};
  std::pmr::map<HoldId, ClaimNo> holds_{&nodes_};
  std::pmr::map<std::uint64_t, Parting> partings_{&nodes_};
  std::pmr::map<store::CallId, OpenCall> calls_{&nodes_};
  Agenda<AgendaKey> agenda_{&nodes_};
  std::pmr::set<std::pair<TimePoint, ClaimNo>> renewable_{&nodes_};  // by LeaseMachine::renew_from
  const std::string client_text_ = store::to_string(settings_.client) + ":";
};

}  // namespace holdfast::core
