#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/claimant.hpp"
#include "holdfast/store/store.hpp"
#include "support/store_fixture.hpp"
#include "support/switchable_store.hpp"

namespace holdfast::conformance {

// A store on the test bench: claimants to play with, and the time.
class Bench {
 public:
  explicit Bench(test::StoreFixture& fixture);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  test::StoreFixture& fixture() { return fixture_; }
  std::string store_name() const { return fixture_.name(); }
  const store::Capabilities& capabilities() const { return capabilities_; }
  const test::Pace& pace() const { return pace_; }
  Duration lease() const { return pace_.lease; }

  // A new claim of a new client; or of the client that another claim belongs to, on the same lock or
  // another one. Real clients have sockets: a crowd should share some.
  Claimant& claimant(std::string_view name = "lock");
  Claimant& claimant_beside(const Claimant&);
  Claimant& claimant_beside(const Claimant&, std::string_view name);

  void let_pass(Duration time) { fixture_.let_pass(time); }
  // Long enough for a lease of that length, told anew just now, to have lapsed for certain; and a
  // time after which it certainly has not.
  void let_lapse(Duration lease) { let_pass(lease + pace_.slack); }
  void let_nearly_lapse(Duration lease) { let_pass(lease - pace_.slack - Duration(1)); }

  // What an operator sees and does, over a client of its own.
  std::vector<store::LockView> look(std::string_view pattern);
  store::LockView look_at(std::string_view name = "lock");  // an empty view if it shows nothing
  store::ForceReply force(const Claimant&, std::uint64_t fence, bool now);
  // Whether nobody holds the lock: a passer-by gets it, and gives it back.
  bool is_free(std::string_view name = "lock");

 private:
  struct Client {
    store::ClientId id;
    std::unique_ptr<test::SwitchableStore> store;
  };
  Client& open();
  Claimant& add_claim(Client&, std::string_view name);

  test::StoreFixture& fixture_;
  test::Pace pace_;
  std::deque<Client> clients_;
  std::deque<Claimant> claimants_;
  std::uint64_t claims_ = 0;
  Client& operator_;
  store::Capabilities capabilities_;
};

// A name that is known to be good.
store::LockName lock_name(std::string_view bytes);

}  // namespace holdfast::conformance
