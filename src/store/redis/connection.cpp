#include "store/redis/connection.hpp"

#include <new>
#include <utility>

namespace holdfast::store::redis {

Connection::Connection(const Parts& parts, std::unique_ptr<transport::Stream> stream)
    : address_(parts.address),
      shared_({.language = *this,
               .clock = parts.clock,
               .loop = parts.loop,
               .redialler = parts.redialler}) {
  shared_.begin(std::move(stream));
}

void Connection::ask(std::span<const std::string> words, std::unique_ptr<Asker> asker) {
  std::string bytes;
  append_command(bytes, words);
  std::unique_ptr<transport::Asker> one = std::move(asker);
  shared_.ask(std::move(bytes), {&one, 1});
}

std::string Connection::begun(std::uint64_t) {
  reader_.reset();
  return {};
}

Connection::Next Connection::next() {
  reply_ = reader_.next();
  if (reply_) return Next::answer;
  return reader_.broken() ? Next::broken : Next::nothing_yet;
}

// Without memory the asker is dropped, half answered or not: the Call behind it answers by itself.
bool Connection::answer(transport::Asker& asker) {
  try {
    // Nobody else asks over this connection.
    static_cast<Asker&>(asker).answered(std::move(*reply_));
  } catch (const std::bad_alloc&) {
  }
  return true;
}

}  // namespace holdfast::store::redis
