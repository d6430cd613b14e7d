#include "store/zookeeper/jute.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::store::zookeeper {
namespace {

template <class Number>
void put(std::string& out, Number number) {
  for (std::size_t shift = sizeof number * 8; shift > 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> (shift - 8) & 0xff));
  }
}

}  // namespace

void JuteWriter::int32(std::int32_t value) { put(out_, static_cast<std::uint32_t>(value)); }

void JuteWriter::int64(std::int64_t value) { put(out_, static_cast<std::uint64_t>(value)); }

void JuteWriter::text(std::string_view value) {
  int32(static_cast<std::int32_t>(value.size()));
  out_ += value;
}

void JuteWriter::texts(std::span<const std::string> values) {
  int32(static_cast<std::int32_t>(values.size()));
  for (const std::string& each : values) text(each);
}

bool JuteReader::fail() {
  rest_ = {};
  ok_ = false;
  return false;
}

std::string_view JuteReader::take(std::size_t bytes) {
  if (bytes > rest_.size()) {
    fail();
    return {};
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t JuteReader::number(std::size_t bytes) {
  std::uint64_t value = 0;
  for (const char each : take(bytes)) value = value << 8 | static_cast<unsigned char>(each);
  return value;
}

bool JuteReader::boolean() { return number(1) != 0; }

std::int32_t JuteReader::int32() {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4)));
}

std::int64_t JuteReader::int64() { return static_cast<std::int64_t>(number(8)); }

std::string JuteReader::text() {
  const std::int32_t length = int32();
  if (length < -1) fail();
  return length <= 0 ? std::string() : std::string(take(static_cast<std::size_t>(length)));
}

std::vector<std::string> JuteReader::texts() {
  constexpr std::size_t kShortest = 4;  // an empty one
  std::vector<std::string> values;
  const std::int32_t count = int32();
  if (count < -1 || (count > 0 && static_cast<std::size_t>(count) > rest_.size() / kShortest)) {
    fail();
    return values;
  }
  if (count > 0) values.reserve(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count && ok_; ++i) values.push_back(text());
  return values;
}

Stat JuteReader::stat() {
  Stat it;
  it.czxid = int64();
  it.mzxid = int64();
  it.ctime_ms = int64();
  it.mtime_ms = int64();
  it.version = int32();
  it.cversion = int32();
  int32();  // of its rights
  it.ephemeral_owner = int64();
  it.data_length = int32();
  it.num_children = int32();
  it.pzxid = int64();
  return it;
}

void close_frame(std::string& out, std::size_t begin) {
  std::string length;
  put(length, static_cast<std::uint32_t>(out.size() - begin - kFrameLength));
  out.replace(begin, kFrameLength, length);
}

void FrameReader::feed(std::string_view bytes) {
  if (broken_) return;
  const std::size_t skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  buffer_.erase(0, std::exchange(at_, 0));
  buffer_ += bytes.substr(skipped);
}

void FrameReader::reset() { *this = FrameReader(); }

std::optional<FrameReader::Frame> FrameReader::next() {
  const std::string_view there = std::string_view(buffer_).substr(at_);
  if (broken_ || there.size() < kFrameLength) return std::nullopt;
  const auto length = static_cast<std::uint32_t>(JuteReader(there).int32());
  if (length > kAbsurd) {
    broken_ = true;
    return std::nullopt;
  }
  const bool cut = length > kLongest;
  const std::size_t kept = cut ? kHead : length;
  if (there.size() < kFrameLength + kept) return std::nullopt;
  const std::size_t passed = std::min<std::size_t>(there.size(), kFrameLength + length);
  skip_ = kFrameLength + length - passed;
  at_ += passed;
  return Frame{.bytes = there.substr(kFrameLength, kept), .cut = cut};
}

}  // namespace holdfast::store::zookeeper
