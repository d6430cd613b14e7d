// The memory store: locks between the clients of one process, and the model that the other stores
// are compared with.
//
//   memory:        the locks that every client of this process shares
//   memory:NAME    the same, apart from those of other names
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/factory.hpp"
#include "holdfast/store/store.hpp"
#include "store/memory/lock_table.hpp"
#include "store/memory/memory_cells.hpp"
#include "transport/watch_list.hpp"

namespace holdfast::store {

// What the clients share: a table, and who wants to be woken.
//
// Lifetime     Goes with the last store on it, and the locks with it.
// Threads      From any thread. Watchers are called without the mutex.
class MemoryServer {
 public:
  MemoryServer() = default;
  explicit MemoryServer(LockTable table) : table_(std::move(table)) {}

  // The server that `memory:NAME` means in this process, made if there is none.
  static std::shared_ptr<MemoryServer> named(const std::string& name);

  WatchPtr watch(const ClaimKey& claim, WakeFn wake) {
    return watches_.add(claim, std::move(wake));
  }
  CellServer& cells() { return cells_; }
  // The size of that semaphore was changed in its cell.
  void resized(const LockName&, const Clock&);

 private:
  friend class MemoryStore;

  // Does verb(table, now, told) under the mutex, then delivers the wakes without it.
  template <class Verb>
  auto run(const Clock&, Verb verb);

  std::mutex mutex_;
  LockTable table_;
  transport::WatchList watches_;
  CellServer cells_;
};

// One client's view of a MemoryServer. Every Call is answered before its verb returns.
class MemoryStore final : public Store {
 public:
  MemoryStore(std::shared_ptr<MemoryServer> server, const Clock& clock)
      : server_(std::move(server)), clock_(clock) {}

  Capabilities capabilities() const override;
  void try_grant(const GrantRequest&, Call<GrantReply>) override;
  void renew(std::span<const Renewal>, Call<RenewReply>) override;
  void release(const HoldKey&, Call<ReleaseReply>) override;
  void withdraw(const ClaimKey&, Call<WithdrawReply>) override;
  WatchPtr watch(const ClaimKey&, WakeFn) override;
  void inspect(std::string_view pattern, Call<InspectReply>) override;
  void force_release(const ForceRequest&, Call<ForceReply>) override;
  Cells* cells() override { return &cells_; }
  void close() override { closed_ = true; }

 private:
  template <class Reply, class Verb>
  void ask(Call<Reply>, Verb);

  std::shared_ptr<MemoryServer> server_;
  const Clock& clock_;
  std::atomic<bool> closed_ = false;
  MemoryCells cells_{server_->cells(), clock_, closed_,
                     [this](const LockName& name) { server_->resized(name, clock_); }};
};

extern const StoreFactory k_memory_factory;

}  // namespace holdfast::store
