#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "holdfast/result.hpp"

namespace holdfast::store {

// A lock's name: 1 to 512 bytes of any value. Stores map it injectively and reversibly; a plain name
// maps to itself.
class LockName {
 public:
  static constexpr std::size_t kMaxBytes = 512;

  LockName() = default;  // no name; only checked() makes one that a store accepts
  static Result<LockName> checked(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }
  friend auto operator<=>(const LockName&, const LockName&) = default;

 private:
  explicit LockName(std::string_view bytes) : bytes_(bytes) {}
  std::string bytes_;
};

// The name as it may be shown in a text or on a terminal: control characters, quotes, backslashes
// and bytes that are not UTF-8 appear as \xNN.
std::string printable(std::string_view name);

}  // namespace holdfast::store
