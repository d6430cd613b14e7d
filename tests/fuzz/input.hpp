#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

// Bytes taken apart into the fields of something. Whatever they are, they are some: when they have
// run out, all further ones are zero or empty.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  std::uint8_t byte() { return rest_.empty() ? 0 : static_cast<std::uint8_t>(take(1)[0]); }
  bool flag() { return (byte() & 1) != 0; }

  // The numbers at which things go wrong have one byte each, so that a random change finds them.
  std::int64_t number() {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 12> kOdd{0,
                                                1,
                                                -1,
                                                2,
                                                Limits::max(),
                                                Limits::max() - 1,
                                                Limits::min(),
                                                Limits::min() + 1,
                                                std::numeric_limits<std::int32_t>::max(),
                                                std::numeric_limits<std::uint32_t>::max(),
                                                Limits::max() / 1000,
                                                Limits::min() / 1000};
    const std::uint8_t choice = byte();
    if (choice < kOdd.size()) return kOdd[choice];
    std::int64_t number = 0;
    const std::string_view some = take(choice % 8 + 1U);
    std::memcpy(&number, some.data(), some.size());
    return number;
  }
  std::uint64_t unsigned_number() { return static_cast<std::uint64_t>(number()); }

  // A length and so many bytes.
  std::string text() { return std::string(take(byte())); }

 private:
  std::string_view take(std::size_t most) {
    const std::string_view some = rest_.substr(0, most);
    rest_.remove_prefix(some.size());
    return some;
  }

  std::string_view rest_;
};

}  // namespace holdfast::fuzz
