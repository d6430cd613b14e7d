#include "support/servers/redis_connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace holdfast::test {

using store::redis::Reply;
using store::redis::Words;

RedisConnection::RedisConnection(const std::string& socket_path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (fd_ < 0 || socket_path.size() >= sizeof address.sun_path) {
    throw std::runtime_error("no socket for a Redis server");
  }
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd_);
    throw std::runtime_error("cannot connect to a Redis server");
  }
}

RedisConnection::~RedisConnection() { ::close(fd_); }

Reply RedisConnection::ask(const Words& words) {
  std::string bytes;
  store::redis::append_command(bytes, words);
  send(bytes);
  auto reply = hear();
  if (!reply) throw std::runtime_error("a Redis server does not answer " + words.front());
  return *std::move(reply);
}

std::optional<Reply> RedisConnection::hear(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    if (auto reply = replies_.next()) return reply;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (left.count() < 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) return {};
    char some[16 * 1024];
    const ssize_t size = ::read(fd_, some, sizeof some);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw std::runtime_error("a Redis server has hung up");
    replies_.feed({some, static_cast<std::size_t>(size)});
    if (replies_.broken()) throw std::runtime_error("a Redis server talks nonsense");
  }
}

void RedisConnection::send(const std::string& bytes) const {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t size = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw std::runtime_error("a Redis server has hung up");
    at += static_cast<std::size_t>(size);
  }
}

}  // namespace holdfast::test
