#include "store/redis/dial.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "store/redis/failure.hpp"
#include "store/redis/resp.hpp"
#include "transport/quiet_thread.hpp"
#include "transport/tls.hpp"

namespace holdfast::store::redis {
namespace {

using transport::Fd;
using transport::Stream;

struct Addrinfo {
  sockaddr_storage address{};
  socklen_t size = 0;
};
using Addresses = std::vector<Addrinfo>;

std::string why(int error) { return std::generic_category().message(error); }

class Dialler {
 public:
  Dialler(const Address& address, const Clock& clock, TimePoint until, int give_up)
      : address_(address), clock_(clock), until_(until), give_up_(give_up) {}

  Result<std::unique_ptr<Stream>> run() {
    auto fd = address_.socket_path.empty() ? connect_by_name() : connect_to_socket();
    if (!fd) return fd.error();
    auto stream = address_.tls ? transport::tls_stream(
                                     std::move(*fd), address_.tls_settings, address_.endpoint.host,
                                     [this](int it, short events) { return wait_for(it, events); })
                               : transport::plain_stream(std::move(*fd));
    if (!stream) return named(stream.error());
    if (auto done = introduce(**stream); !done) return named(done.error());
    return stream;
  }

 private:
  Error named(const Error& error) const {
    return Error(error.errc(), to_string(address_) + ": " + error.text());
  }
  Error unreachable(const std::string& text) const {
    return Error(Errc::unavailable, "cannot reach " + to_string(address_) + ": " + text);
  }

  bool wait_for(int fd, short events) const { return wait_for(fd, events, until_); }
  bool wait_for(int fd, short events, TimePoint until) const {
    for (;;) {
      std::array<pollfd, 2> polled{{{fd, events, 0}, {give_up_, POLLIN, 0}}};
      const Duration left = left_until(until, clock_.now());
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

  Result<Fd> connect_to_socket() const {
    Addrinfo where;
    auto& local = reinterpret_cast<sockaddr_un&>(where.address);
    if (address_.socket_path.size() >= sizeof local.sun_path) {
      return Error(Errc::invalid_argument, "the path of the socket is too long");
    }
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, address_.socket_path.c_str(), address_.socket_path.size() + 1);
    where.size = sizeof local;
    return connect_to(where, until_);
  }

  Result<Fd> connect_by_name() const {
    auto addresses = look_up();
    if (!addresses) return addresses.error();
    Result<Fd> fd = unreachable("it has no address");
    // One that is silent leaves the others their share of the time.
    for (std::size_t i = 0; i < addresses->size(); ++i) {
      const TimePoint now = clock_.now();
      const auto others = static_cast<Duration::rep>(addresses->size() - i);
      fd = connect_to((*addresses)[i], later(now, left_until(until_, now) / others));
      if (fd) break;
    }
    return fd;
  }

  Result<Fd> connect_to(const Addrinfo& where, TimePoint until) const {
    const auto* const target = reinterpret_cast<const sockaddr*>(&where.address);
    Fd fd(::socket(target->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return unreachable(why(errno));
    if (target->sa_family != AF_UNIX) set_options(fd.get());
    if (::connect(fd.get(), target, where.size) != 0) {
      if (errno != EINPROGRESS && errno != EINTR) return unreachable(why(errno));
      if (!wait_for(fd.get(), POLLOUT, until)) return unreachable("no answer in time");
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return unreachable(why(error));
    }
    return fd;
  }

  // A host that has gone without a word is noticed by us (Connection) long before the kernel would, but
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
    const auto ask = [endpoint = address_.endpoint](int flags, Addresses& into) {
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      hints.ai_flags = flags | AI_NUMERICSERV;
      addrinfo* found = nullptr;
      const int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(),
                                      &hints, &found);
      for (const addrinfo* it = found; it != nullptr; it = it->ai_next) {
        Addrinfo address{.size = it->ai_addrlen};
        std::memcpy(&address.address, it->ai_addr, it->ai_addrlen);
        into.push_back(address);
      }
      if (found != nullptr) ::freeaddrinfo(found);
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
      transport::start_quiet_thread("holdfast-dns", [shared, ask,
                                                     end = std::make_shared<Fd>(std::move(tells))] {
        Addresses addresses;
        const int error = ask(0, addresses);
        const std::lock_guard lock(shared->mutex);
        shared->error = error;
        shared->addresses = std::move(addresses);
        shared->done = true;
        end->reset();  // readable from now on
      }).detach();
    } catch (const std::system_error& no_thread) {
      return unreachable(no_thread.what());
    }
    wait_for(told.get(), POLLIN);
    const std::lock_guard lock(shared->mutex);
    if (!shared->done) return unreachable("its name was not looked up in time");
    if (shared->error != 0) return unreachable(::gai_strerror(shared->error));
    return shared->addresses;
  }

  Result<void> introduce(Stream& stream) const {
    std::vector<Words> commands;
    // Also with an empty password: whoever names a user must not become the default one.
    if (!address_.user.empty() || !address_.password.empty()) {
      commands.push_back(address_.user.empty() ? Words{"AUTH", address_.password}
                                               : Words{"AUTH", address_.user, address_.password});
    }
    commands.push_back({"PING"});
    if (address_.database != 0) commands.push_back({"SELECT", std::to_string(address_.database)});
    std::string out;
    for (const Words& each : commands) append_command(out, each);
    ReplyReader reader;
    for (Stream::Went how = Stream::Went::again; how == Stream::Went::again || !out.empty();) {
      how = stream.write(out);
      if (how == Stream::Went::wrong ||
          (how == Stream::Went::again && !wait_for(stream.fd(), POLLOUT))) {
        return Error(Errc::unavailable, "it hung up");
      }
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
      auto reply = next_reply(stream, reader);
      if (!reply) return reply.error();
      if (reply->is(Reply::Type::error)) return refusal_of(commands[i].front(), reply->text);
    }
    return {};
  }

  // What most servers say to these is only "ERR" and a sentence. But one that is full says so to whatever
  // comes first.
  Error refusal_of(std::string_view command, std::string_view text) const {
    const NoAnswer meaning = failure_of(text);
    const bool only_a_sentence = meaning.why == Errc::protocol && text.starts_with("ERR");
    if (only_a_sentence && command == "SELECT") {
      return Error(Errc::invalid_argument,
                   "it has no database " + std::to_string(address_.database));
    }
    if (only_a_sentence && command == "AUTH") {
      return Error(Errc::permission,
                   "it does not take a password for this user; was a user name left out?");
    }
    return Error(meaning.why, meaning.text);
  }

  Result<Reply> next_reply(Stream& stream, ReplyReader& reader) const {
    for (;;) {
      if (auto reply = reader.next()) return std::move(*reply);
      if (reader.broken()) return Error(Errc::protocol, "what answers there is not Redis");
      std::string bytes;
      const Stream::Went how = stream.read(bytes);
      if (how == Stream::Went::wrong) return Error(Errc::unavailable, "it hung up");
      if (how == Stream::Went::again && !wait_for(stream.fd(), POLLIN)) {
        return Error(Errc::unavailable, "it does not answer");
      }
      reader.feed(bytes);
    }
  }

  const Address& address_;
  const Clock& clock_;
  const TimePoint until_;
  const int give_up_;
};

}  // namespace

Result<std::unique_ptr<Stream>> dial(const Address& address, const Clock& clock, TimePoint until,
                                     int give_up) {
  return Dialler(address, clock, until, give_up).run();
}

}  // namespace holdfast::store::redis
