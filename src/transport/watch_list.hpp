#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "holdfast/store/keys.hpp"
#include "holdfast/store/watch.hpp"

namespace holdfast::transport {

// The watches of a store's clients, or of one client.
//
// Lifetime     A watch may outlive the list.
// Threads      From any thread. No function is called here: find() says whom to call, with no lock held.
class WatchList {
 public:
  // A watch may end while its wake is being delivered, so both share the function.
  using Function = std::shared_ptr<const store::WakeFn>;

  store::WatchPtr add(const store::ClaimKey&, store::WakeFn);
  std::vector<Function> find(const store::OwnerId&) const;
  bool has(const store::OwnerId&) const;        // needs no memory
  std::vector<store::ClaimKey> claims() const;  // each once, in the order of owners
  bool empty() const;

 private:
  struct State {
    struct Entry {
      store::ClaimKey claim;
      Function wake;
    };
    using Id = std::pair<store::OwnerId, std::uint64_t>;
    mutable std::mutex mutex;
    std::map<Id, Entry> entries;
    std::uint64_t last = 0;
  };
  class Subscription;

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace holdfast::transport
