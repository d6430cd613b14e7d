// Where a Redis server is and how to speak to it.
//
//   redis://[user[:password]@]host[:port][/database]      rediss:// the same over TLS
//   redis+unix:///path/to/redis.sock
//
//   database=N           instead of /N
//   password_env=NAME    the password is in that environment variable, which is not empty
//   password_file=PATH   in the first line of that file, which is not empty
//   interop=off          locks need not be shared with Redisson: no keys that stay for ever
//   ca=FILE cert=FILE key=FILE server_name=NAME verify=off   of TLS; without ca the system's
#pragma once

#include <chrono>
#include <string>

#include "holdfast/result.hpp"
#include "holdfast/store/url.hpp"
#include "holdfast/time.hpp"
#include "transport/connect.hpp"

namespace holdfast::store::redis {

struct Address {
  transport::Target server{};
  std::string user{};
  std::string password{};
  unsigned database = 0;
  bool interop = true;
  Duration connect_within = std::chrono::seconds(3);
};

// On error     Errc::invalid_argument, permission (a password file); never with the password.
Result<Address> parse_address(const Url&);

}  // namespace holdfast::store::redis
