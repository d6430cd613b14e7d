#pragma once

#include <compare>
#include <cstdint>

namespace holdfast {

// The fencing token: a number that grows with every grant of one name. Send it with each write; a
// resource that remembers the greatest it has seen and refuses smaller ones is safe from a holder
// that was paused past its lease. A resource that does not check it is not.
//
// Guarantees   For one name, a store grant that begins after another was returned has a greater
//              fence; no two holds share one. 1 ≤ value ≤ 2^63 − 1, so it fits a signed column.
class FencingToken {
 public:
  constexpr FencingToken() = default;
  constexpr explicit FencingToken(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }
  constexpr explicit operator bool() const { return value_ != 0; }

  friend constexpr auto operator<=>(FencingToken, FencingToken) = default;

 private:
  std::uint64_t value_ = 0;
};

inline constexpr std::uint64_t kMaxFence = (std::uint64_t{1} << 63) - 1;

}  // namespace holdfast
