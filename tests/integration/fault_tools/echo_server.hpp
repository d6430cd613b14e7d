#pragma once

#include <sys/socket.h>

#include <mutex>
#include <thread>
#include <vector>

#include "support/net/address.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {

// Says back whatever it hears, to everybody, and closes when they do.
class EchoServer {
 public:
  explicit EchoServer(const Address& at = Address::any_port())
      : listener_(listening_socket(at)), address_(own_address(listener_)) {
    thread_ = std::thread([this] { accept(); });
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  ~EchoServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    for (const transport::Fd& each : guests_) ::shutdown(each.get(), SHUT_RDWR);
    for (std::thread& each : echoes_) each.join();
  }

  const Address& address() const { return address_; }

 private:
  void accept() {
    while (true) {
      const int guest = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (guest < 0) return;
      guests_.emplace_back(guest);
      echoes_.emplace_back([guest] { echo(guest); });
    }
  }

  static void echo(int guest) {
    char some[4096];
    while (true) {
      const ssize_t size = ::recv(guest, some, sizeof some, 0);
      if (size <= 0 || ::send(guest, some, static_cast<std::size_t>(size), MSG_NOSIGNAL) < size) {
        break;
      }
    }
    ::shutdown(guest, SHUT_RDWR);
  }

  transport::Fd listener_;
  Address address_;
  std::vector<transport::Fd> guests_;  // of the accepting thread, until it is joined
  std::vector<std::thread> echoes_;
  std::thread thread_;
};

}  // namespace holdfast::test
