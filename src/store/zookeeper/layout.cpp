#include "store/zookeeper/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rules/words.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";
constexpr std::string_view kEmptyPart = "%_";
constexpr std::string_view kSystem = "zookeeper";  // the server's own, in the root

constexpr std::string_view kMark = "_c_";
constexpr std::size_t kUuid = 36;
constexpr std::size_t kDashes[] = {8, 13, 18, 23};
constexpr std::string_view kLock = "lock-";
constexpr std::string_view kRead = "__READ__";
constexpr std::string_view kWrite = "__WRIT__";
constexpr std::string_view kLease = "lease-";
constexpr std::string_view kOf = "-of-";
constexpr std::string_view kSlot = "-slot-";

void append_code(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  text += '%';
  text += kHex[byte >> 4U];
  text += kHex[byte & 15U];
}

unsigned char_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

bool continues(unsigned byte) { return (byte & 0xC0U) == 0x80U; }

// ZooKeeper sees Java's characters: those of four bytes are two halves there, which it does not allow.
bool allowed(unsigned code) {
  return code >= 0xA0U && (code < 0xD800U || code > 0xF8FFU) && code < 0xFFF0U;
}

// How many bytes at this place stand for themselves; 0 if the first one does not.
std::size_t plain_at(std::string_view bytes, std::size_t at) {
  const unsigned first = char_at(bytes, at);
  if (first < 0x80U) {
    return first >= 0x20U && first != 0x7FU && first != '/' && first != '%' ? 1 : 0;
  }
  const unsigned second = char_at(bytes, at + 1);
  if ((first & 0xE0U) == 0xC0U && continues(second)) {
    return allowed((first & 0x1FU) << 6U | (second & 0x3FU)) ? 2 : 0;
  }
  const unsigned third = char_at(bytes, at + 2);
  if ((first & 0xF0U) == 0xE0U && continues(second) && continues(third)) {
    const unsigned code = (first & 0x0FU) << 12U | (second & 0x3FU) << 6U | (third & 0x3FU);
    return code >= 0x800U && allowed(code) ? 3 : 0;
  }
  return 0;
}

std::string coded(std::string_view bytes) {
  std::string part;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t plain = plain_at(bytes, at);
    if (plain > 0) {
      part += bytes.substr(at, plain);
      at += plain;
    } else {
      append_code(part, bytes[at++]);
    }
  }
  if (part == "." || part == "..") part.replace(0, 1, "%2E");
  return part;
}

std::optional<std::string> decoded(std::string_view part) {
  if (part == kEmptyPart) return std::string();
  std::string bytes;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      bytes += part[i];
      continue;
    }
    if (i + 2 >= part.size()) return std::nullopt;
    const auto high = kHex.find(part[i + 1]), low = kHex.find(part[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4U | low);
    i += 2;
  }
  return bytes;
}

// A part of a name that is a path may lie among the nodes of another lock, and must not look like one.
std::string coded_beside_nodes(std::string_view bytes) {
  if (bytes.empty()) return std::string(kEmptyPart);
  std::string part = coded(bytes);
  if (parse_node(part).tag == Tag::none) return part;
  std::string code;
  append_code(code, part.back());
  return part.replace(part.size() - 1, 1, code);
}

