#include "store/redis/resp.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::store::redis {
namespace {

constexpr std::string_view kEnd = "\r\n";
constexpr std::size_t kNode = sizeof(Reply);  // what an item costs, however short its text

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void append_command(std::string& out, std::span<const std::string> words) {
  constexpr std::size_t kAround = 12;  // a word: its length and the ends of lines
  std::size_t size = kAround;
  for (const std::string& word : words) size += kAround + word.size();
  out.reserve(out.size() + size);
  out += '*';
  out += std::to_string(words.size());
  out += kEnd;
  for (const std::string& word : words) {
    out += '$';
    out += std::to_string(word.size());
    out += kEnd;
    out += word;
    out += kEnd;
  }
}

void ReplyReader::feed(std::string_view bytes) {
  if (!broken_) buffer_ += bytes;
}

void ReplyReader::reset() { *this = ReplyReader(limits_); }

std::optional<Reply> ReplyReader::next() {
  while (!broken_ && !done_ && read_one()) {
  }
  if (at_ == buffer_.size() || at_ > limits_.line) {
    buffer_.erase(0, at_);
    searched_ -= std::min(searched_, at_);
    at_ = 0;
  }
  return std::exchange(done_, std::nullopt);
}

bool ReplyReader::read_one() {
  if (bulk_) return read_bulk();
  const std::size_t end = buffer_.find(kEnd, std::max(searched_, at_));
  if (end == std::string::npos) {
    searched_ = buffer_.empty() ? 0 : buffer_.size() - 1;  // it may end with half an end
    return buffer_.size() - at_ > limits_.line + 1 ? fail() : false;
  }
  if (end - at_ > limits_.line || end == at_) return fail();
  const std::string line = buffer_.substr(at_, end - at_);
  at_ = end + kEnd.size();
  return read_header(line[0], std::string_view(line).substr(1));
}

bool ReplyReader::read_header(char type, std::string_view rest) {
  if (!spend(kNode + rest.size())) return fail();
  if (type == '+' || type == '-') {
    complete(
        {.type = type == '+' ? Reply::Type::text : Reply::Type::error, .text = std::string(rest)});
    return true;
  }
  const auto number = number_in(rest);
  if (!number) return fail();
  if (type == ':') {
    complete({.type = Reply::Type::integer, .integer = *number});
    return true;
  }
  if ((type != '$' && type != '*') || *number < -1) return fail();
  if (*number == -1) {
    complete({});
    return true;
  }
  const auto length = static_cast<std::size_t>(*number);
  if (length > limits_.bytes) return fail();
  if (type == '$') {
    bulk_ = length;
  } else if (length == 0) {
    complete({.type = Reply::Type::array});
  } else {
    if (open_.size() >= limits_.depth) return fail();
    open_.push_back({.array = {.type = Reply::Type::array}, .missing = length});
  }
  return true;
}

bool ReplyReader::read_bulk() {
  if (buffer_.size() - at_ < *bulk_ + kEnd.size()) return false;
  if (std::string_view(buffer_).substr(at_ + *bulk_, kEnd.size()) != kEnd || !spend(*bulk_)) {
    return fail();
  }
  Reply text{.type = Reply::Type::text, .text = buffer_.substr(at_, *bulk_)};
  at_ += *bulk_ + kEnd.size();
  bulk_.reset();
  complete(std::move(text));
  return true;
}

// The last item of an array completes the array, too.
void ReplyReader::complete(Reply reply) {
  while (!open_.empty()) {
    Open& array = open_.back();
    array.array.items.push_back(std::move(reply));
    if (--array.missing > 0) return;
    reply = std::move(array.array);
    open_.pop_back();
  }
  done_ = std::move(reply);
  spent_ = 0;
}

bool ReplyReader::spend(std::size_t bytes) {
  spent_ += bytes;
  return spent_ <= limits_.bytes;
}

bool ReplyReader::fail() {
  broken_ = true;
  buffer_.clear();
  at_ = searched_ = 0;
  return false;
}

}  // namespace holdfast::store::redis
