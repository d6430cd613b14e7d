#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "transport/fd.hpp"

namespace holdfast::test {

// Where a server listens.
//
// On error     Throws std::runtime_error: a test cannot go on without its address.
class Address {
 public:
  static Address tcp(std::uint16_t port, const std::string& host = "127.0.0.1");
  static Address any_port() { return tcp(0); }
  static Address unix_socket(const std::string& path);

  bool is_unix() const { return place_.ss_family == AF_UNIX; }
  std::uint16_t port() const;  // 0 for a unix socket
  std::string text() const;    // 127.0.0.1:6379, [::1]:6379 or a path

  const sockaddr* place() const { return reinterpret_cast<const sockaddr*>(&place_); }
  socklen_t size() const { return size_; }

 private:
  friend Address own_address(const transport::Fd&);

  sockaddr_storage place_{};
  socklen_t size_ = 0;
};

Address own_address(const transport::Fd&);  // that a socket is bound to

// A socket of that address's family.
transport::Fd new_socket(const Address&, int flags = 0);

// A socket bound to it. TCP ports may be bound again while old connections linger.
transport::Fd bound_socket(const Address&, int flags = 0);

// The same, listening.
transport::Fd listening_socket(const Address&, int flags = 0);

// A blocking connection; throws if nobody listens.
transport::Fd connected_socket(const Address&);

}  // namespace holdfast::test
