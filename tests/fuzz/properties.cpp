#include "fuzz/properties.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "fuzz/target.hpp"

namespace holdfast::fuzz {
namespace {

bool within(char c, unsigned low, unsigned high) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte >= low && byte <= high;
}

// How long the UTF-8 character is that the text begins with; 0: none that may be shown.
std::size_t safe_character(std::string_view text) {
  if (within(text[0], 0x20, 0x7E)) return 1;
  std::size_t size = within(text[0], 0xC2, 0xDF)   ? 2
                     : within(text[0], 0xE0, 0xEF) ? 3
                     : within(text[0], 0xF0, 0xF4) ? 4
                                                   : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (!within(text[i], 0x80, 0xBF)) return 0;
  }
  const std::string_view two = text.substr(0, 2);
  const bool c1 = text[0] == '\xC2' && within(text[1], 0x80, 0x9F);
  const bool line_or_direction =
      (two == "\xE2\x80" && (within(text[2], 0x8E, 0x8F) || within(text[2], 0xA8, 0xAE))) ||
      (two == "\xE2\x81" && within(text[2], 0xA6, 0xA9));
  const bool surrogate = text[0] == '\xED' && within(text[1], 0xA0, 0xBF);
  const bool overlong = (text[0] == '\xE0' && within(text[1], 0x80, 0x9F)) ||
                        (text[0] == '\xF0' && within(text[1], 0x80, 0x8F));
  const bool too_great = text[0] == '\xF4' && within(text[1], 0x90, 0xBF);
  return c1 || line_or_direction || surrogate || overlong || too_great ? 0 : size;
}

unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

}  // namespace

void require_safe(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = safe_character(text);
    require(size > 0, "a text may be shown on a terminal");
    text.remove_prefix(size);
  }
}

void require_safe_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    require_safe(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string unescaped(std::string_view shown) {
  std::string bytes;
  while (!shown.empty()) {
    if (shown[0] != '\\') {
      bytes += shown[0];
      shown.remove_prefix(1);
      continue;
    }
    require(shown.size() >= 4 && shown[1] == 'x', "a backslash begins a code");
    bytes += static_cast<char>(digit(shown[2]) << 4 | digit(shown[3]));
    shown.remove_prefix(4);
  }
  return bytes;
}

HolderRecord record_from(Input& input) {
  HolderRecord record;
  record.owner = input.text();
  record.host = input.text();
  record.pid = input.number();
  record.program = input.text();
  record.since = WallTime(std::chrono::microseconds(input.number()));
  record.reason = input.text();
  return record;
}

namespace {

ClaimInfo claim_from(Input& input) {
  ClaimInfo claim;
  claim.record = record_from(input);
  claim.mode = "exclusive";
  claim.fence = FencingToken(input.unsigned_number());
  claim.lease_left = Duration(std::max<std::int64_t>(0, input.number()));
  claim.offered = input.flag();
  claim.revoked = input.flag();
  return claim;
}

}  // namespace

LockInfo lock_from(Input& input) {
  LockInfo lock{
      .name = input.text(), .kind = "mutex", .mode = "exclusive", .holders = {}, .line = {}};
  const std::uint8_t counts = input.byte();
  for (int i = counts & 3; i > 0; --i) lock.holders.push_back(claim_from(input));
  for (int i = counts >> 2 & 3; i > 0; --i) lock.line.push_back(claim_from(input));
  return lock;
}

}  // namespace holdfast::fuzz
