#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "holdfast/store/cells.hpp"
#include "support/forwarding_store.hpp"
#include "support/relay.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {

// A store with cells of which every third reply is lost, and every third question besides.
class LossyStore final : public ForwardingStore, store::Cells {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::watch;
  store::Cells* cells() override { return this; }

 private:
  using Call = store::Call<store::CellReply>;

  void read(const store::CellKey& key, Call call) override {
    inner().cells()->read(key, std::move(call));
  }
  void write(const store::CellWrite& ask, Call call) override {
    pass(std::move(call), [&](Call to) { inner().cells()->write(ask, std::move(to)); });
  }
  void add(const store::CellAdd& ask, Call call) override {
    pass(std::move(call), [&](Call to) { inner().cells()->add(ask, std::move(to)); });
  }
  store::WatchPtr watch(const store::CellKey& key, store::CellChangedFn changed) override {
    return inner().cells()->watch(key, std::move(changed));
  }

  template <class Verb>
  void pass(Call call, Verb verb) {
    switch (asked_++ % 3) {
      case 0:
        verb(relay<store::CellReply>(call.deadline(),
                                     [to = std::move(call)](store::CellReply) mutable {
                                       to.answer(store::NoAnswer{.text = "the reply was lost"});
                                     }));
        return;
      case 1:
        call.answer(store::NoAnswer{.executed = false, .text = "the question was lost"});
        return;
      default:
        verb(std::move(call));
    }
  }

  std::atomic<unsigned> asked_{0};
};

inline Client connect_lossy(const std::shared_ptr<store::MemoryServer>& server) {
  return connect_to([&](const runtime::BootClock& clock, runtime::EpollLoop&) -> OpenedClient {
    return {new_client_id(),
            std::make_unique<LossyStore>(std::make_unique<store::MemoryStore>(server, clock))};
  });
}

}  // namespace holdfast::test
