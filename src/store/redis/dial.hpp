#pragma once

#include <memory>

#include "holdfast/result.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/time.hpp"
#include "store/redis/address.hpp"
#include "transport/redialler.hpp"
#include "transport/stream.hpp"

namespace holdfast::store::redis {

// Connects, and says who we are: TLS, password, database, the name under which CLIENT LIST shows us.
// Names are looked up each time: the server may have moved.
//
// On error     unavailable, permission (a password, a certificate), invalid_argument (a database that is
//              not there), protocol. The text names the server, never a secret.
// Blocking     Until it is done, `until`, or `give_up` becomes readable.
Result<std::unique_ptr<transport::Stream>> dial(const Address&, const Clock&, TimePoint until,
                                                int give_up);
// The same for a Redialler. Both have to outlive it.
transport::Redialler::Dial dial_to(const Address&, const Clock&);

}  // namespace holdfast::store::redis
