#include "conformance/broken/broken_store.hpp"

#include "conformance/fixtures/fixture_list.hpp"

namespace holdfast::conformance {

using namespace store;

GrantReply BrokenStore::right_grant(const GrantRequest& request) {
  return answer_to<GrantReply>(
      [&](Call<GrantReply> call) { inner().try_grant(request, std::move(call)); });
}

RenewalReply BrokenStore::right_renewal(const Renewal& renewal) {
  const auto reply = answer_to<RenewReply>([&](Call<RenewReply> call) {
    inner().renew({&renewal, 1}, std::move(call));
  });
  return std::get<std::vector<RenewalReply>>(reply).front();
}

ReleaseReply BrokenStore::right_release(const HoldKey& key) {
  return answer_to<ReleaseReply>(
      [&](Call<ReleaseReply> call) { inner().release(key, std::move(call)); });
}

void BrokenStore::right_withdraw(const ClaimKey& key) {
  answer_to<WithdrawReply>(
      [&](Call<WithdrawReply> call) { inner().withdraw(key, std::move(call)); });
}

LockView BrokenStore::right_view(const LockName& name) {
  const auto reply = answer_to<InspectReply>(
      [&](Call<InspectReply> call) { inner().inspect("*", std::move(call)); });
  for (const LockView& seen : std::get<std::vector<LockView>>(reply)) {
    if (seen.name == name) return seen;
  }
  return {};
}

std::optional<HoldKey> BrokenStore::right_holder(const LockName& name) {
  const LockView seen = right_view(name);
  if (seen.holds.empty()) return std::nullopt;
  HoldKey key;
  key.kind = seen.kind;
  key.name = name;
  key.owner = seen.holds[0].owner;
  key.fence = seen.holds[0].fence;
  return key;
}

BrokenFixture::BrokenFixture(const Breakage& breakage)
    : breakage_(breakage), right_(make_fixture("memory")) {}

test::OpenedClient BrokenFixture::open_client() {
  test::OpenedClient opened = right_->open_client();
  opened.store = breakage_.wrap(std::move(opened.store), state_);
  return opened;
}

}  // namespace holdfast::conformance
