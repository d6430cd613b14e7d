#pragma once

#include <memory>
#include <string>

#include "holdfast/result.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/time.hpp"
#include "transport/authority.hpp"
#include "transport/stream.hpp"
#include "transport/tls.hpp"

namespace holdfast::transport {

// A server, and how to get to it.
struct Target {
  Endpoint endpoint{};
  std::string socket_path{};  // a unix socket instead
  bool tls = false;
  TlsSettings tls_settings{};
};

// For people: "db1:6379", "/run/redis.sock".
std::string to_string(const Target&);
// The same error, with the name of the server before its text.
Error named(const Target&, const Error&);

// How long somebody who dials waits: until a time, or until a descriptor becomes readable, which tells it to
// give up (-1: nobody does).
struct Patience {
  const store::Clock& clock;
  TimePoint until;
  int give_up = -1;

  // Until the descriptor is ready for poll(2)'s events; false: not in time, or not any more.
  bool wait_for(int fd, short events) const;
  // The first of so many equal parts of what is left of it.
  Patience part(Duration::rep of) const;
};

// Connects, and agrees on TLS. Names are looked up each time: the server may have moved. If it has several
// addresses, each gets its share of the time.
//
// On error     unavailable, permission (a certificate), invalid_argument (files of TLS, a path). The text
//              names the server.
// Blocking     Until it is done or patience has an end, looking up names included.
Result<std::unique_ptr<Stream>> connect_stream(const Target&, const Patience&);

// The first words over a stream, before anybody else has it: all of these bytes, and some more of what the
// server says. On error: unavailable, without the server's name.
Result<void> write_all(Stream&, std::string bytes, const Patience&);
Result<void> read_more(Stream&, std::string& into, const Patience&);

}  // namespace holdfast::transport
