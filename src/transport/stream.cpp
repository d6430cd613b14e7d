#include "transport/stream.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "transport/socket_io.hpp"

namespace holdfast::transport {
namespace {

class PlainStream final : public Stream {
 public:
  using Stream::Stream;
  Went read(std::string& into) override { return receive_some(fd(), into); }
  Went write(std::string& from) override { return send_some(fd(), from); }
};

Stream::Went went(ssize_t bytes) {
  if (bytes > 0) return Stream::Went::well;
  return bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Stream::Went::again
                                                                : Stream::Went::wrong;
}

}  // namespace

void Stream::hang_up() const { ::shutdown(fd(), SHUT_RDWR); }

std::unique_ptr<Stream> plain_stream(Fd fd) { return std::make_unique<PlainStream>(std::move(fd)); }

Stream::Went receive_some(int fd, std::string& into) {
  std::array<char, 16 * 1024> bytes;
  ssize_t got = 0;
  do {
    got = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got > 0) into.append(bytes.data(), static_cast<std::size_t>(got));
  return went(got);
}

Stream::Went send_some(int fd, std::string& from) {
  std::size_t sent = 0;
  Stream::Went how = Stream::Went::well;
  while (sent < from.size() && how == Stream::Went::well) {
    const ssize_t more =
        ::send(fd, from.data() + sent, from.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (more < 0 && errno == EINTR) continue;
    how = went(more);
    if (more > 0) sent += static_cast<std::size_t>(more);
  }
  from.erase(0, sent);
  return how;
}

}  // namespace holdfast::transport
