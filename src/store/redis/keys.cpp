#include "store/redis/keys.hpp"

#include <algorithm>
#include <iterator>

#include "rules/words.hpp"

namespace holdfast::store::redis {
namespace {

constexpr std::string_view kLock = "holdfast_lock:";
constexpr std::string_view kKeys[] = {kLock,
                                      "holdfast_holds:",
                                      "holdfast_line:",
                                      "holdfast_lapse:",
                                      "holdfast_slots:",
                                      "holdfast_fence:",
                                      "holdfast_cell:",
                                      "holdfast_op:",
                                      "redisson_lock_",
                                      "redisson_rwlock"};
constexpr std::size_t kDashes[] = {8, 13, 18, 23};
constexpr std::size_t kUuid = 36;

// CRC-16 as Redis Cluster uses it (XMODEM), bit by bit: it is short, and seldom needed.
std::uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(byte)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
  }
  return static_cast<std::uint16_t>(crc);
}

// The part of a key between its first { and the next }, unless that is empty.
std::optional<std::string_view> tag_in(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return std::nullopt;
  return key.substr(open + 1, close - open - 1);
}

// Two bytes that lie in the slot, and are no braces. Of two bytes the CRC is what 16 steps of the register make
// of them, and each step can be taken back.
std::string text_in_slot(std::uint16_t slot) {
  for (unsigned high = 0; high < 4; ++high) {  // bits of the CRC that slots leave out
    unsigned value = slot | high << 14;
    for (int step = 0; step < 16; ++step) {
      value = (value & 1U) != 0 ? ((value ^ 0x1021U) >> 1) | 0x8000U : value >> 1;
    }
    const std::string text{static_cast<char>(value >> 8), static_cast<char>(value & 0xFFU)};
    if (text.find_first_of("{}") == std::string::npos) return text;
  }
  return {};  // there is none: a test looks at all slots
}

// What follows the colon of our keys.
std::string tagged(const std::string& name) {
  if (name.find('}') == std::string::npos) return "{" + name + "}";
  const auto own = tag_in(name);
  return "{" + (own ? std::string(*own) : text_in_slot(slot_of(name))) + "}:" + name;
}

std::string_view name_of(CellKind kind) {
  switch (kind) {
    case CellKind::value:
      return "value";
    case CellKind::latch:
      return "latch";
    case CellKind::size:
      return "size";
  }
  return "other";
}

std::string uuid_of(const ClientId& client) {
  std::string text = to_string(client);
  for (const std::size_t at : kDashes) text.insert(at, 1, '-');
  return text;
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  return static_cast<std::uint16_t>(crc16(tag_in(key).value_or(key)) & 16383U);
}

std::string own_key(std::string_view what, const LockName& name) {
  std::string key = "holdfast_";
  key += what;
  key += ':';
  key += tagged(name.bytes());
  return key;
}

std::string lock_key(const LockName& name) { return own_key("lock", name); }

std::optional<LockName> name_in(std::string_view key) {
  if (!key.starts_with(kLock)) return std::nullopt;
  const std::size_t end = key.find('}', kLock.size());
  if (end == std::string_view::npos) return std::nullopt;
  const bool plain = end + 1 == key.size();
  auto name = LockName::checked(plain ? key.substr(kLock.size() + 1, end - kLock.size() - 1)
                                      : key.substr(std::min(end + 2, key.size())));
  if (!name || lock_key(*name) != key) return std::nullopt;
  return *std::move(name);
}

bool is_taken_by_keys(const LockName& name) {
  return std::any_of(std::begin(kKeys), std::end(kKeys),
                     [&](std::string_view each) { return name.bytes().starts_with(each); });
}

std::string place_of(Kind kind, const LockName& name) {
  return printable(kind == Kind::semaphore ? lock_key(name) : name.bytes());
}

std::string cell_key(const CellKey& key) {
  return own_key("cell:" + std::string(name_of(key.kind)), key.name);
}

std::string cell_channel(const CellKey& key) {
  return own_key("changed:" + std::string(name_of(key.kind)), key.name);
}

std::string op_key(const CellKey& key, const ClientId& client) {
  return own_key("op:" + std::string(name_of(key.kind)) + ":" + uuid_of(client), key.name);
}

std::string wake_channel(const ClientId& client) { return "holdfast_wake:" + uuid_of(client); }

std::string redisson_channel(Kind kind, const LockName& name) {
  if (kind == Kind::semaphore) return {};
  const std::string& bytes = name.bytes();
  const std::string prefix = kind == Kind::mutex ? "redisson_lock__channel:" : "redisson_rwlock:";
  // Redisson looks for { only.
  return prefix + (bytes.find('{') == std::string::npos ? "{" + bytes + "}" : bytes);
}

std::vector<std::string> redisson_channels(Kind kind, const LockName& name) {
  const std::string channel = redisson_channel(kind, name);
  if (channel.empty()) return {};
  if (kind != Kind::mutex) return {channel};
  return {channel, channel + ":holdfast"};  // OUR_PLACE in scripts/line.lua
}

std::string owner_text(const OwnerId& owner) {
  return uuid_of(owner.client) + ":" + std::to_string(owner.claim);
}

std::optional<OwnerId> owner_in(std::string_view text) {
  if (text.size() < kUuid + 2 || text[kUuid] != ':') return std::nullopt;
  std::string hex(text.substr(0, kUuid));
  for (std::size_t i = std::size(kDashes); i-- > 0;) {
    if (hex[kDashes[i]] != '-') return std::nullopt;
    hex.erase(kDashes[i], 1);
  }
  const auto high = rules::number_in<std::uint64_t>(std::string_view(hex).substr(0, 16), 16);
  const auto low = rules::number_in<std::uint64_t>(std::string_view(hex).substr(16), 16);
  const auto claim = rules::number_in<std::uint64_t>(text.substr(kUuid + 1), 10);
  if (!high || !low || !claim) return std::nullopt;
  return OwnerId{{*high, *low}, *claim};
}

}  // namespace holdfast::store::redis
