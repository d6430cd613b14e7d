// The language of Redis (RESP 2): questions are words, answers are small trees.
//
// A parser of our own, since what a server says is outside input: here no number that it sends makes
// us allocate memory before the bytes have come, and nothing nests deeper or grows longer than said below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::store::redis {

struct Reply {
  enum class Type : std::uint8_t { nil, integer, text, error, array };

  Type type = Type::nil;
  std::int64_t integer = 0;
  std::string text{};  // of text and error; any bytes
  std::vector<Reply> items{};

  bool is(Type wanted) const { return type == wanted; }
  bool is_text(std::string_view wanted) const { return type == Type::text && text == wanted; }

  friend bool operator==(const Reply&, const Reply&) = default;
};

using Words = std::vector<std::string>;

// Appends one command, as it goes over the wire.
void append_command(std::string& out, std::span<const std::string> words);

struct ReplyLimits {
  std::size_t line = 64 * 1024;          // of a header, a status or an error
  std::size_t bytes = 64 * 1024 * 1024;  // of one reply with all that it contains
  std::size_t depth = 8;
};

// Cuts a stream of bytes into replies, however the bytes come.
//
// On error     broken() from then on: there is no way to find the beginning of the next reply.
// Threads      One at a time.
class ReplyReader {
 public:
  explicit ReplyReader(ReplyLimits limits = {}) : limits_(limits) {}

  void feed(std::string_view bytes);
  // The next one that is complete.
  std::optional<Reply> next();
  bool broken() const { return broken_; }
  // For a new stream.
  void reset();

 private:
  struct Open {
    Reply array;
    std::size_t missing;
  };

  bool read_one();  // a header or a string; false: not all of it is there, or it is broken
  bool read_header(char type, std::string_view rest);
  bool read_bulk();
  void complete(Reply);
  bool spend(std::size_t bytes);
  bool fail();

  ReplyLimits limits_;
  std::string buffer_;
  std::size_t at_ = 0;               // of buffer_: how much is read
  std::size_t searched_ = 0;         // of buffer_: up to here there is no end of line
  std::optional<std::size_t> bulk_;  // the length of the string that is to come
  std::vector<Open> open_;
  std::optional<Reply> done_;
  std::size_t spent_ = 0;  // by the reply that is being read
  bool broken_ = false;
};

}  // namespace holdfast::store::redis
