#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "holdfast/store/cells.hpp"
#include "holdfast/store/clock.hpp"
#include "store/memory/cell_table.hpp"
#include "transport/cell_watch_list.hpp"

namespace holdfast::store {

// The cells that the clients of a MemoryServer share.
//
// Threads      From any thread. Watchers are called without the mutex.
class CellServer {
 public:
  CellReply read(const CellKey&);
  CellReply write(const CellWrite&, const Clock&);
  CellReply add(const CellAdd&, const Clock&);
  std::optional<std::uint32_t> size_of(const LockName& semaphore);
  WatchPtr watch(const CellKey& key, CellChangedFn changed) {
    return watches_.add(key, std::move(changed));
  }

 private:
  template <class Verb>
  CellReply change(const CellKey&, Verb verb);

  std::mutex mutex_;
  CellTable table_;
  transport::CellWatchList watches_;
};

// One client's view of them. Every Call is answered before its verb returns.
class MemoryCells final : public Cells {
 public:
  // resized(semaphore): its `size` cell may have changed.
  MemoryCells(CellServer& server, const Clock& clock, const std::atomic<bool>& closed,
              std::function<void(const LockName&)> resized)
      : server_(server), clock_(clock), closed_(closed), resized_(std::move(resized)) {}

  void read(const CellKey&, Call<CellReply>) override;
  void write(const CellWrite&, Call<CellReply>) override;
  void add(const CellAdd&, Call<CellReply>) override;
  WatchPtr watch(const CellKey& key, CellChangedFn changed) override {
    return server_.watch(key, std::move(changed));
  }

 private:
  template <class Verb>
  void ask(Call<CellReply>, Verb verb);
  template <class Verb>
  void change(const CellKey&, Call<CellReply>, Verb verb);

  CellServer& server_;
  const Clock& clock_;
  const std::atomic<bool>& closed_;
  const std::function<void(const LockName&)> resized_;
};

}  // namespace holdfast::store
