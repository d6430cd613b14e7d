// The rules of one lock, wherever it is kept: who holds it, who waits for it, and what each verb of
// the store contract does to that.
//
// A lock is in one of four states; `lapse` happens by itself, when now reaches the end of a lease:
//
//   free      no hold, no line: nothing needs to be kept
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
#include <deque>
#include <optional>
#include <vector>

#include "holdfast/holder_record.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/store/requests.hpp"
#include "holdfast/time.hpp"

namespace holdfast::rules {

struct HeldClaim {
  store::OwnerId owner;
  HolderRecord record;
  std::uint64_t fence = 0;
  std::uint64_t spare = 0;
  TimePoint until{};
  bool offered = false;  // handed over, not yet confirmed
  bool revoked = false;

  friend bool operator==(const HeldClaim&, const HeldClaim&) = default;
};

struct WaitingClaim {
  store::OwnerId owner;
  HolderRecord record;
  std::uint64_t spare = 0;
  Duration confirm_within{};
  TimePoint until{};

  friend bool operator==(const WaitingClaim&, const WaitingClaim&) = default;
};

// A wake that has to be delivered.
struct Told {
  store::OwnerId who;
  store::Wake wake;
};

// Gives out fences. They grow, and those in between stay reserved for hand-offs.
class FenceCounter {
 public:
  explicit FenceCounter(std::uint64_t last = 0) : last_(last) {}

  // A fence with its spares; none if the numbers have run out.
  std::optional<std::uint64_t> next(std::uint64_t spare);
  std::uint64_t last() const { return last_; }

 private:
  std::uint64_t last_;
};

// When a verb happens, what it takes fences from and where its wakes go, in the order in which they
// should be delivered.
struct Moment {
  TimePoint now;
  FenceCounter& fences;
  std::vector<Told>& told;
};

// A lease that ends at `until` is over from that very moment.
constexpr bool lapsed(TimePoint until, TimePoint now) { return now >= until; }

// One lock. Mutexes only: other kinds and shapes are Rejected with Errc::unsupported.
//
// Guarantees   Deterministic: the same questions at the same times give the same answers.
// Threads      None of its own, and no lock: one caller at a time.
struct LockEntry {
  std::optional<HeldClaim> held;
  std::deque<WaitingClaim> line;

  store::GrantReply try_grant(const store::GrantRequest&, const Moment&);
  store::RenewalReply renew(const store::Renewal&, const Moment&);
  store::ReleaseReply release(const store::HoldKey&, const Moment&);
  store::WithdrawReply withdraw(const store::ClaimKey&, const Moment&);
  store::ForceReply force_release(const store::ForceRequest&, const Moment&);
  // What there is to see at that time; nothing that has lapsed.
  store::LockView view(const store::LockName&, TimePoint now) const;

  // Drops what has lapsed and offers a free lock to the head of its line.
  void settle(const Moment&);
  void drop_lapsed(TimePoint now);
  bool idle() const { return !held && line.empty(); }

  friend bool operator==(const LockEntry&, const LockEntry&) = default;

 private:
  bool held_by(const store::OwnerId&) const;
  bool held_by(const store::HoldKey&) const;

  // Enters the line at its end, or refreshes the place that the claim already has.
  void line_up(const store::GrantRequest&, TimePoint now);
  void leave_line(const store::OwnerId&);
  // The claims before this one: all of them if it is not in the line.
  std::size_t ahead_of(const store::OwnerId&) const;

  store::GrantReply grant(const store::GrantRequest&, const Moment&);
  store::Refused refusal(const store::OwnerId&, const Moment&) const;
  // False if the fences have run out.
  bool hand_over(const Moment&);
};

}  // namespace holdfast::rules
