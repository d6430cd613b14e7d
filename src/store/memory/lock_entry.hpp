#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "holdfast/holder_record.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/store/requests.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store {

struct HeldClaim {
  OwnerId owner;
  HolderRecord record;
  std::uint64_t fence = 0;
  std::uint64_t spare = 0;
  TimePoint until{};
  bool offered = false;  // handed over, not yet confirmed
  bool revoked = false;
};

struct WaitingClaim {
  OwnerId owner;
  HolderRecord record;
  std::uint64_t spare = 0;
  Duration confirm_within{};
  TimePoint until{};
};

// A lease that ends at `until` is over from that very moment.
constexpr bool lapsed(TimePoint until, TimePoint now) { return now >= until; }

// One lock of a LockTable: who holds it and who waits for it.
struct LockEntry {
  std::optional<HeldClaim> held;
  std::deque<WaitingClaim> line;

  bool idle() const { return !held && line.empty(); }
  bool held_by(const OwnerId&) const;
  bool held_by(const HoldKey&) const;
  void drop_lapsed(TimePoint now);

  // Enters the line at its end, or refreshes the place that the claim already has.
  void line_up(const GrantRequest&, TimePoint now);
  void leave_line(const OwnerId&);
  // The claims before this one: all of them if it is not in the line.
  std::size_t ahead_of(const OwnerId&) const;
};

}  // namespace holdfast::store