std::string_view folder_of(CellKind kind) {
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

std::string under(std::string parent, std::string_view child) {
  parent += '/';
  parent += child;
  return parent;
}

// As servers append it (%010d): ten digits; when they begin anew below zero the minus is one of the ten places.
bool is_number(std::string_view key) {
  if (key.size() < 10) return false;
  if (key.starts_with('-')) key.remove_prefix(1);
  return std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What follows the last occurrence of the word.
std::optional<std::string_view> after(std::string_view name, std::string_view word) {
  const std::size_t at = name.rfind(word);
  if (at == std::string_view::npos) return std::nullopt;
  return name.substr(at + word.size());
}

std::string_view uuid_in(std::string_view name) {
  const std::size_t end = kMark.size() + kUuid;
  if (!name.starts_with(kMark) || name.size() <= end || name[end] != '-') return {};
  const std::string_view uuid = name.substr(kMark.size(), kUuid);
  for (const std::size_t at : kDashes) {
    if (uuid[at] != '-') return {};
  }
  return uuid;
}

// "-of-" and 3: "-of-3-".
void append_number(std::string& name, std::string_view word, std::uint32_t number) {
  name += word;
  name += std::to_string(number);
  name += '-';
}

std::optional<std::uint32_t> number_after(std::string_view name, std::string_view word) {
  auto rest = after(name, word);
  if (!rest) return std::nullopt;
  return rules::number_in<std::uint32_t>(rules::next_word(*rest, '-'));
}

}  // namespace

// ---- paths ----

std::string Layout::path_of(const std::string& bytes) const {
  if (!names_are_paths_) {
    std::string part = coded(bytes);
    if (base_.empty() && part == kSystem) part.replace(0, 1, "%7A");
    return under(base_, part);
  }
  std::string path = base_;
  for (std::size_t begin = 0; begin <= bytes.size();) {
    const std::size_t end = std::min(bytes.find('/', begin), bytes.size());
    std::string part = coded_beside_nodes(std::string_view(bytes).substr(begin, end - begin));
    if (path.empty() && part == kSystem) part.replace(0, 1, "%7A");
    path = under(std::move(path), part);
    begin = end + 1;
  }
  return path;
}

std::string Layout::lock(const LockName& name) const { return path_of(name.bytes()); }

std::optional<LockName> Layout::name_at(std::string_view path) const {
  if (!path.starts_with(base_) || path.size() < base_.size() + 2) return std::nullopt;
  std::string_view rest = path.substr(base_.size());
  std::string bytes;
  while (!rest.empty()) {
    if (rest[0] != '/') return std::nullopt;
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(part.size());
    const auto plain = decoded(part);
    if (!plain) return std::nullopt;
    bytes += *plain;
    if (!rest.empty()) bytes += '/';
  }
  auto name = LockName::checked(bytes);
  // Somebody else's node may be called anything: only what we would have called it is a lock's.
  if (!name || lock(*name) != path) return std::nullopt;
  return *std::move(name);
}

std::string Layout::line(Kind kind, const LockName& name) const {
  return kind == Kind::semaphore ? under(lock(name), kLocksFolder) : lock(name);
}

std::string Layout::leases(const LockName& name) const { return under(lock(name), kLeasesFolder); }

std::string Layout::cell(const CellKey& key) const {
  std::string path = under(under(base_, kOwnFolder), folder_of(key.kind));
  return under(std::move(path), coded(key.name.bytes()));
}

std::vector<std::string> path_and_parents(std::string_view path) {
  std::vector<std::string> all;
  for (std::size_t at = path.find('/', 1); at != std::string_view::npos;
       at = path.find('/', at + 1)) {
    all.emplace_back(path.substr(0, at));
  }
  if (path.size() > 1) all.emplace_back(path);
  return all;
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos || slash == 0 ? "/" : path.substr(0, slash));
}

std::string_view last_part_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// ---- nodes ----

// Claims are spread, so that those of clients with neighbouring ids do not meet.
std::string uuid_of(const OwnerId& owner) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
  std::string text =
      to_string(ClientId{owner.client.high, owner.client.low + owner.claim * kSpread});
  for (const std::size_t at : kDashes) text.insert(at, 1, '-');
  return text;
}

std::string mark_of(const OwnerId& owner) { return std::string(kMark) + uuid_of(owner) + '-'; }

std::string line_node(const ClaimKey& claim) {
  std::string name = mark_of(claim.owner);
  switch (claim.kind) {
    case Kind::mutex:
      return name += kLock;
    case Kind::shared_mutex:
      return name += claim.shape == Shape::shared() ? kRead : kWrite;
    case Kind::semaphore:
      name.pop_back();
      append_number(name, kOf, claim.shape.of);
      return name += kLock;
  }
  return name;
}

std::string lease_node(const OwnerId& owner, std::uint32_t of, std::uint32_t slot) {
  std::string name = mark_of(owner);
  name.pop_back();
  append_number(name, kOf, of);
  name.pop_back();
  append_number(name, kSlot, slot);
  return name += kLease;
}

std::string reader_in_place_of(std::string_view writer, const OwnerId& reader) {
  std::string name = mark_of(reader);
  name += kRead;
  return name += parse_node(writer).key;
}

NodeName parse_node(std::string_view name) {
  constexpr std::pair<std::string_view, Tag> kWords[] = {
      {kRead, Tag::read}, {kWrite, Tag::write}, {kLock, Tag::lock}, {kLease, Tag::lease}};
  NodeName node;
  for (const auto& [word, tag] : kWords) {
    const auto key = after(name, word);
    if (!key || !is_number(*key)) continue;
    node.tag = tag;
    node.key = *key;
    break;
  }
  node.uuid = uuid_in(name);
  if (!node.uuid.empty()) {
    const std::string_view rest = name.substr(kMark.size() + kUuid);  // "-of-3-slot-1-lease-…"
    node.of = number_after(rest, kOf);
    node.slot = number_after(rest, kSlot);
  }
  return node;
}

}  // namespace holdfast::store::zookeeper
