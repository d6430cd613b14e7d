#include "support/net/address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace holdfast::test {
namespace {

[[noreturn]] void fail(const std::string& what, const Address& where) {
  throw std::runtime_error(what + " " + where.text() + ": " + std::strerror(errno));
}

}  // namespace

Address Address::tcp(std::uint16_t port, const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    throw std::runtime_error("no address of " + host);
  }
  Address address;
  address.size_ = found->ai_addrlen;
  std::memcpy(&address.place_, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

Address Address::unix_socket(const std::string& path) {
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof place.sun_path) {
    throw std::runtime_error("no path of a unix socket: " + path);
  }
  std::memcpy(place.sun_path, path.data(), path.size());
  Address address;
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  std::memcpy(&address.place_, &place, address.size_);
  return address;
}

std::uint16_t Address::port() const {
  if (is_unix()) return 0;
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&place_)->sin_port);
}

std::string Address::text() const {
  if (is_unix()) return reinterpret_cast<const sockaddr_un*>(&place_)->sun_path;
  char host[NI_MAXHOST] = {};
  ::getnameinfo(place(), size_, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  const bool v6 = place_.ss_family == AF_INET6;
  return (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::to_string(port());
}

Address own_address(const transport::Fd& socket) {
  Address address;
  address.size_ = sizeof address.place_;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address.place_), &address.size_) !=
      0) {
    fail("no address of a socket", address);
  }
  return address;
}

transport::Fd new_socket(const Address& address, int flags) {
  transport::Fd socket(::socket(address.place()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket) fail("no socket for", address);
  return socket;
}

transport::Fd bound_socket(const Address& address, int flags) {
  transport::Fd socket = new_socket(address, flags);
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(socket.get(), address.place(), address.size()) != 0) fail("cannot bind", address);
  return socket;
}

transport::Fd listening_socket(const Address& address, int flags) {
  transport::Fd socket = bound_socket(address, flags);
  if (::listen(socket.get(), SOMAXCONN) != 0) fail("cannot listen at", address);
  return socket;
}

transport::Fd connected_socket(const Address& address) {
  transport::Fd socket = new_socket(address);
  if (::connect(socket.get(), address.place(), address.size()) != 0) fail("cannot reach", address);
  return socket;
}

}  // namespace holdfast::test
