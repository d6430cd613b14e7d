// Clients on parts that a test brings: a store of its own, and for HandBench the time as well.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "holdfast/client.hpp"
#include "holdfast/store/store.hpp"
#include "runtime/boot_clock.hpp"
#include "runtime/driver.hpp"
#include "runtime/epoll_loop.hpp"
#include "store/memory/memory_store.hpp"
#include "support/hand_callbacks.hpp"
#include "support/hand_loop.hpp"
#include "support/manual_clock.hpp"
#include "support/store_fixture.hpp"
#include "support/switchable_store.hpp"

namespace holdfast::test {

// ---- real time, real threads ----

// A client as connect() makes it, but on the store that `open` returns. That store may live on the
// clock and the loop it is given.
using OpenStore = std::function<OpenedClient(const runtime::BootClock&, runtime::EpollLoop&)>;
Client connect_to(const OpenStore& open, ClientOptions = {});
// The store that connect() opens for this URL.
OpenedClient open_by_url(const std::string& url, const runtime::BootClock&, runtime::EpollLoop&);
store::ClientId new_client_id();

// The same on a memory server, over a link that the test can break. `link` lives as long as the client
// and its holds.
struct LinkedClient {
  Client client;
  SwitchableStore* link;
};
LinkedClient connect_linked(const std::shared_ptr<store::MemoryServer>&, ClientOptions = {});

// ---- by hand ----

// Clients whose time, timers and callbacks stand still until the test moves them. Nothing sleeps, and
// what happens happens in the same order each time. Answers come inside the verb unless a link is
// switched to something else.
//
// Lifetime     Outlives every client, hold and pending result that came from it.
// Threads      settle() and let_pass() from one thread at a time.
class HandBench {
 public:
  class Seat;

  HandBench();  // on a memory server of its own
  // On other stores, for which time passes by `also_pass`.
  HandBench(std::function<OpenedClient()> open, std::function<void(Duration)> also_pass);
  HandBench(const HandBench&) = delete;
  HandBench& operator=(const HandBench&) = delete;
  ~HandBench();

  // Another client.
  Seat& client(ClientOptions = {});

  // Runs all that is due: timers, then callbacks, until there is nothing more.
  void settle();
  // Time goes on, with a stop at each timer on the way.
  void let_pass(Duration);
  // Time goes on while nobody runs: the process was stopped, the machine slept.
  void oversleep(Duration);
  // Somebody sets the wall clock.
  void set_wall(Duration by) { clock_.set_wall(by); }

  TimePoint now() const { return clock_.now(); }

  // What an operator sees and does.
  std::vector<store::LockView> look(std::string_view pattern = "*");
  bool is_empty() { return look().empty(); }
  enum class Force { revoke, free_now };
  bool force(const Hold&, Force);

 private:
  TimePoint next_timer() const;

  ManualClock clock_;
  std::shared_ptr<store::MemoryServer> server_;
  std::uint64_t clients_ = 0;
  std::function<OpenedClient()> open_;
  std::function<void(Duration)> also_pass_;
  std::deque<Seat> seats_;
  OpenedClient operator_;
};

// One client of a HandBench.
class HandBench::Seat {
 public:
  Seat(const store::Clock&, OpenedClient, ClientOptions);
  ~Seat();

  Client& client() { return *client_; }
  Mutex mutex(std::string_view name = "lock") const { return client_->mutex(name); }
  void drop_client() { client_.reset(); }
  bool ended() const { return state_ == State::ended; }  // its last reference has gone

  SwitchableStore& link() { return *link_; }
  const store::ClientId& id() const { return id_; }
  // What its claim of that number is called in the store.
  store::HoldKey hold_key(std::uint64_t claim, FencingToken, std::string_view name = "lock") const;

  bool run_one(TimePoint now);
  TimePoint next_timer() const { return loop_.next(); }
  std::size_t timers() const { return loop_.size(); }

 private:
  enum class State { alive, retired, ended };
  void end();

  struct Luck final : store::Random {
    std::uint64_t next() override { return state += 0x9e3779b97f4a7c15; }
    std::uint64_t state = 1;
  };

  store::ClientId id_;
  HandLoop loop_;
  HandCallbacks callbacks_;
  Luck random_;
  SwitchableStore* link_ = nullptr;
  std::unique_ptr<runtime::Driver> driver_;
  State state_ = State::alive;
  std::optional<Client> client_;
};

}  // namespace holdfast::test
