#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "holdfast/error.hpp"
#include "holdfast/finding.hpp"
#include "holdfast/holder_record.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store {

// We do not know whether the store did it. Every verb can end like this.
struct NoAnswer {
  Errc why = Errc::unavailable;  // unavailable, permission, protocol, store_full, store_corrupt …
  bool executed = true;          // false only if the store certainly did not see the question
  std::string text{};            // for people; no secrets
};

// --- try_grant ---
struct Granted {
  std::uint64_t fence = 0;
  std::uint64_t spare = 0;  // fence + 1 … fence + spare are reserved for hand-offs
  Duration lease{};         // what the store really gave
  // Permits: which of them, counted from 0. Two holds never have the same one. May be empty if the
  // store does not tell them apart.
  std::vector<std::uint32_t> slots{};
};
struct Refused {
  std::optional<HolderRecord> holder{};
  Duration lease_left{};            // the holder's; all of it where the store does not see it run
  Duration retry_after{};           // when looking again makes sense if no wake comes
  std::uint32_t ahead = 0;          // claims before this one in the line
  std::uint32_t waiting = 0;        // claims in the line, this one included if it lined up
  std::uint64_t fence_counter = 0;  // the newest fence the store has given for this name
};
// The question made no sense to the store: a name of another kind, a capability it lacks.
struct Rejected {
  Errc why = Errc::invalid_argument;
  std::string text{};
};
using GrantReply = std::variant<NoAnswer, Granted, Refused, Rejected>;

// --- renew ---
struct Renewed {
  Duration lease{};
};
struct Gone {
  bool forced = false;  // revoked by an operator: the lock is free once its holder releases it
};
using RenewalReply = std::variant<NoAnswer, Renewed, Gone>;
using RenewReply = std::variant<NoAnswer, std::vector<RenewalReply>>;  // one for each, in order

// --- release ---
struct Released {
  bool others_waiting = false;
};
using ReleaseReply = std::variant<NoAnswer, Released, Gone>;

// --- withdraw ---
struct Withdrawn {};
using WithdrawReply = std::variant<NoAnswer, Withdrawn>;

// --- inspect ---
struct ClaimView {
  OwnerId owner;
  Shape shape;
  HolderRecord record;
  std::uint64_t fence = 0;  // 0 for one that waits
  Duration lease_left{};    // of the hold, or until its line entry lapses; as in Refused
  bool offered = false;     // handed over, not yet confirmed; false where nobody sees that
  bool revoked = false;
};
struct LockView {
  Kind kind = Kind::mutex;
  LockName name;
  std::vector<ClaimView> holds;
  std::vector<ClaimView> line;  // in order
};
using InspectReply = std::variant<NoAnswer, std::vector<LockView>, Rejected>;

// --- force_release ---
struct Forced {};        // revoked, or free at once, as asked
struct ChangedHands {};  // that fence does not hold it (any more): nothing was done
using ForceReply = std::variant<NoAnswer, Forced, ChangedHands, Rejected>;

// --- examine ---
using ExamineReply = std::variant<NoAnswer, std::vector<Finding>>;

}  // namespace holdfast::store
