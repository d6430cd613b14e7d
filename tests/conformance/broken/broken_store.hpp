// Stores that break one rule each, so that a test can show that the rule notices. They stand in
// front of a store that is right and spoil its questions or its answers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/store/store.hpp"
#include "support/answer.hpp"
#include "support/forwarding_store.hpp"
#include "support/store_fixture.hpp"

namespace holdfast::conformance {

// What the clients of one broken store share.
struct BrokenState {
  std::map<store::LockName, std::uint64_t> fence_of_name;
  std::map<store::OwnerId, std::uint64_t> fence_of_owner;
  std::vector<store::WakeFn> watchers;
};

// Asks the store behind it and waits for the answer. Not thread-safe.
class BrokenStore : public test::ForwardingStore {
 public:
  BrokenStore(std::unique_ptr<store::Store> right, BrokenState& state)
      : ForwardingStore(std::move(right)), state_(state) {}

 protected:
  template <class Reply, class Verb>
  static Reply answer_to(Verb verb) {
    test::Answer<Reply> answer;
    verb(answer.call());
    return answer.reply();
  }

  store::GrantReply right_grant(const store::GrantRequest&);
  store::RenewalReply right_renewal(const store::Renewal&);
  store::ReleaseReply right_release(const store::HoldKey&);
  void right_withdraw(const store::ClaimKey&);
  store::LockView right_view(const store::LockName&);
  // Who holds the lock, as a key.
  std::optional<store::HoldKey> right_holder(const store::LockName&);

  BrokenState& state() { return state_; }

 private:
  BrokenState& state_;
};

struct Breakage {
  std::string name;       // what is wrong with the store
  std::string caught_by;  // the rule that must notice
  std::unique_ptr<store::Store> (*wrap)(std::unique_ptr<store::Store> right, BrokenState&);
};

// One per way to be wrong that is worth a rule.
std::vector<Breakage> all_breakages();
std::vector<Breakage> cell_breakages();

// The memory store with one breakage.
class BrokenFixture final : public test::StoreFixture {
 public:
  explicit BrokenFixture(const Breakage&);

  std::string name() const override { return right_->name() + ", broken: " + breakage_.name; }
  store::Capabilities expected_capabilities() const override {
    return right_->expected_capabilities();
  }
  test::Pace pace() const override { return right_->pace(); }
  test::OpenedClient open_client() override;
  void let_pass(Duration time) override { right_->let_pass(time); }

 private:
  Breakage breakage_;
  std::unique_ptr<test::StoreFixture> right_;
  BrokenState state_;
};

}  // namespace holdfast::conformance
