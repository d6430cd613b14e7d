#include "support/net/proxy.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

// What epoll tells about; every other number is a connection.
constexpr std::uint64_t kWake = 0;
constexpr std::uint64_t kListener = ~std::uint64_t{0};

// At each change, once: a link is pumped until its sockets have nothing more, so it needs to hear of
// news only, and one whose bytes are held does not spin.
constexpr std::uint32_t kNews = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

void listen_to(const transport::Fd& epoll, int fd, std::uint32_t events, std::uint64_t number) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::runtime_error("no epoll");
}

void send_at_once(int socket) {  // without it the kernel would join small writes
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Proxy::Proxy(Address to, const Address& at, std::uint64_t seed)
    : to_(std::move(to)),
      keeper_(at.is_unix() ? transport::Fd() : bound_socket(at)),
      address_(at.is_unix() ? at : own_address(keeper_)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      seed_(seed) {
  if (!wake_ || !epoll_) throw std::runtime_error("no descriptors for a proxy");
  listen_to(epoll_, wake_.get(), EPOLLIN, kWake);
  listen();
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  change([&] {
    stop_ = true;
    for (auto& [number, link] : links_) link->reset();
  });
  thread_.join();
  if (address_.is_unix()) ::unlink(address_.text().c_str());
}

// ---- what tests say ----

// Whatever was changed, the thread looks at all links afterwards.
template <class Change>
void Proxy::change(const Change& change) {
  const std::lock_guard lock(mutex_);
  change();
  wake();
}

void Proxy::set(Way way, Rules rules) {
  change([&] {
    for (auto& [number, link] : links_) link->pipe(way).set(rules);
    rules_[static_cast<std::size_t>(way)] = std::move(rules);
  });
}

void Proxy::set(Way way, Rules rules, Number only) {
  change([&] {
    if (const auto link = links_.find(only); link != links_.end()) {
      link->second->pipe(way).set(std::move(rules));
    }
  });
}

void Proxy::set_hold(Way way, bool hold) {
  change([&] {
    rules_[static_cast<std::size_t>(way)].hold = hold;
    for (auto& [number, link] : links_) link->pipe(way).set_hold(hold);
  });
}

void Proxy::half_close(Way way) {
  change([&] {
    for (auto& [number, link] : links_) link->pipe(way).end(std::chrono::steady_clock::now());
  });
}

void Proxy::reset() {
  change([&] {
    for (auto& [number, link] : links_) link->reset();
  });
}

void Proxy::refuse() {
  const std::lock_guard lock(mutex_);
  listener_.reset();
}

void Proxy::admit() {
  const std::lock_guard lock(mutex_);
  if (!listener_) listen();
}

void Proxy::await_server(std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  patience_ = patience;
}

// ---- what they ask ----

std::uint64_t Proxy::connections() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::size_t Proxy::open() const {
  const std::lock_guard lock(mutex_);
  return links_.size();
}

Traffic Proxy::traffic(Way way) const {
  const std::lock_guard lock(mutex_);
  return sum(way);
}

Traffic Proxy::sum(Way way) const {
  Traffic all = past_[static_cast<std::size_t>(way)];
  for (const auto& [number, link] : links_) all += link->pipe(way).traffic();
  return all;
}

template <class Condition>
bool Proxy::until(const Condition& condition) const {
  std::unique_lock lock(mutex_);
  return moved_.wait_for(lock, kSoon, condition);
}

bool Proxy::until_connections(std::uint64_t count) const {
  return until([&] { return last_ >= count; });
}

bool Proxy::until_open(std::size_t count) const {
  return until([&] { return links_.size() == count; });
}

bool Proxy::until_came(Way way, std::uint64_t bytes) const {
  return until([&] { return sum(way).came >= bytes; });
}

bool Proxy::until_passed(Way way, std::uint64_t bytes) const {
  return until([&] { return sum(way).passed >= bytes; });
}

// ---- the thread ----

void Proxy::wake() const { ::eventfd_write(wake_.get(), 1); }

void Proxy::listen() {
  if (address_.is_unix()) ::unlink(address_.text().c_str());
  listener_ = listening_socket(address_, SOCK_NONBLOCK);
  listen_to(epoll_, listener_.get(), EPOLLIN, kListener);
}

void Proxy::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const int limit = patience();
    lock.unlock();
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_.get(), events, 64, limit);
    lock.lock();

    const auto now = std::chrono::steady_clock::now();
    dial_again();
    bool all = false;  // links have to be looked at
    for (int i = 0; i < count; ++i) {
      if (events[i].data.u64 == kListener) {
        accept();
      } else if (events[i].data.u64 == kWake) {
        eventfd_t ignored;
        ::eventfd_read(wake_.get(), &ignored);
        all = true;
      } else if (const auto link = links_.find(events[i].data.u64); link != links_.end()) {
        link->second->pump(now);
      }
    }
    for (auto each = links_.begin(); each != links_.end();) {
      Link& link = *each->second;
      if (all || link.due() <= now) link.pump(now);
      if (!link.over()) {
        ++each;
        continue;
      }
      for (const Way way : kBothWays) {
        past_[static_cast<std::size_t>(way)] += link.pipe(way).traffic();
      }
      each = links_.erase(each);
    }
    moved_.notify_all();
  }
}

int Proxy::patience() const {
  auto due = Pipe::kNever;
  for (const auto& [number, link] : links_) due = std::min(due, link->due());
  if (!waiting_.empty()) {
    due = std::min(due, std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
  }
  if (due == Pipe::kNever) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void Proxy::accept() {
  while (listener_) {
    transport::Fd client(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) return;
    Caller caller{std::move(client), std::chrono::steady_clock::now() + patience_};
    if (!dial(caller)) waiting_.push_back(std::move(caller));
  }
}

void Proxy::dial_again() {
  std::erase_if(waiting_, [this](Caller& caller) { return dial(caller); });
}

bool Proxy::dial(Caller& caller) {
  // Who may wait has to know at once whether it is refused. On this machine that takes no time.
  const int flags = patience_.count() > 0 ? 0 : SOCK_NONBLOCK;
  transport::Fd server(::socket(to_.place()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  const bool reached =
      ::connect(server.get(), to_.place(), to_.size()) == 0 || errno == EINPROGRESS;
  ::fcntl(server.get(), F_SETFL, O_NONBLOCK);
  if (!reached && std::chrono::steady_clock::now() < caller.until) return false;
  ++last_;
  auto link =
      std::make_unique<Link>(std::move(caller.socket), std::move(server), rules_, seed_ + last_);
  if (!reached) {
    link->reset();
    return true;
  }
  for (const Way way : kBothWays) {
    send_at_once(link->socket_to(way));
    listen_to(epoll_, link->socket_to(way), kNews, last_);
  }
  links_.emplace(last_, std::move(link));
  return true;
}

}  // namespace holdfast::test
