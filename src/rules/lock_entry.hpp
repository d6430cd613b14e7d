// The rules of one lock, wherever it is kept: who holds it, who waits for it, and what each verb of
// the store contract does to that.
//
// A hold is in one of three states; `lapse` happens by itself, when now reaches the end of a lease:
//
//   held      confirmed             -- release, withdraw, force now, lapse --> gone
//   revoked   cannot be renewed     -- release, withdraw, force now, lapse --> gone
//   offered   handed over           -- renew, try_grant --> held
//                                   -- release, withdraw, force now, lapse --> gone
//
// Whenever there is room, the head of the line is offered what it waits for, and then the next head,
// as long as it fits beside the holds there are. A lapse is noticed by the next verb that touches the
// lock. If that is a try_grant of the head, it is granted at once: whoever asks needs no offer.
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

// The hold that an upgrade or downgrade takes the place of.
struct Replaced {
  store::OwnerId owner;
  std::uint64_t fence = 0;

  friend bool operator==(const Replaced&, const Replaced&) = default;
};

struct HeldClaim {
  store::OwnerId owner;
  store::Shape shape;
  HolderRecord record;
  std::uint64_t fence = 0;
  std::uint64_t spare = 0;
  TimePoint until{};
  bool offered = false;  // handed over, not yet confirmed
  bool revoked = false;
  std::vector<std::uint32_t> slots{};  // permits: which
  std::optional<Replaced> replaces{};  // while offered

  friend bool operator==(const HeldClaim&, const HeldClaim&) = default;
};

struct WaitingClaim {
  store::OwnerId owner;
  store::Shape shape;
  HolderRecord record;
  std::uint64_t spare = 0;
  Duration confirm_within{};
  TimePoint until{};
  std::optional<Replaced> replaces{};

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
  std::optional<std::uint32_t> size{};  // permits, if the semaphore's size was set
};

// A lease that ends at `until` is over from that very moment.
constexpr bool lapsed(TimePoint until, TimePoint now) { return now >= until; }

// One lock of any kind.
//
// Guarantees   Deterministic: the same questions at the same times give the same answers.
// Threads      None of its own, and no lock: one caller at a time.
struct LockEntry {
  store::Kind kind = store::Kind::mutex;  // of the claims below
  std::vector<HeldClaim> holds;           // in the order in which they were given
  std::deque<WaitingClaim> line;

  store::GrantReply try_grant(const store::GrantRequest&, const Moment&);
  store::RenewalReply renew(const store::Renewal&, const Moment&);
  store::ReleaseReply release(const store::HoldKey&, const Moment&);
  store::WithdrawReply withdraw(const store::ClaimKey&, const Moment&);
  store::ForceReply force_release(const store::ForceRequest&, const Moment&);
  // What there is to see at that time; nothing that has lapsed.
  store::LockView view(const store::LockName&, TimePoint now) const;

  // Drops what has lapsed and offers the lock to the heads of its line for whom there is room.
  void settle(const Moment&);
  void drop_lapsed(TimePoint now);
  bool idle() const { return holds.empty() && line.empty(); }

  friend bool operator==(const LockEntry&, const LockEntry&) = default;

 private:
  HeldClaim* find(const store::OwnerId&);
  HeldClaim* find(const store::OwnerId&, std::uint64_t fence);
  HeldClaim* find(const store::HoldKey&);  // of the right kind, too
  void end(const Replaced&);
  // The old hold of an up- or downgrade goes when the new one is confirmed.
  void confirm(HeldClaim&, TimePoint until);

  // Why this claim can never be granted as things are.
  std::optional<store::Rejected> objection(const store::GrantRequest&, const Moment&);
  bool has_room(const store::Shape&, const std::optional<Replaced>&, const Moment&) const;
  std::uint32_t permits(const store::Shape& asked, const Moment&) const;
  std::vector<std::uint32_t> free_slots(const store::Shape&) const;

  // Enters the line, or refreshes the place that the claim already has.
  void line_up(const store::GrantRequest&, TimePoint now);
  void leave_line(const store::OwnerId&);
  // The claims before this one: all of them if it is not in the line.
  std::size_t ahead_of(const store::OwnerId&) const;

  store::GrantReply grant(const store::GrantRequest&, const Moment&);
  store::Refused refusal(const store::GrantRequest&, const Moment&) const;
  // Offers the lock to heads of the line, up to this owner. False if the fences have run out.
  bool serve_line(const Moment&, const store::OwnerId* up_to = nullptr);
  bool hand_over(const Moment&);
  void drop_hopeless(const Moment&);
};

}  // namespace holdfast::rules
