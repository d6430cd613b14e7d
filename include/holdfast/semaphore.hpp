#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"
#include "holdfast/pending.hpp"
#include "holdfast/result.hpp"

namespace holdfast {

namespace detail {
class ClientHandle;
}

struct SemaphoreOptions {
  // How many there are, up to kMaxPermits. Everybody says the same, unless set_size() has spoken.
  std::uint32_t permits = 1;
};

// A number of permits by name. A permit is held like a lock: with a lease that is renewed, so the
// permits of a holder that dies come back.
//
// Guarantees   Stateless, as Mutex. Never more permits are held than there are. Several are taken at
//              once or not at all, and nobody overtakes a claim that waits for many. Hold::slots()
//              says which ones: no two holds have the same, so it can choose a connection, a port or a
//              worker; whoever gets a slot later has the greater fence.
//              set_size() says for all, from now on, how many there are; it stays when nobody uses the
//              semaphore. Those who wait and fit in now get theirs at once. It takes nothing from
//              anybody: below what is in use, the next is served when enough came back.
// On error     As Mutex. size_mismatch if the semaphore is in use with another number of permits, or
//              has fewer than are asked for; unsupported if the store has no such locks.
//              set_size() and size(): as Latch; unknown or unavailable if the store fell silent.
// Blocking     As Mutex. set_size() and size() wait up to ClientOptions::patience for a silent store.
// Threads      From any thread.
class Semaphore {
 public:
  Result<Hold> acquire(std::uint32_t permits = 1, AcquireOptions options = {}) const;
  Result<Hold> try_acquire(std::uint32_t permits = 1, AcquireOptions options = {}) const;
  Pending<Hold> async_acquire(std::uint32_t permits = 1) const;
  Pending<Hold> async_acquire(std::uint32_t permits, AcquireOptions options) const;

  Result<void> set_size(std::uint32_t permits) const;
  Result<std::uint32_t> size() const;  // what was set, else permits()

  std::string_view name() const { return name_; }
  std::uint32_t permits() const { return options_.permits; }

 private:
  friend class Client;
  Semaphore(std::shared_ptr<detail::ClientHandle> client, std::string name,
            SemaphoreOptions options)
      : client_(std::move(client)), name_(std::move(name)), options_(options) {}

  std::shared_ptr<detail::ClientHandle> client_;
  std::string name_;
  SemaphoreOptions options_;
};

}  // namespace holdfast
