#include "transport/connect.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "holdfast/store/lock_name.hpp"
#include "transport/fd.hpp"
#include "transport/quiet_thread.hpp"

namespace holdfast::transport {
namespace {

struct Addrinfo {
  sockaddr_storage address{};
  socklen_t size = 0;
};
using Addresses = std::vector<Addrinfo>;

struct Free {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

std::string why(int error) { return std::generic_category().message(error); }

class Connector {
 public:
  Connector(const Target& target, const Patience& patience)
      : target_(target), patience_(patience) {}

  Result<std::unique_ptr<Stream>> run() const {
    auto fd = target_.socket_path.empty() ? connect_by_name() : connect_to_socket();
    if (!fd) return fd.error();
    if (!target_.tls) return plain_stream(std::move(*fd));
    auto stream =
        tls_stream(std::move(*fd), target_.tls_settings, target_.endpoint.host,
                   [this](int it, short events) { return patience_.wait_for(it, events); });
    if (!stream) return named(target_, stream.error());
    return stream;
  }

 private:
  Error unreachable(const std::string& text) const {
    return Error(Errc::unavailable, "cannot reach " + to_string(target_) + ": " + text);
  }

  Result<Fd> connect_to_socket() const {
    Addrinfo where;
    auto& local = reinterpret_cast<sockaddr_un&>(where.address);
    if (target_.socket_path.size() >= sizeof local.sun_path) {
      return Error(Errc::invalid_argument, "the path of the socket is too long");
    }
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, target_.socket_path.c_str(), target_.socket_path.size() + 1);
    where.size = sizeof local;
    return connect_to(where, patience_);
  }

  Result<Fd> connect_by_name() const {
    auto addresses = look_up();
    if (!addresses) return addresses.error();
    Result<Fd> fd = unreachable("it has no address");
    // One that is silent leaves the others their share of the time.
    for (std::size_t i = 0; i < addresses->size(); ++i) {
      const auto shares = static_cast<Duration::rep>(addresses->size() - i);
      fd = connect_to((*addresses)[i], patience_.part(shares));
      if (fd) break;
    }
    return fd;
  }

  Result<Fd> connect_to(const Addrinfo& where, const Patience& patience) const {
    const auto* const address = reinterpret_cast<const sockaddr*>(&where.address);
    Fd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return unreachable(why(errno));
    if (address->sa_family != AF_UNIX) set_options(fd.get());
    if (::connect(fd.get(), address, where.size) != 0) {
      if (errno != EINPROGRESS && errno != EINTR) return unreachable(why(errno));
      if (!patience.wait_for(fd.get(), POLLOUT)) return unreachable("no answer in time");
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return unreachable(why(error));
    }
    return fd;
  }

  // A host that has gone without a word is noticed by its users long before the kernel would, but
  // a connection that nobody uses is the kernel's.
  static void set_options(int fd) {
    const auto set = [fd](int level, int option, int value) {
      ::setsockopt(fd, level, option, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);
  }

  // getaddrinfo() cannot be given up: a name that is not a number is looked up on a thread of its own,
  // which may outlive us.
  Result<Addresses> look_up() const {
    struct Shared {
      std::mutex mutex;
      bool done = false;
      int error = 0;
      Addresses addresses;
    };
    const auto ask = [endpoint = target_.endpoint](int flags, Addresses& into) {
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      hints.ai_flags = flags | AI_NUMERICSERV;
      addrinfo* list = nullptr;
      const int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(),
                                      &hints, &list);
      const std::unique_ptr<addrinfo, Free> found(list);
      for (const addrinfo* it = list; it != nullptr; it = it->ai_next) {
        Addrinfo address{.size = it->ai_addrlen};
        std::memcpy(&address.address, it->ai_addr, it->ai_addrlen);
        into.push_back(address);
      }
      return error;
    };
    const auto shared = std::make_shared<Shared>();
    if (ask(AI_NUMERICHOST, shared->addresses) == 0) return shared->addresses;
    Fd told, tells;
    if (std::array<int, 2> ends{}; ::pipe2(ends.data(), O_CLOEXEC) == 0) {
      told = Fd(ends[0]);
      tells = Fd(ends[1]);
    } else {
      return unreachable(why(errno));
    }
    try {
      start_quiet_thread("holdfast-dns", [shared, ask,
                                          end = std::make_shared<Fd>(std::move(tells))] {
        Addresses addresses;
        int error = EAI_MEMORY;
        try {
          error = ask(0, addresses);
        } catch (const std::bad_alloc&) {
        }
        const std::lock_guard lock(shared->mutex);
        shared->error = error;
        shared->addresses = std::move(addresses);
        shared->done = true;
        end->reset();  // readable from now on
      }).detach();
    } catch (const std::system_error& no_thread) {
      return unreachable(no_thread.what());
    }
    patience_.wait_for(told.get(), POLLIN);
    const std::lock_guard lock(shared->mutex);
    if (!shared->done) return unreachable("its name was not looked up in time");
    if (shared->error != 0) return unreachable(::gai_strerror(shared->error));
    return shared->addresses;
  }

  const Target& target_;
  const Patience& patience_;
};

}  // namespace

std::string to_string(const Target& target) {
  return target.socket_path.empty() ? to_string(target.endpoint)
                                    : store::printable(target.socket_path);
}

Error named(const Target& target, const Error& error) {
  return Error(error.errc(), to_string(target) + ": " + error.text());
}

bool Patience::wait_for(int fd, short events) const {
  for (;;) {
    std::array<pollfd, 2> polled{{{fd, events, 0}, {give_up, POLLIN, 0}}};
    const Duration left = left_until(until, clock.now());
    if (left == Duration::zero()) return false;
    const timespec time{static_cast<time_t>(left / std::chrono::seconds(1)),
                        static_cast<long>((left % std::chrono::seconds(1)).count())};
    const int ready =
        ::ppoll(polled.data(), polled.size(), until == kNever ? nullptr : &time, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || polled[1].revents != 0) return false;
    if (polled[0].revents != 0) return true;
  }
}

Patience Patience::part(Duration::rep of) const {
  const TimePoint now = clock.now();
  return {clock, later(now, left_until(until, now) / of), give_up};
}

Result<std::unique_ptr<Stream>> connect_stream(const Target& target, const Patience& patience) {
  return Connector(target, patience).run();
}

Result<void> write_all(Stream& stream, std::string bytes, const Patience& patience) {
  for (Stream::Went how = Stream::Went::again; how == Stream::Went::again || !bytes.empty();) {
    how = stream.write(bytes);
    if (how == Stream::Went::wrong ||
        (how == Stream::Went::again && !patience.wait_for(stream.fd(), POLLOUT))) {
      return Error(Errc::unavailable, "it hung up");
    }
  }
  return {};
}

Result<void> read_more(Stream& stream, std::string& into, const Patience& patience) {
  for (;;) {
    const Stream::Went how = stream.read(into);
    if (how == Stream::Went::well) return {};
    if (how == Stream::Went::wrong) return Error(Errc::unavailable, "it hung up");
    if (!patience.wait_for(stream.fd(), POLLIN)) {
      return Error(Errc::unavailable, "it does not answer");
    }
  }
}

}  // namespace holdfast::transport
