#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "holdfast/time.hpp"

namespace holdfast {

// Who holds a lock or waits for it, in words a person at 3 am can use. Stored beside the lock.
struct HolderRecord {
  std::string owner;  // client id and claim number: unique, never reused
  std::string host;
  std::int64_t pid = 0;
  std::string program;
  WallTime since{};    // when the claim was made, by that host's wall clock
  std::string reason;  // AcquireOptions::reason

  friend bool operator==(const HolderRecord&, const HolderRecord&) = default;
};

// The longest reason that is kept; a longer one is refused with Errc::invalid_argument.
inline constexpr std::size_t kMaxReason = 1024;
// The longest name of a program. A longer ClientOptions::program is refused in the same way; the name
// that a program was started by is cut.
inline constexpr std::size_t kMaxProgram = 256;

// "billing-7 (web2 pid 8123)": the short form used in error texts.
std::string describe(const HolderRecord&);

}  // namespace holdfast
