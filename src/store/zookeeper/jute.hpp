// jute: how ZooKeeper writes numbers, texts and lists. Numbers have their highest byte first, a text or a list
// has its length before it, and each message, a frame, has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// Appends. A text longer than an int32 can count is the caller's mistake: frames are checked before
// they are sent.
class JuteWriter {
 public:
  explicit JuteWriter(std::string& out) : out_(out) {}

  void boolean(bool value) { out_.push_back(value ? '\1' : '\0'); }
  void int32(std::int32_t);
  void int64(std::int64_t);
  void text(std::string_view);  // also a buffer, which is written the same way
  void texts(std::span<const std::string>);

 private:
  std::string& out_;
};

// Reads what somebody else has written. Whatever that is, nothing outside of it is read, and no more memory
// is asked for than a few times what came.
//
// On error     What is not there reads as 0 or empty, and ok() is false from then on.
class JuteReader {
 public:
  explicit JuteReader(std::string_view bytes) : rest_(bytes) {}

  bool boolean();
  std::int32_t int32();
  std::int64_t int64();
  std::string text();  // one that is null reads as empty
  std::vector<std::string> texts();
  Stat stat();

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view take(std::size_t bytes);
  std::uint64_t number(std::size_t bytes);
  bool fail();

  std::string_view rest_;
  bool ok_ = true;
};

// Appends one frame, filled by fill(JuteWriter&).
template <class Fill>
void append_frame(std::string& out, Fill fill);

// Puts the length before the frame that begins there, with room for it.
void close_frame(std::string& out, std::size_t begin);
inline constexpr std::size_t kFrameLength = 4;

template <class Fill>
void append_frame(std::string& out, Fill fill) {
  const std::size_t begin = out.size();
  out.append(kFrameLength, '\0');
  JuteWriter writer(out);
  fill(writer);
  close_frame(out, begin);
}

// Cuts a stream of bytes into frames, however the bytes come.
//
// A frame beyond kLongest is not kept: its first kHead bytes are told, which say whose answer it is, and the
// rest is passed over. (The children of a node may be more than anybody should want.)
//
// On error     broken() from then on: there is no way to find the beginning of the next frame.
// Threads      One at a time.
class FrameReader {
 public:
  static constexpr std::size_t kLongest = std::size_t{4} * 1024 * 1024;
  static constexpr std::size_t kHead = 16;
  static constexpr std::size_t kAbsurd = std::size_t{1024} * 1024 * 1024;

  struct Frame {
    std::string_view bytes;  // until the next call
    bool cut = false;        // only its head
  };

  void feed(std::string_view bytes);
  // The next one that is complete.
  std::optional<Frame> next();
  bool broken() const { return broken_; }
  // For a new stream.
  void reset();

 private:
  std::string buffer_;
  std::size_t at_ = 0;    // of buffer_: how much has been told
  std::size_t skip_ = 0;  // of what is still to come
  bool broken_ = false;
};

}  // namespace holdfast::store::zookeeper
