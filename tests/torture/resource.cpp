#include "torture/resource.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "torture/log.hpp"

namespace holdfast::torture {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long a path: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int packet_socket() {
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket < 0) throw std::runtime_error("no socket");
  return socket;
}

template <class Message>
bool send_one(int socket, const Message& message) {
  return ::send(socket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

template <class Message>
bool receive_one(int socket, Message& message) {
  ssize_t size = 0;
  do {
    size = ::recv(socket, &message, sizeof message, 0);
  } while (size < 0 && errno == EINTR);
  return size == sizeof message;
}

}  // namespace

// ---- the side of a worker ----

ResourceLink::ResourceLink(const std::string& path) : socket_(packet_socket()) {
  const sockaddr_un address = address_of(path);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error("the resource does not listen");
  }
}

ResourceLink::~ResourceLink() { ::close(socket_); }

Values ResourceLink::access(const Access& access) {
  Values values;
  if (!send_one(socket_, access) || !receive_one(socket_, values)) {
    throw std::runtime_error("the resource is gone");
  }
  return values;
}

// ---- the side of the conductor ----

ResourceServer::ResourceServer(const std::string& path, Fences fences)
    : fences_(fences), listener_(packet_socket()), stop_(::eventfd(0, EFD_CLOEXEC)) {
  const sockaddr_un address = address_of(path);
  if (stop_ < 0 ||
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 128) != 0) {
    throw std::runtime_error("cannot listen at " + path);
  }
  thread_ = std::thread([this] { serve(); });
}

void ResourceServer::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_, &one, sizeof one));
  thread_.join();
  ::close(listener_);
  ::close(stop_);
}

void ResourceServer::serve() {
  std::vector<pollfd> sockets{{.fd = stop_, .events = POLLIN, .revents = 0},
                              {.fd = listener_, .events = POLLIN, .revents = 0}};
  while (true) {
    if (::poll(sockets.data(), sockets.size(), -1) < 0 && errno != EINTR) break;
    if (sockets[0].revents != 0) break;
    for (std::size_t i = 2; i < sockets.size(); ++i) {
      if (sockets[i].revents == 0 || serve_one(sockets[i].fd)) continue;
      ::close(sockets[i].fd);
      sockets[i].fd = -1;
    }
    std::erase_if(sockets, [](const pollfd& each) { return each.fd < 0; });
    if (sockets[1].revents != 0) {
      const int link = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (link >= 0) sockets.push_back({.fd = link, .events = POLLIN, .revents = 0});
    }
  }
  for (std::size_t i = 2; i < sockets.size(); ++i) ::close(sockets[i].fd);
}

// A worker has one question open for each link, so an answer always finds room.
bool ResourceServer::serve_one(int socket) {
  Access access;
  return receive_one(socket, access) && send_one(socket, perform(access));
}

Values ResourceServer::perform(const Access& access) {
  test::TwinCounters& counters = counters_[access.lock];
  Values values{false, access.fenced, access.twin};
  // Nobody is below the greatest fence there is.
  const std::uint64_t fence = fences_ == Fences::checked ? access.fence : UINT64_MAX;
  if (access.write) {
    writes_ += 1;
    twins_ += access.twin - counters.twin();
    values.accepted = counters.write(fence, values);
  } else {
    values = counters.read(fence);
  }
  recorded_.push_back({access, boot_now(), values});
  return values;
}

std::uint64_t ResourceServer::lost_in_twin() const {
  const std::uint64_t writes = writes_, kept = twins_;
  return writes - std::min(writes, kept);
}

void ResourceServer::finish(const std::vector<std::string>& names, check::History& history) const {
  for (const auto& [access, at, values] : recorded_) {
    history.resource_ops.push_back({.client = access.client,
                                    .name = names.at(access.lock),
                                    .fence = access.fence,
                                    .at = at,
                                    .write = access.write,
                                    .accepted = values.accepted,
                                    .fenced_value = values.fenced,
                                    .twin_value = values.twin});
  }
  for (const auto& [lock, counters] : counters_) {
    history.final_values.push_back({names.at(lock), counters.fenced(), counters.twin()});
  }
}

}  // namespace holdfast::torture
