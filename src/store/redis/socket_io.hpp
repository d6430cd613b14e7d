#pragma once

#include <string>

#include "store/redis/stream.hpp"

namespace holdfast::store::redis {

// recv(2) and send(2) that do not block, are not interrupted and raise no signal.
Stream::Went receive_some(int fd, std::string& into);
Stream::Went send_some(int fd, std::string& from);

}  // namespace holdfast::store::redis
