#include "talk.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/soon.hpp"

namespace holdfast::test {

Talk::Talk(transport::Fd socket) : socket_(std::move(socket)) {
  const timeval limit{.tv_sec = kSoon.count(), .tv_usec = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

bool Talk::say(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void Talk::say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }

std::string Talk::hear(std::size_t count) const {
  std::string heard;
  while (heard.size() < count) {
    char some[4096];
    const ssize_t size =
        ::recv(socket_.get(), some, std::min(count - heard.size(), sizeof some), 0);
    if (size <= 0) break;
    heard.append(some, static_cast<std::size_t>(size));
  }
  return heard;
}

std::string Talk::ending() const {
  char some[4096];
  ssize_t size = 1;
  while (size > 0) size = ::recv(socket_.get(), some, sizeof some, 0);
  if (size == 0) return "end";
  return errno == ECONNRESET ? "reset" : "silence";
}

bool Talk::quiet() const {
  pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) == 0;
}

}  // namespace holdfast::test
