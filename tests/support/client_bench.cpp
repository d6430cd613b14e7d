#include "support/client_bench.hpp"

#include <gtest/gtest.h>

#include "support/answer.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

ClientBench::ClientBench(StoreFixture& fixture)
    : fixture_(fixture),
      pace_(fixture.pace()),
      operator_(fixture.open_client()),
      capabilities_(operator_.store->capabilities()) {
  if (pace_.is_real) return;
  by_hand_.emplace([this] { return fixture_.open_client(); },
                   [this](Duration length) { fixture_.let_pass(length); });
}

ClientBench::~ClientBench() {
  by_hand_.reset();
  operator_.store->close();
}

ClientBench::Peer ClientBench::client(ClientOptions options) {
  if (by_hand_) {
    HandBench::Seat& seat = by_hand_->client(std::move(options));
    Peer peer{seat.client(), &seat.link()};
    seat.drop_client();
    return peer;
  }
  SwitchableStore* link = nullptr;
  Client client = connect_to(
      [&](const runtime::BootClock&, runtime::EpollLoop&) -> OpenedClient {
        OpenedClient opened = fixture_.open_client();
        auto store = std::make_unique<SwitchableStore>(std::move(opened.store));
        link = store.get();
        return {opened.id, std::move(store)};
      },
      std::move(options));
  return {std::move(client), link};
}

TimePoint ClientBench::now() const { return by_hand_ ? by_hand_->now() : clock_.now(); }

void ClientBench::let_pass(Duration length) {
  if (by_hand_) return by_hand_->let_pass(length);
  fixture_.let_pass(length);
}

void ClientBench::settle() {
  if (by_hand_) by_hand_->settle();
}

bool ClientBench::comes_true(const std::function<bool()>& condition, Duration within) {
  const TimePoint end = later(now(), within);
  settle();
  while (!condition()) {
    if (now() >= end) return false;
    let_pass(1ms);
  }
  return true;
}

Result<Hold> ClientBench::get(Pending<Hold> pending) {
  const bool came = comes_true([&] { return pending.ready(); }, 4 * pace_.lease + kSoon);
  EXPECT_TRUE(came) << "there is no result";
  if (!came) return Errc::protocol;
  return std::move(pending).get();
}

std::vector<store::LockView> ClientBench::look(std::string_view pattern) {
  Answer<store::InspectReply> answer;
  operator_.store->inspect(pattern, answer.call());
  const auto* found = answer.get<std::vector<store::LockView>>();
  return found == nullptr ? std::vector<store::LockView>() : *found;
}

bool ClientBench::is_empty() {
  return comes_true([this] { return look().empty(); }, grace());
}

bool ClientBench::revoke(const Hold& hold) {
  store::ForceRequest request;
  request.name = store::LockName::checked(hold.name()).value();
  request.fence = hold.fence().value();
  Answer<store::ForceReply> answer;
  operator_.store->force_release(request, answer.call());
  return answer.get<store::Forced>() != nullptr;
}

}  // namespace holdfast::test
