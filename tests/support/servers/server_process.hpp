#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "support/child_process.hpp"
#include "support/net/address.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {

// Somebody else may take it before the server does: then it has to be tried with another one.
std::uint16_t free_port();

// A port that is ours until a server listens there, and again whenever it does not: nobody else gets it, not even
// for a connection of its own. The server's socket needs SO_REUSEADDR.
class KeptPort {
 public:
  KeptPort() : socket_(bound_socket(Address::any_port())), number_(own_address(socket_).port()) {}
  std::uint16_t number() const { return number_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(number_); }

 private:
  transport::Fd socket_;  // bound, and never listening
  std::uint16_t number_;
};

// A program that serves: started, stopped and killed as a test wants.
//
// Guarantees   It is gone with this object, and also with the thread that started it.
// On error     Throws: a test cannot go on without its server.
// Threads      One at a time.
class ServerProcess {
 public:
  ServerProcess() = default;
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() { kill(); }

  // What it prints is added to the file; `environment` ("NAME=value") is added to ours.
  void start(Words command, Words environment, const std::string& output = "/dev/null");
  bool running() const;  // started, and it has not ended by itself

  void kill();         // -9; it is gone when this returns
  void pause() const;  // it stands when this returns
  void resume() const;

 private:
  pid_t pid_ = -1;
};

}  // namespace holdfast::test
