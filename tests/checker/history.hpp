// What happened in one run, simulated or real, as plain data for the checker.
//
// Every time is in nanoseconds on ONE true time line: the simulation's global time, or BOOTTIME
// when all processes run on one machine. A client's own clock never appears here.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace holdfast::check {

using Time = std::int64_t;
inline constexpr Time kNever = std::numeric_limits<Time>::max();  // "did not happen" or "not known"

enum class Order : std::uint8_t { any, fifo };
enum class Outcome : std::uint8_t {
  granted,
  busy,
  timed_out,
  cancelled,
  unknown,
  unavailable,
  other,
  pending
};
// What a hold leaves to others: nothing, readers, readers but no second of its kind, or the permits
// that it did not take.
enum class Mode : std::uint8_t { exclusive, shared, upgradeable, permits };
enum class Renewed : std::uint8_t { renewed, gone, no_answer };

// One call of acquire and, if it was granted, the hold that came of it.
struct Acquire {
  std::uint32_t client = 0;
  std::uint64_t op = 0;     // the client's own number for this call; only named in texts
  std::string name{};       // of the lock
  std::uint64_t owner = 0;  // claim number within the client; 0 = not known
  Order order = Order::any;

  Time invoked = 0;
  Time returned = kNever;  // kNever exactly when the outcome is pending
  Outcome outcome = Outcome::pending;
  // Absolute; `invoked` for a single attempt. If the client was paused then: when it resumed.
  Time wait_limit = kNever;

  Time lined_up = kNever;   // when the store answered the first refusal that put it in line
  bool lost_place = false;  // its offer lapsed or its entry was dropped: it had to line up again

  // A store grant has fence == grant_fence. A hand-off has a greater fence and repeats grant_fence
  // and spare of the store grant whose range it draws from.
  std::uint64_t fence = 0;
  std::uint64_t grant_fence = 0;
  std::uint64_t spare = 0;      // fences reserved above grant_fence
  Time sent = kNever;           // of the request that the first lease counts from; hand-off: kNever
  std::int64_t lease_ns = 0;    // that first lease as the store gave it; 0 = not known
  Time store_granted = kNever;  // when the store first gave out grant_fence; hand-off: kNever

  Time valid_end = kNever;  // release invoked, deadline passed, loss told or client crashed
  Time released = kNever;   // when release was invoked
  bool crashed = false;     // the client crashed while this claim waited or held

  Mode mode = Mode::exclusive;
  std::uint32_t take = 1;  // permits only, as is `of`
  std::uint32_t of = 1;
  std::uint64_t replaces = 0;  // the op whose hold it takes the place of; 0 = none
};

// One renewal of one store grant, also while a hand-off of that grant is the holder.
struct Renewal {
  std::uint32_t client = 0;
  std::uint64_t owner = 0;  // as the store knows it: the claim of the store grant
  std::string name{};
  std::uint64_t grant_fence = 0;
  Time sent = 0;
  Time answered = kNever;
  Renewed outcome = Renewed::no_answer;
  std::int64_t lease_ns = 0;  // as asked for, or as given if that was less
  bool confirming = false;  // confirms an offer or serves verify(): outside the rhythm of renewals
};

// One call of verify() on a hold that was granted to this client.
struct Verification {
  std::uint32_t client = 0;
  std::string name{};
  std::uint64_t grant_fence = 0;
  Time invoked = 0;
  Time returned = kNever;
  bool confirmed = false;  // the answer was: yes, it is yours
};

// A release that left for the store (a hand-off sends none).
struct ReleaseSent {
  std::uint32_t client = 0;
  std::uint64_t owner = 0;
  std::string name{};
  std::uint64_t grant_fence = 0;
  Time sent = 0;
};

// One access to a pair of counters that start at 0: the fenced one refuses a read or a write whose
// fence is below the highest it has seen (a read raises the highest too); its unfenced twin accepts
// everything. A holder reads both during its hold, then writes what it read plus one to both. The
// resource records this, not the client, so that a crash leaves no gap. Accesses with equal `at`
// happened in the order of the vector.
struct ResourceOp {
  std::uint32_t client = 0;
  std::string name{};  // of the lock that guards it
  std::uint64_t fence = 0;
  Time at = 0;
  bool write = false;
  bool accepted = false;           // by the fenced counter
  std::uint64_t fenced_value = 0;  // read or written, or what a refused write wanted to write
  std::uint64_t twin_value = 0;
};

// The counters of one lock when all is over.
struct FinalValue {
  std::string name{};
  std::uint64_t fenced = 0;
  std::uint64_t twin = 0;
};

// What the store still shows at rest: one longest lease after the last fault and after the end of
// all claims.
struct Leftover {
  std::string name{};
  std::uint32_t client = 0;
  std::uint64_t owner = 0;
  bool in_line = false;
  bool holds = false;
};

// Which premises of the promises held in this run. Rules that rest on one that did not still
// report, but their violations do not count.
struct Assumptions {
  bool timing = true;  // clock rates within the allowance, no stepped store clock, no --now
  bool store_keeps_data = true;  // no amnesia, no failover to a replica that had not heard
  bool plain_counter = false;    // the store's fences restart if it loses its data

  bool operator==(const Assumptions&) const = default;
};

// The bounds of the run. All but `ended`, `last_fault` and `served_by` are durations.
struct Terms {
  Assumptions assumptions{};
  Time ended = kNever;  // when recording stopped
  Time last_fault = 0;  // when the last fault was healed; crashes and pauses are faults
  Time longest_lease = 0;
  // After healing no lock is idle for longer while somebody waits for it. Allow at least for one
  // longest lease and for what a client takes to come back. kNever: not checked.
  Time served_within = kNever;
  Time served_by = kNever;     // by then every wait without limit is over. kNever: not checked
  Time slack = 0;              // how late a limited wait may return
  Time jitter = 0;             // how far the recorded time of a sending may be off
  std::int64_t drift_ppm = 0;  // how far any clock rate is off, beyond the allowance too

  bool operator==(const Terms&) const = default;
};

struct History {
  Terms terms;
  std::vector<Acquire> acquires;
  std::vector<Renewal> renewals;
  std::vector<Verification> verifications;
  std::vector<ReleaseSent> releases;
  std::vector<ResourceOp> resource_ops;
  std::vector<FinalValue> final_values;
  std::vector<Leftover> leftovers;
};

}  // namespace holdfast::check
