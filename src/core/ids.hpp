#pragma once

#include <cstdint>

namespace holdfast::core {

using OpId = std::uint64_t;     // one call of a caller: an acquire, a release, a verification
using HoldId = std::uint64_t;   // one possession by a caller
using ClaimNo = std::uint64_t;  // one claim in the store; the second half of its OwnerId

inline constexpr OpId kNobody = 0;  // nobody waits for the result

}  // namespace holdfast::core
