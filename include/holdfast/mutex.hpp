#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"
#include "holdfast/pending.hpp"
#include "holdfast/result.hpp"

namespace holdfast {

namespace detail {
class AllOrNothing;
class ClientHandle;
}  // namespace detail

// A lock by name: held by one Hold at a time, among all clients of its store.
//
// Guarantees   Stateless: copies of it, and others of the same name and store, are the same lock.
//              Not reentrant: a second acquire waits for the first, unless both name the same Owner
//              (Errc::would_deadlock).
// On error     busy, timed_out: somebody else has it, the error names who. unavailable, unknown: the
//              store did not answer. cancelled: options.stop, or the client went.
// Blocking     acquire() waits up to options.wait, try_acquire() makes one attempt.
// Threads      From any thread.
class Mutex {
 public:
  Result<Hold> acquire(AcquireOptions options = {}) const;
  Result<Hold> try_acquire(AcquireOptions options = {}) const;  // options.wait counts as 0
  // To co_await with options under GCC 12, name them in a variable first: that compiler destroys an
  // aggregate twice that is made inside a co_await expression.
  Pending<Hold> async_acquire() const;
  Pending<Hold> async_acquire(AcquireOptions options) const;

  std::string_view name() const { return name_; }

 private:
  friend class Client;
  friend class detail::AllOrNothing;
  Mutex(std::shared_ptr<detail::ClientHandle> client, std::string name)
      : client_(std::move(client)), name_(std::move(name)) {}

  std::shared_ptr<detail::ClientHandle> client_;
  std::string name_;
};

}  // namespace holdfast
