#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "holdfast/result.hpp"
#include "holdfast/store/random.hpp"
#include "holdfast/time.hpp"
#include "store/zookeeper/address.hpp"
#include "transport/connect.hpp"
#include "transport/stream.hpp"

namespace holdfast::store::zookeeper {

// The session that a connection is to go on with.
struct Credentials {
  std::int64_t session = 0;    // 0: a new one
  std::string password{};      // of the session, from the server
  std::int64_t last_zxid = 0;  // we have seen so much; a server that has not is none for us
};

struct Dialled {
  std::unique_ptr<transport::Stream> stream{};
  std::size_t endpoint = 0;  // of the address
  TimePoint sent{};          // of the hello that was answered
  Credentials credentials{};
  Duration timeout{};  // of the session, as granted
};

// Connects to one of the servers, whichever answers first when they are tried in a random order, opens the session
// there, a new one or the given one, and says who we are. `last`: the one that was tried last is not tried first.
//
// On error     Errc::lost: the servers say that the session has ended. Else unavailable, permission (a
//              certificate, a user), invalid_argument (files of TLS), protocol. The text names the servers,
//              never a secret.
// Blocking     Until it is done or patience has an end.
Result<Dialled> dial(const Address&, const Credentials&, const transport::Patience&, Random&,
                     std::size_t last);
inline constexpr std::size_t kNoneYet = static_cast<std::size_t>(-1);

}  // namespace holdfast::store::zookeeper
