#pragma once

#include <string>

#include "transport/stream.hpp"

namespace holdfast::transport {

// recv(2) and send(2) that do not block, are not interrupted and raise no signal.
Stream::Went receive_some(int fd, std::string& into);
Stream::Went send_some(int fd, std::string& from);

}  // namespace holdfast::transport
