#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/client.hpp"
#include "runtime/boot_clock.hpp"
#include "support/store_fixture.hpp"
#include "support/switchable_store.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {

// Clients of whatever store a fixture has, in that fixture's time: where the test turns the clock, the
// clients' timers are turned with it; where it passes by itself (Pace::is_real), they are real.
//
// Lifetime     The fixture outlives it; it outlives its clients and what came from them.
// Threads      Its members from one thread. The clients are the users': real threads may block in them
//              if nothing they wait for takes time.
class ClientBench {
 public:
  explicit ClientBench(StoreFixture&);
  ClientBench(const ClientBench&) = delete;
  ClientBench& operator=(const ClientBench&) = delete;
  ~ClientBench();

  // A client, and the link to its store: Link::down is its sudden death, as others see it. The link
  // lives as long as the client and its holds.
  struct Peer {
    Client client;
    SwitchableStore* link;
    Mutex mutex(std::string_view name = "lock") const { return client.mutex(name); }
  };
  Peer client(ClientOptions = {});

  const store::Capabilities& capabilities() const { return capabilities_; }
  StoreFixture& fixture() { return fixture_; }
  Duration lease() const { return pace_.lease; }
  // How much later than it should something may happen: by hand not at all, else a busy machine's lot.
  Duration grace() const { return by_hand_ ? Duration::zero() : Duration(std::chrono::seconds(5)); }

  TimePoint now() const;
  void let_pass(Duration);
  void settle();

  // The result, when it comes; time passes meanwhile. Fails the test if it does not come.
  Result<Hold> get(Pending<Hold>);
  Result<Hold> acquire(const Peer& peer, AcquireOptions options = {}) {
    return get(peer.mutex().async_acquire(std::move(options)));
  }
  // Lets time pass until the condition is true, for so long at the most.
  bool comes_true(const std::function<bool()>&, Duration within);

  // What an operator sees and does.
  std::vector<store::LockView> look(std::string_view pattern = "*");
  bool is_empty();  // or will be in a moment
  bool revoke(const Hold&);

 private:
  StoreFixture& fixture_;
  const Pace pace_;
  OpenedClient operator_;
  const store::Capabilities capabilities_;
  runtime::BootClock clock_;
  std::optional<HandBench> by_hand_;  // none in real time
};

}  // namespace holdfast::test
