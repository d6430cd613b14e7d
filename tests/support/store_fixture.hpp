// How the conformance suite gets at a store. Each store on tests/conformance/stores.list has one, in
// tests/conformance/fixtures/<store>_fixture.cpp:
//
//   std::unique_ptr<StoreFixture> make_redis_fixture() { … }
//   HOLDFAST_STORE_FIXTURE(redis);
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "holdfast/options.hpp"
#include "holdfast/store/store.hpp"
#include "holdfast/time.hpp"

namespace holdfast::test {

// How long things take on a store. With a real server the suite sleeps through its leases, so they
// should be as short as slack allows.
struct Pace {
  Duration lease = std::chrono::seconds(30);
  // How much a store's times may differ from what was asked: the trip, rounding, a busy machine.
  Duration slack{};
  // How long a wake may be under way.
  std::chrono::milliseconds wakes_within{};
  // What a store gives at any time, if it is asked for more: as long as it knows that a session lives.
  Duration longest_lease = kMaxLease;
  // Whether others see how far a lease has run and whether an offer was confirmed. Where clients count leases
  // themselves, the server knows neither, and an offer that lapses goes to the next by itself.
  bool leases_are_seen = true;
  // Whether a release tells that others wait. Where that would be another question, it does not.
  bool release_tells = true;
  // Whether time passes by itself, or only when the test lets it.
  bool is_real = false;
};

struct OpenedClient {
  store::ClientId id;
  std::unique_ptr<store::Store> store;
};

// A store with nothing in it, and clients of it.
//
// Lifetime     Outlives its clients.
// Threads      None: one test thread.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;

  virtual std::string name() const = 0;
  virtual store::Capabilities expected_capabilities() const = 0;
  virtual Pace pace() const { return {}; }

  // Another client of the same store, with an id of its own.
  virtual OpenedClient open_client() = 0;
  virtual void let_pass(Duration) = 0;

  // The same kind of store for whole clients, if theirs must be a time that nobody turns: because the
  // store has threads of its own, which cannot be turned with it.
  virtual std::unique_ptr<StoreFixture> in_real_time() { return nullptr; }

  // Faults. False: this cannot be done to this store, and the test is skipped.
  virtual bool kill() { return false; }                    // the server dies
  virtual bool pause() { return false; }                   // it stops answering …
  virtual bool resume() { return false; }                  // … and goes on
  virtual bool restart(bool /*forget*/) { return false; }  // after kill(), with or without its data
};

using MakeFixture = std::unique_ptr<StoreFixture> (*)();

}  // namespace holdfast::test
