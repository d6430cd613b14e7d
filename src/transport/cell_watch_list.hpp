#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "holdfast/store/cells.hpp"

namespace holdfast::transport {

// The watches of cells of a store's clients, or of one client, and what each has been told.
//
// Lifetime     A watch may outlive the list.
// Threads      From any thread. No function is called here: seen() says whom to call, with no lock held.
class CellWatchList {
 public:
  // A watch may end while it is being told, so both share the function.
  using Function = std::shared_ptr<const store::CellChangedFn>;

  store::WatchPtr add(const store::CellKey&, store::CellChangedFn);
  // The cell has this version: those who have to be told. A watch that begins is told of the first
  // version that anybody sees: nobody knows which one it began with.
  std::vector<Function> seen(const store::CellKey&, std::uint64_t version);
  std::vector<store::CellKey> keys() const;  // each once, in order
  bool empty() const;

 private:
  struct State {
    struct Entry {
      Function changed;
      std::optional<std::uint64_t> told;  // the version
    };
    using Id = std::pair<store::CellKey, std::uint64_t>;
    mutable std::mutex mutex;
    std::map<Id, Entry> entries;
    std::uint64_t last = 0;
  };
  class Subscription;

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace holdfast::transport
