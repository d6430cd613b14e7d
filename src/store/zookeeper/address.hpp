// Where the servers of ZooKeeper are and how to speak to them.
//
//   zk://[user:password@]host[:port][,host[:port]…][/base]      zks:// the same over TLS
//
//   session=20s          how long a silent client survives; the servers may grant more or less
//   fence=native         fences are ZooKeeper's own numbers of creations, as other programs see them
//   names=path           a lock a/b is the node b under the node a
//   password_env=NAME    the password is in that environment variable, which is not empty
//   password_file=PATH   in the first line of that file, which is not empty
//   ca=FILE cert=FILE key=FILE server_name=NAME verify=off   of TLS; without ca the system's
//
// A user is ZooKeeper's "digest": whoever knows the same name and password may use the nodes that we make,
// and nobody else. Without one, everybody may.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "holdfast/result.hpp"
#include "holdfast/store/url.hpp"
#include "holdfast/time.hpp"
#include "transport/authority.hpp"
#include "transport/tls.hpp"

namespace holdfast::store::zookeeper {

// Shorter ones leave no time for anything.
inline constexpr Duration kShortestSession = std::chrono::milliseconds(100);

struct Address {
  std::vector<transport::Endpoint> endpoints{};  // at least one
  bool tls = false;
  transport::TlsSettings tls_settings{};
  std::string user{};
  std::string password{};
  std::string base{};  // a node, "/apps/locks", or empty: the root
  Duration session = std::chrono::seconds(20);
  bool native_fences = false;
  bool names_are_paths = false;
  Duration connect_within = std::chrono::seconds(3);
};

// On error     Errc::invalid_argument, permission (a password file); never with the password.
Result<Address> parse_address(const Url&);

// For people, without secrets: "zk1:2181,zk2:2181".
std::string to_string(const Address&);

}  // namespace holdfast::store::zookeeper
