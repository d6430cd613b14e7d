#include "holdfast/store/lock_name.hpp"

#include <cstdint>

namespace holdfast::store {

Result<LockName> LockName::checked(std::string_view bytes) {
  if (bytes.empty()) {
    return Error(Errc::invalid_name, "the lock name is empty; names are 1 to 512 bytes");
  }
  if (bytes.size() > kMaxBytes) {
    return Error(Errc::invalid_name, "the lock name has " + std::to_string(bytes.size()) +
                                         " bytes; names are 1 to 512 bytes");
  }
  return LockName(bytes);
}

namespace {

struct Character {
  std::size_t bytes = 0;  // 0: the text does not begin with a UTF-8 character
  char32_t code = 0;
};

// The first character of a text that is not empty, by the table of well-formed sequences in the
// Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, lead};

  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return {};
  return {bytes, code};
}

// Beside the control characters proper, those that break a line or turn the direction of writing:
// with them a name could make a terminal show another one.
bool shown_as_it_is(char32_t code) {
  const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
  if (code < 0x20 || within(0x7F, 0x9F)) return false;
  if (code == U'"' || code == U'\'' || code == U'\\') return false;
  return !within(0x200E, 0x200F) && !within(0x2028, 0x202E) && !within(0x2066, 0x2069);
}

}  // namespace

std::string printable(std::string_view name) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  shown.reserve(name.size());
  while (!name.empty()) {
    const Character next = first_character(name);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes != 0 && shown_as_it_is(next.code)) {
      shown += name.substr(0, bytes);
    } else {
      for (const char c : name.substr(0, bytes)) {
        const auto value = static_cast<std::uint8_t>(c);
        shown += "\\x";
        shown += kDigits[value >> 4];
        shown += kDigits[value & 0xF];
      }
    }
    name.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace holdfast::store
