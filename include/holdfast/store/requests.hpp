#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/holder_record.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store {

struct GrantRequest : ClaimKey {
  Order order = Order::any;
  Duration lease{};
  std::uint64_t spare = 0;  // how many fences to reserve for hand-offs
  HolderRecord record{};

  // Whether a refused claim enters the line (once; asking again refreshes its place), for how long
  // an entry that is not refreshed stays, and how long an offer waits to be confirmed.
  // line_for + confirm_within ≤ lease, so that nothing outlives one lease.
  bool line_up = false;
  Duration line_for{};
  Duration confirm_within{};

  // Upgrade or downgrade: the hold of the same client that this claim replaces in one step, if it is
  // granted. Until then that hold stays, and it needs renewals of its own.
  std::optional<HoldKey> instead_of{};
};

struct Renewal : HoldKey {
  Duration lease{};
};

struct ForceRequest {
  Kind kind = Kind::mutex;
  LockName name;
  std::uint64_t fence = 0;  // the hold that is meant: another one is left alone
  bool now = false;         // free it at once instead of revoking it
  std::string reason{};
};

// Told to a waiting claim. A hint: it may come late, twice or never.
struct Wake {
  // Set if the lock was handed over: (owner, fence) must be renewed within confirm_within.
  struct Offer {
    std::uint64_t fence = 0;
    std::uint64_t spare = 0;
    std::vector<std::uint32_t> slots{};  // as in Granted
  };
  std::optional<Offer> offer{};
  // Else: look again after this long (0 = now).
  Duration look_after{};
};

}  // namespace holdfast::store
