#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/options.hpp"
#include "holdfast/store/store.hpp"
#include "support/store_fixture.hpp"
#include "support/switchable_store.hpp"
#include "support/wake_box.hpp"

namespace holdfast::conformance {

// How to ask for a lock. What is left out comes from the store's pace.
struct How {
  bool line_up = false;
  Order order = Order::any;
  std::optional<Duration> lease{};
  std::uint64_t spare = 0;
  std::optional<Duration> line_for{};
  std::optional<Duration> confirm_within{};
  std::string reason{};
  std::optional<store::HoldKey> instead_of{};
};

inline How in_line(Order order = Order::any) { return {.line_up = true, .order = order}; }

// A claim and the link to the store that it uses. Every verb waits for its answer.
//
// On error     The verbs with a plain answer (granted, refused, offered …) fail the test if the store
//              answers something else, and return an empty value.
class Claimant {
 public:
  Claimant(test::SwitchableStore& link, store::ClaimKey key, const test::Pace& pace);
  ~Claimant();
  Claimant(const Claimant&) = delete;
  Claimant& operator=(const Claimant&) = delete;

  // Before its first verb: another kind of claim than an exclusive one of a mutex.
  Claimant& as(store::Kind, const store::Shape&);

  test::SwitchableStore& link() { return link_; }
  const store::ClaimKey& key() const { return key_; }
  const store::OwnerId& owner() const { return key_.owner; }
  HolderRecord record(const std::string& reason = {}) const;
  store::GrantRequest request(const How& = {}) const;
  store::HoldKey hold(std::uint64_t fence) const;
  store::Renewal renewal(std::uint64_t fence, std::optional<Duration> lease = {}) const;

  store::GrantReply ask(const How& = {});
  store::Granted granted(const How& = {});
  store::Refused refused(const How& = {});

  store::RenewalReply renew(std::uint64_t fence, std::optional<Duration> lease = {});
  bool renews(std::uint64_t fence, std::optional<Duration> lease = {});
  store::ReleaseReply release(std::uint64_t fence);
  bool releases(std::uint64_t fence);
  void withdraw();

  // Wakes. Without watch() none are received.
  void watch();
  void unwatch() { watch_.reset(); }
  std::optional<store::Wake> wake() { return wakes_.take(pace_.wakes_within); }
  std::optional<store::Wake::Offer> offer() { return wakes_.take_offer(pace_.wakes_within); }
  store::Wake::Offer offered();

 private:
  test::SwitchableStore& link_;
  store::ClaimKey key_;
  test::Pace pace_;
  test::WakeBox wakes_;
  store::WatchPtr watch_;
};

}  // namespace holdfast::conformance
