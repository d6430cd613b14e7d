#include "support/net/link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::test {
namespace {

// Whoever sends more than this while nothing may pass has to wait, as with a real network.
constexpr std::size_t kMostKept = std::size_t{16} << 20;

bool try_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Link::Link(transport::Fd client, transport::Fd server, const RulesOfBoth& rules, std::uint64_t seed)
    : sockets_{std::move(server), std::move(client)},
      pipes_{Pipe(rules[0], 2 * seed), Pipe(rules[1], 2 * seed + 1)} {}

void Link::pump(Pipe::Time now) {
  for (bool moved = true; moved && !over_;) {
    moved = false;
    for (const Way way : kBothWays) {
      moved |= read(way, now);
      moved |= write(way, now);
    }
  }
}

Pipe::Time Link::due() const {
  const auto of = [&](std::size_t way) { return full_[way] ? Pipe::kNever : pipes_[way].due(); };
  return std::min(of(0), of(1));
}

void Link::reset() {
  for (transport::Fd& socket : sockets_) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    if (socket) ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket.reset();
  }
  over_ = true;
}

bool Link::read(Way way, Pipe::Time now) {
  Pipe& to = pipe(way);
  if (over_ || to.ended() || to.kept() >= kMostKept) return false;
  char some[1 << 16];
  const ssize_t size = ::recv(socket_to(opposite(way)), some, sizeof some, 0);
  if (size > 0) {
    to.take(std::string(some, static_cast<std::size_t>(size)), now);
  } else if (size == 0) {
    to.end(now);
  } else if (try_later()) {
    return false;
  } else {
    reset();  // as its sender did
    return false;
  }
  return true;
}

bool Link::write(Way way, Pipe::Time now) {
  if (over_) return false;
  Pipe& from = pipe(way);
  bool moved = false;
  if (const std::string_view some = from.ready(now); !some.empty()) {
    const ssize_t size = ::send(socket_to(way), some.data(), some.size(), MSG_NOSIGNAL);
    if (size < 0 && !try_later()) {
      reset();  // nobody is there
      return false;
    }
    moved = size > 0;
    full_[static_cast<std::size_t>(way)] = !moved;
    if (moved) from.written(static_cast<std::size_t>(size), now);
  }
  if (from.broken()) {
    reset();
  } else if (from.may_close(now)) {
    ::shutdown(socket_to(way), SHUT_WR);
    from.closed();
    over_ = pipes_[0].over() && pipes_[1].over();
  }
  return moved;
}

}  // namespace holdfast::test
