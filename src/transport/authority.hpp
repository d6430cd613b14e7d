#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.hpp"

namespace holdfast::transport {

struct Endpoint {
  std::string host;  // a name or an address; IPv6 without its brackets
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "db1:6379", "[::1]:6379".
std::string to_string(const Endpoint&);

// What the URLs of servers have in common: //user:password@host:port,host:port/path
struct Authority {
  std::string user;
  std::string password;
  std::vector<Endpoint> endpoints;  // none if no host is named
  std::string path;                 // without the slash before it
};

// On error     Errc::invalid_argument. The text never repeats what was given: it may hold a password.
Result<Authority> parse_authority(std::string_view rest, std::uint16_t default_port);

}  // namespace holdfast::transport
