#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "holdfast/holder_record.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

// What went wrong. "No" and "no idea" are different answers: see Outcome.
enum class Errc {
  busy = 1,          // somebody else holds it, and the call was not to wait
  timed_out,         // not granted within AcquireOptions::wait, and the store said so
  cancelled,         // given up on request; nothing stays behind
  lost,              // the lock was no longer ours
  unknown,           // no answer came: it may or may not have happened
  unavailable,       // the store could not be asked
  no_quorum,         // too few of several stores answered yes
  not_owner,         // released by somebody who does not hold it, or twice
  forked,            // used in a child process of the one that made it
  forced,            // an operator took the lock away
  unsupported,       // this store does not declare that capability
  would_deadlock,    // the same Owner holds it already
  size_mismatch,     // a semaphore used with another number of permits
  store_full,        // the store has no room
  store_corrupt,     // the store's data cannot be trusted
  permission,        // the store refused our credentials or rights
  protocol,          // the store answered something we do not understand
  invalid_argument,  // an option or URL that makes no sense
  invalid_name,      // lock names are 1 to 512 bytes
  invalid_lease,     // leases are 100 ms to 24 h
  out_of_memory,
};

// What a caller should conclude, coarser than Errc: `if (error.code() == Outcome::maybe_held)`.
enum class Outcome {
  not_held = 1,  // certain: you do not hold it and left nothing behind
  maybe_held,    // the store may think you hold it, for at most one lease
  misuse,        // the call itself was wrong; repeating it will not help
};

const std::error_category& error_category() noexcept;
const std::error_category& outcome_category() noexcept;
std::error_code make_error_code(Errc) noexcept;
std::error_condition make_error_condition(Outcome) noexcept;

// The name of an error as it appears in texts and JSON: "timed_out".
std::string_view name_of(Errc) noexcept;

// Why something failed, with what a person needs to act on it.
//
// Guarantees   One pointer wide, cheap to copy, immutable.
// Threads      From any thread.
class Error {
 public:
  struct Detail {
    Errc code = Errc::unknown;
    std::string text;                    // one sentence; names the lock and the next step
    std::string lock;                    // the name asked for, if any
    std::optional<HolderRecord> holder;  // who has it, when the store said so
    std::optional<Duration> lease_left;  // how long the holder survives in silence
    std::optional<std::uint32_t> ahead;  // waiters in front of us in the store's line
  };

  explicit Error(Errc code);
  Error(Errc code, std::string text);
  explicit Error(Detail detail);
  Error(const Error&) noexcept;
  Error(Error&&) noexcept;
  Error& operator=(const Error&) noexcept;
  Error& operator=(Error&&) noexcept;
  ~Error();

  Errc errc() const noexcept;
  std::error_code code() const noexcept { return make_error_code(errc()); }
  const std::string& text() const noexcept;
  const Detail& detail() const noexcept;

  friend bool operator==(const Error& error, Errc code) noexcept { return error.errc() == code; }

 private:
  struct Shared;
  const Shared* shared_;
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::Errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<holdfast::Outcome> : std::true_type {};
