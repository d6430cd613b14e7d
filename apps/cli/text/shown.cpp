#include "cli/text/shown.hpp"

#include <cstdint>

#include "cli/text/utf8.hpp"

namespace holdfast::cli {
namespace {

// With line breaks or marks of direction a name could make a terminal show another one.
bool as_it_is(char32_t code) {
  const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
  if (code < 0x20 || within(0x7F, 0x9F)) return false;
  if (code == U'"' || code == U'\'' || code == U'\\') return false;
  return !within(0x200E, 0x200F) && !within(0x2028, 0x202E) && !within(0x2066, 0x2069);
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes != 0 && as_it_is(next.code)) {
      out += text.substr(0, bytes);
    } else {
      for (const char c : text.substr(0, bytes)) {
        const auto value = static_cast<std::uint8_t>(c);
        out += "\\x";
        out += kDigits[value >> 4];
        out += kDigits[value & 0xF];
      }
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace holdfast::cli
