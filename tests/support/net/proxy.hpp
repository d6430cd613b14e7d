// A network that a test breaks: stands between a client and its server and does to their bytes what
// it is told.
//
//   Proxy proxy(Address::tcp(server.port()));
//   auto client = connect("redis://" + proxy.address().text());
//   proxy.set(Way::to_client, {.drop = true});      // answers are lost
//   …
//   proxy.set(Way::to_client, {});
//
//   proxy.hold(Way::to_server);                     // a question is late:
//   …ask…
//   ASSERT_TRUE(proxy.until_came(Way::to_server, 1));
//   …
//   proxy.release(Way::to_server);
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/net/address.hpp"
#include "support/net/link.hpp"
#include "support/net/rules.hpp"
#include "support/soon.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {

// Lifetime     Its connections are reset and its thread is joined at its end.
// Blocking     until_…() wait for kSoon at most and then say false; nothing else waits.
// Threads      All members from any thread. Rules::rewrite runs on the proxy's own.
class Proxy {
 public:
  using Number = std::uint64_t;  // of a connection; the first is 1

  // The seed is that of all jitter.
  explicit Proxy(Address to, const Address& at = Address::any_port(), std::uint64_t seed = 1);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();

  const Address& address() const { return address_; }  // where clients go

  // The rules of one direction, of all connections that are there and those that come.
  void set(Way, Rules);
  void set(Way, Rules, Number only);           // of one connection
  void hold(Way way) { set_hold(way, true); }  // the other rules stay as they are
  void release(Way way) { set_hold(way, false); }
  void half_close(Way);  // the receiver sees the end behind all that came; the sender sees nothing

  // Both ends of all connections get an RST (on a unix socket, which has none, the end).
  void reset();
  void refuse();  // new connections: they get an RST instead of an answer
  void admit();   // again, at the same address
  // New connections that the server refuses get their RST after so long, if it has not come by then. At first: at
  // once.
  void await_server(std::chrono::milliseconds);

  std::uint64_t connections() const;  // that were ever made
  std::size_t open() const;
  Traffic traffic(Way) const;  // of all connections, also those that are over

  bool until_connections(std::uint64_t) const;
  bool until_open(std::size_t) const;  // exactly so many
  bool until_came(Way, std::uint64_t bytes) const;
  bool until_passed(Way, std::uint64_t bytes) const;

 private:
  void set_hold(Way, bool hold);
  void run();
  struct Caller {
    transport::Fd socket;
    std::chrono::steady_clock::time_point until;
  };
  void accept();
  bool dial(Caller&);  // false: the server refuses
  void dial_again();
  void listen();
  void wake() const;
  Traffic sum(Way) const;
  int patience() const;  // of the next epoll_wait, in ms
  template <class Change>
  void change(const Change&);
  template <class Condition>
  bool until(const Condition&) const;

  const Address to_;
  // Bound and never listening, so that the port stays ours while new connections are refused.
  transport::Fd keeper_;
  Address address_;
  transport::Fd wake_;
  transport::Fd epoll_;

  mutable std::mutex mutex_;
  mutable std::condition_variable moved_;
  transport::Fd listener_;
  Link::RulesOfBoth rules_;
  std::map<Number, std::unique_ptr<Link>> links_;
  std::array<Traffic, 2> past_{};  // of links that are over
  std::vector<Caller> waiting_;    // for the server
  std::chrono::milliseconds patience_{0};
  std::uint64_t seed_;
  Number last_ = 0;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace holdfast::test
