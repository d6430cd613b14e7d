#include "conformance/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;

LockName lock_name(std::string_view bytes) { return LockName::checked(bytes).value(); }

Bench::Bench(test::StoreFixture& fixture)
    : fixture_(fixture),
      pace_(fixture.pace()),
      operator_(open()),
      capabilities_(operator_.store->capabilities()) {}

Bench::~Bench() {
  claimants_.clear();  // and their watches
  for (Client& client : clients_) client.store->close();
}

Bench::Client& Bench::open() {
  test::OpenedClient opened = fixture_.open_client();
  return clients_.emplace_back(
      Client{opened.id, std::make_unique<test::SwitchableStore>(std::move(opened.store))});
}

Claimant& Bench::add_claim(Client& client, std::string_view name) {
  ClaimKey key;
  key.name = lock_name(name);
  key.owner = {client.id, ++claims_};
  return claimants_.emplace_back(*client.store, key, pace_);
}

Claimant& Bench::claimant(std::string_view name) { return add_claim(open(), name); }

Claimant& Bench::claimant_beside(const Claimant& other) {
  return claimant_beside(other, other.key().name.bytes());
}

Claimant& Bench::claimant_beside(const Claimant& other, std::string_view name) {
  const auto client = std::find_if(clients_.begin(), clients_.end(), [&](const Client& each) {
    return each.id == other.owner().client;
  });
  return add_claim(*client, name);
}

std::vector<LockView> Bench::look(std::string_view pattern) {
  Answer<InspectReply> answer;
  operator_.store->inspect(pattern, answer.call());
  if (const auto* found = answer.get<std::vector<LockView>>()) return *found;
  ADD_FAILURE() << "inspect gave no list";
  return {};
}

LockView Bench::look_at(std::string_view name) {
  for (LockView& seen : look("*")) {
    if (seen.name.bytes() == name) return std::move(seen);
  }
  return {};
}

ForceReply Bench::force(const Claimant& holder, std::uint64_t fence, bool now) {
  ForceRequest request;
  request.kind = holder.key().kind;
  request.name = holder.key().name;
  request.fence = fence;
  request.now = now;
  request.reason = "the nightly job hangs";
  Answer<ForceReply> answer;
  operator_.store->force_release(request, answer.call());
  return answer.reply();
}

bool Bench::is_free(std::string_view name) {
  Claimant& passer_by = add_claim(operator_, name);
  const GrantReply reply = passer_by.ask();
  const auto* granted = std::get_if<Granted>(&reply);
  if (granted != nullptr) {
    EXPECT_TRUE(passer_by.releases(granted->fence));
  }
  return granted != nullptr;
}

}  // namespace holdfast::conformance
