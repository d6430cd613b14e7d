// What a lock server does, without the server: one table of locks and the verbs of the store
// contract as functions of a question and the time.
//
// A lock is in one of four states; `lapse` happens by itself, when now reaches the end of a lease:
//
//   free      no hold, no line: nothing is stored
//   held      a confirmed hold               -- release, withdraw, force now, lapse --> next
//   revoked   a hold that cannot be renewed  -- release, withdraw, force now, lapse --> next
//   offered   handed over, not yet confirmed -- renew, try_grant --> held
//                                            -- release, withdraw, force now, lapse --> next
//   next      the head of the line, if its entry has not lapsed, is offered the lock; else free
//
// A lapse is noticed by the next verb that touches the lock. If that is a try_grant of the head, it
// is granted at once: whoever asks needs no offer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "holdfast/store/replies.hpp"
#include "holdfast/store/requests.hpp"
#include "holdfast/time.hpp"
#include "store/memory/lock_entry.hpp"

namespace holdfast::store {

// A wake that has to be delivered.
struct Told {
  OwnerId who;
  Wake wake;
};

// Locks, their holders and their lines. The memory store shares one behind a mutex; the simulation
// and the tests of other stores use it as the model of a server that is always right.
//
// Guarantees   Deterministic: the same questions at the same times give the same answers. One fence
//              counter serves all names, so a free lock leaves nothing behind. Wakes are appended to
//              `told` in the order in which they should be delivered.
// Time         Told with each question; it must not go back.
// Limits       Mutexes only: other kinds and shapes are Rejected with Errc::unsupported.
// Threads      None of its own, and no lock: one caller at a time.
class LockTable {
 public:
  explicit LockTable(std::uint64_t fence_counter = 0) : fence_counter_(fence_counter) {}

  GrantReply try_grant(const GrantRequest&, TimePoint now, std::vector<Told>& told);
  RenewalReply renew(const Renewal&, TimePoint now, std::vector<Told>& told);
  ReleaseReply release(const HoldKey&, TimePoint now, std::vector<Told>& told);
  WithdrawReply withdraw(const ClaimKey&, TimePoint now, std::vector<Told>& told);
  ForceReply force_release(const ForceRequest&, TimePoint now, std::vector<Told>& told);

  // In the order of names. What has lapsed is not shown.
  InspectReply inspect(std::string_view pattern, TimePoint now) const;

  std::size_t size() const { return locks_.size(); }  // locks stored, lapsed ones included
  std::uint64_t fence_counter() const { return fence_counter_; }

 private:
  using Locks = std::map<LockName, LockEntry>;

  Locks::iterator find(Kind, const LockName&);
  Locks::iterator find_or_add(const LockName&, TimePoint now);
  void forget_one_idle(TimePoint now);

  GrantReply answer(LockEntry&, const GrantRequest&, TimePoint now, std::vector<Told>& told);
  GrantReply grant(LockEntry&, const GrantRequest&, TimePoint now);
  Refused refusal(const LockEntry&, const OwnerId&, TimePoint now) const;

  // Takes a fence with its spares from the counter; none if the numbers have run out.
  std::optional<std::uint64_t> next_fence(std::uint64_t spare);
  // Offers a free lock to the head of its line; false if the fences have run out.
  bool hand_over(LockEntry&, TimePoint now, std::vector<Told>& told);
  // After whatever a verb did: hands a free lock over, forgets one that nobody wants.
  void settle(Locks::iterator, TimePoint now, std::vector<Told>& told);

  Locks locks_;
  std::uint64_t fence_counter_;
  LockName looked_at_;  // how far forget_one_idle() has come
};

}  // namespace holdfast::store
